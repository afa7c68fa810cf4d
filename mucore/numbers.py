"""Numbers that a person typed, or a program gave."""

from __future__ import annotations

import math
import re
from numbers import Integral
from typing import Any

from mucore.errors import BadValue, said

MOST = 2**63 - 1  # what a database keeps as a whole number
_WHOLE = re.compile(r"[+-]?[0-9]{1,30}")
_RANGE = re.compile(r"([0-9]{1,18})[-\u2013]([0-9]{1,18})")


def whole_number(text: str) -> int | None:
    """The whole number that a text writes in the digits 0 to 9, with at most one sign; None where
    it is anything else, or has more digits than any number here.
    """
    text = text.strip()
    return int(text) if _WHOLE.fullmatch(text) else None


def whole_range(text: str) -> range | None:
    """The numbers of a range such as 4-8, its last one included; none where it counts down, and
    None where the text is no range.
    """
    found = _RANGE.fullmatch(text.strip())
    return range(int(found[1]), int(found[2]) + 1) if found else None


def whole_numbers(text: str, where: str, most: int) -> list[int]:
    """The numbers that a text such as 0,1,5 or 0-4 names, in its order, without doubles. Raises
    `BadValue` for anything else, and for more than `most`; `where` opens the sentence.
    """
    found: dict[int, None] = {}
    for part in re.split(r"[,;\s]+", text.strip(" ,;")):
        number = whole_number(part)
        span = whole_range(part) if number is None else range(number, number + 1)
        if not span or span[0] < 0:
            raise BadValue(
                f"{where} must be whole numbers from 0, such as 0,1,2 or 0-2, but got {said(part)}."
            )
        if len(found) + span[-1] - span[0] >= most:
            raise BadValue(f"{where} may be {most:,} numbers at most, but got {said(text)}.")
        found.update(dict.fromkeys(span))
    return list(found)


def integer(value: Any, where: str) -> int:
    """`value` as a whole number, exactly. Raises `BadValue`; `where` opens the sentence."""
    number = whole_number(value) if isinstance(value, str) else None
    if isinstance(value, Integral) and not isinstance(value, bool):
        number = int(value)
    if number is None:
        share = finite(value, where)
        number = int(share) if share == int(share) else None
    if number is None or abs(number) > MOST:
        raise BadValue(
            f"{where} must be a whole number of at most 2^63 - 1, but got {said(value)}."
        )
    return number


def finite(value: Any, where: str) -> float:
    """`value` as a number that is neither infinite nor NaN; of a text in the digits 0 to 9. Raises
    `BadValue`.
    """
    text = isinstance(value, str)
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number) or (text and not re.fullmatch(r"[-+.eE0-9]+", value.strip())):
        raise BadValue(f"{where} must be a finite number, but got {said(value)}.")
    return number
