"""Values against the cards of their parameters: brought to their type from numbers, texts and
lists, or refused with rule and way out.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping
from itertools import islice
from numbers import Integral, Real
from typing import Any, Final

from mucore.catalog.cards import Parameter
from mucore.errors import BadValue, said
from mucore.numbers import finite, integer, whole_number
from mucore.spec.budget import check_budget
from mucore.userfiles.weights import file_hash

MOST_VALUES: Final = 2_000_000  # in one list; ImageNet has 1.3 million samples


def resolve(
    parameters: Iterable[Parameter], given: Mapping[str, Any], *, owner: str
) -> dict[str, Any]:
    """Defaults of `parameters` overlaid with `given`, every value checked and brought to its JSON
    type.
    """
    cards = {p.name: p for p in parameters}
    for name in given:
        if name not in cards:
            near = difflib.get_close_matches(str(name)[:200], cards, n=1)
            way_out = (
                f"Did you mean {near[0]}?"
                if near
                else f"It has {', '.join(cards) or 'no parameters'}."
            )
            raise BadValue(f"{owner} has no parameter {said(name)}. {way_out}")
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
        if not isinstance(value, str) or value not in card.choices:
            near = difflib.get_close_matches(said(value)[:200].strip("'\""), card.choices, n=1)
            raise BadValue(
                f"{where} must be one of {', '.join(card.choices)}, but got {said(value)}."
                + (f" Did you mean {near[0]}?" if near else "")
            )
        return value
    if card.kind == "bool":
        if isinstance(value, bool):
            return value
        if (text := said(value).strip("'\"").lower()) in ("true", "yes", "1", "false", "no", "0"):
            return text in ("true", "yes", "1")
        raise BadValue(f"{where} must be true or false, but got {said(value)}.")
    if card.kind in ("ints", "ids"):
        numbers = [integer(item, where) for item in _items(value, where)]
        for number in numbers:
            _in_range(card, number, where)
        return numbers
    if card.kind == "budget":
        return _budget(value, where)
    if card.kind == "pairs":
        return _pairs(value, where)
    if card.kind == "file":
        if not isinstance(value, str | os.PathLike):
            raise BadValue(f"{where} must be the path of a file, but got {said(value)}.")
        return file_hash(os.fspath(value), what=where) if str(value).strip() else ""
    number = integer(value, where) if card.kind == "int" else finite(value, where)
    _in_range(card, number, where)
    return number


def _budget(value: Any, where: str) -> int | float:
    """A share or a number of samples; "20%", "0.2" and "200" all say which they are."""
    text = value.strip() if isinstance(value, str) else ""
    if text.endswith("%"):
        budget = finite(text[:-1], where) / 100
    elif isinstance(value, bool) or not isinstance(value, str | Real):
        raise BadValue(
            f"{where} must be a share such as 0.2 or a number of samples such as 200, but got "
            f"{said(value)}."
        )
    elif isinstance(value, Integral) or whole_number(text) is not None:
        budget = integer(value, where)
    else:
        budget = finite(value, where)
    check_budget(budget, where)
    return budget


def _pairs(value: Any, where: str) -> list[str]:
    """Texts such as "0-9", the smaller class first, in the order of those; from such texts or from
    one with commas.
    """
    rule = f"{where} must be pairs of two different classes, such as 0-9,1-8"
    found: list[tuple[int, int]] = []
    for item in _items(value, where):
        numbers = [whole_number(part) for part in item.split("-")] if isinstance(item, str) else []
        pair = sorted(number for number in numbers if number is not None)
        if not len(numbers) == len(pair) == 2 or pair[0] == pair[1]:
            raise BadValue(f"{rule}, but got {said(item)}.")
        found.append((pair[0], pair[1]))
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


def _items(value: Any, where: str) -> list[Any]:
    """A list's items, or those of a text with commas or semicolons between; a single value is its
    own item. Raises `BadValue` for more than any data set has samples.
    """
    if isinstance(value, str):
        return [part.strip() for part in value.replace(";", ",").split(",") if part.strip()]
    if not isinstance(value, Iterable) or isinstance(value, bytes | Mapping):
        return [value]
    items = list(islice(value, MOST_VALUES + 1))
    if len(items) > MOST_VALUES:
        raise BadValue(f"{where} may hold {MOST_VALUES:,} values at most. Choose fewer.")
    return [item for item in items if not isinstance(item, str) or item.strip()]


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
