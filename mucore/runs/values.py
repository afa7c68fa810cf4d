"""Values against the cards of their parameters: brought to their type from numbers, texts and
lists, or refused with rule and value.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping
from itertools import islice
from numbers import Integral
from typing import Any, Final

from mucore.catalog.cards import Parameter
from mucore.errors import BadValue, said
from mucore.numbers import finite, integer, whole_number
from mucore.runs.budget import check_budget
from mucore.userfiles.weights import file_hash

MOST_VALUES: Final = 2_000_000  # in one list; ImageNet has 1.3 million samples
TRUE, FALSE = ("true", "yes", "1"), ("false", "no", "0")


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
                f"Did you mean {near[0]}?" if near else f"It has {', '.join(cards) or 'none'}."
            )
            raise BadValue(f"{owner} has no parameter {said(name)}. {way_out}")
    return {
        name: check(card, given.get(name, card.default), owner=owner)
        for name, card in cards.items()
    }


def check(card: Parameter, value: Any, *, owner: str) -> Any:
    """`value` in the parameter's type, from a number, a string (the CLI) or a list. Raises
    `BadValue` with rule and value.
    """
    where = f"{owner}: {card.name}"
    text = value.strip() if isinstance(value, str) else value
    # a field of a form that was left empty, too
    if card.optional and (text is None or text == "" or str(text).lower() in ("none", "null")):
        return None
    if card.kind == "choice":
        if not isinstance(value, str) or value not in card.choices:
            raise BadValue(
                f"{where} must be one of {', '.join(card.choices)}, but got {said(value)}."
            )
        return value
    if card.kind == "bool":
        if (word := said(value).strip("'\"").lower()) not in TRUE + FALSE:
            raise BadValue(f"{where} must be true or false, but got {said(value)}.")
        return word in TRUE
    if card.kind in ("ints", "ids"):
        return [_in_range(card, integer(item, where), where) for item in _items(value, where)]
    if card.kind == "budget":
        return _budget(text, where)
    if card.kind == "pairs":
        return _pairs(value, where)
    if card.kind == "file":
        if not isinstance(value, str | os.PathLike):
            raise BadValue(f"{where} must be the path of a file, but got {said(value)}.")
        return file_hash(value, what=where)
    return _in_range(card, (integer if card.kind == "int" else finite)(value, where), where)


def _budget(value: Any, where: str) -> int | float:
    """A share or a number of samples; "20%", "0.2" and "200" all say which they are."""
    if isinstance(value, str) and value.endswith("%"):
        budget: int | float = finite(value[:-1], where) / 100
    elif whole_number(value) is not None if isinstance(value, str) else isinstance(value, Integral):
        budget = integer(value, where)
    else:
        budget = finite(value, where)
    check_budget(budget, where)
    return budget


def _pairs(value: Any, where: str) -> list[str]:
    """Texts such as "0-9", the smaller class first, in the order of those; from such texts or from
    one with commas.
    """
    pairs = [
        sorted(
            number for part in str(item).split("-") if (number := whole_number(part)) is not None
        )
        for item in _items(value, where)
    ]
    named = [number for pair in pairs for number in pair]
    if not pairs or any(len(pair) != 2 for pair in pairs) or len({*named}) < len(named):
        raise BadValue(
            f"{where} must be pairs of two different classes, each class in one pair only, such as "
            f"0-9,1-8, but got {said(value)}."
        )
    return [f"{low}-{high}" for low, high in sorted(pairs)]


def _items(value: Any, where: str) -> list[Any]:
    """A list's items, or those of a text with commas or semicolons between; a single value is its
    own item. Raises `BadValue` for more than any data set has samples.
    """
    if isinstance(value, str):
        value = value.replace(";", ",").split(",")
    elif not isinstance(value, Iterable) or isinstance(value, bytes | Mapping):
        return [value]
    items = list(islice(value, MOST_VALUES + 1))
    if len(items) > MOST_VALUES:
        raise BadValue(f"{where} may hold {MOST_VALUES:,} values at most. Choose fewer.")
    return [item for item in items if not isinstance(item, str) or item.strip()]


def _in_range(card: Parameter, number: Any, where: str) -> Any:
    low, high = card.low, card.high
    if (low is not None and number < low) or (high is not None and number > high):
        least, most = ("any" if end is None else f"{end:g}" for end in (low, high))
        raise BadValue(f"{where} must be in [{least}, {most}], but got {number:g}.")
    return number
