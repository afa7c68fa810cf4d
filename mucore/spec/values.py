"""Values against the cards of their parameters: brought to their type from numbers, texts and
lists, or refused with rule and way out.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from typing import Any

from mucore.catalog.cards import Parameter
from mucore.errors import BadValue
from mucore.spec.budget import check_budget
from mucore.userfiles.weights import file_hash


def resolve(
    parameters: Iterable[Parameter], given: Mapping[str, Any], *, owner: str
) -> dict[str, Any]:
    """Defaults of `parameters` overlaid with `given`, every value checked and brought to its JSON
    type.
    """
    cards = {p.name: p for p in parameters}
    for name in given:
        if name not in cards:
            near = difflib.get_close_matches(name, cards, n=1)
            way_out = (
                f"Did you mean {near[0]}?"
                if near
                else f"It has {', '.join(cards) or 'no parameters'}."
            )
            raise BadValue(f"{owner} has no parameter {name!r}. {way_out}")
    return {
        name: check(card, given.get(name, card.default), owner=owner)
        for name, card in cards.items()
    }


def check(card: Parameter, value: Any, *, owner: str) -> Any:
    """`value` in the parameter's type, from a number, a string (the CLI) or a list. Raises
    `BadValue` with rule, value and way out.
    """
    where = f"{owner}: {card.name}"
    # a field of a form that was left empty
    if card.optional and isinstance(value, str) and not value.strip():
        return None
    if isinstance(value, str) and value.strip().lower() in ("none", "null") or value is None:
        if card.optional:
            return None
        raise BadValue(f"{where} needs a value; none is not allowed.")
    if card.kind == "choice":
        if value not in card.choices:
            near = difflib.get_close_matches(str(value), card.choices, n=1)
            raise BadValue(
                f"{where} must be one of {', '.join(card.choices)}, but got {value!r}."
                + (f" Did you mean {near[0]}?" if near else "")
            )
        return value
    if card.kind == "bool":
        if isinstance(value, bool):
            return value
        if str(value).lower() in ("true", "yes", "1", "false", "no", "0"):
            return str(value).lower() in ("true", "yes", "1")
        raise BadValue(f"{where} must be true or false, but got {value!r}.")
    if card.kind in ("ints", "ids"):
        items = value.replace(";", ",").split(",") if isinstance(value, str) else value
        if not isinstance(items, Iterable):
            items = [items]
        numbers = [_integer(item, where) for item in items if str(item).strip()]
        for number in numbers:
            _in_range(card, number, where)
        return numbers
    if card.kind == "budget":
        return _budget(value, where)
    if card.kind == "pairs":
        return _pairs(value, where)
    if card.kind == "file":
        return file_hash(str(value), what=where) if str(value).strip() else ""
    number = _integer(value, where) if card.kind == "int" else _float(value, where)
    _in_range(card, number, where)
    return number


def _budget(value: Any, where: str) -> int | float:
    """A share or a number of samples; "20%", "0.2" and "200" all say which they are."""
    text = str(value).strip()
    if text.endswith("%"):
        budget = _float(text[:-1], where) / 100
    elif isinstance(value, bool):
        raise BadValue(
            f"{where} must be a share such as 0.2 or a number of samples such as 200, but got "
            f"{value}."
        )
    elif isinstance(value, int) or text.lstrip("+-").isdigit():
        budget = int(text)
    else:
        budget = _float(value, where)
    check_budget(budget, where)
    return budget


def _pairs(value: Any, where: str) -> list[str]:
    """Texts such as "0-9", the smaller class first, in the order of those; from such texts or from
    one with commas.
    """
    items = value.replace(";", ",").split(",") if isinstance(value, str) else value
    rule = f"{where} must be pairs of two different classes, such as 0-9,1-8"
    found: list[tuple[int, int]] = []
    for item in items if isinstance(items, Iterable) else [items]:
        if not str(item).strip():
            continue
        parts = str(item).split("-")
        if (
            len(parts) != 2
            or not all(part.strip().isdecimal() for part in parts)
            or int(parts[0]) == int(parts[1])
        ):
            raise BadValue(f"{rule}, but got {str(item).strip()!r}.")
        found.append((min(map(int, parts)), max(map(int, parts))))
    named = sorted(number for pair in found for number in pair)
    if not found:
        raise BadValue(
            f"{rule}, but got none. Leave it out to pair the first class with the last, and so on."
        )
    for number, following in zip(named, named[1:], strict=False):
        if number == following:
            raise BadValue(
                f"{where} may name a class in one pair only, but class {number} is in two. Take "
                "one of them out."
            )
    return [f"{low}-{high}" for low, high in sorted(found)]


def _integer(value: Any, where: str) -> int:
    number = _float(value, where)
    if number != int(number):
        raise BadValue(f"{where} must be a whole number, but got {value!r}.")
    return int(number)


def _float(value: Any, where: str) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise BadValue(f"{where} must be a finite number, but got {value!r}.")
    return number


def _in_range(card: Parameter, number: float, where: str) -> None:
    low, high = card.low, card.high
    if (low is not None and number < low) or (high is not None and number > high):
        rule = (
            f"in [{low:g}, {high:g}]"
            if low is not None and high is not None
            else f"at least {low:g}"
            if low is not None
            else f"at most {high:g}"
        )
        hint = f" Did you mean {number / 100:g}?" if high == 1 and 1 < number <= 100 else ""
        raise BadValue(f"{where} must be {rule}, but got {number:g}.{hint}")
