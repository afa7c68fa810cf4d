"""Numbers that a person typed, or a program gave."""

from __future__ import annotations

import math
import re
from numbers import Integral
from typing import Any

from mucore.errors import BadValue, said

MOST = 2**63 - 1  # what a database keeps as a whole number
_WHOLE = re.compile(r"[+-]?[0-9]{1,30}")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.ASCII | re.IGNORECASE)
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


def integer(value: Any, where: str) -> int:
    """`value` as a whole number, exactly. Raises `BadValue`; `where` opens the sentence."""
    number = whole_number(value) if isinstance(value, str) else None
    if number is None:
        if isinstance(value, Integral) and not isinstance(value, bool):
            number = int(value)
        else:
            share = finite(value, where)
            if share != int(share):
                raise BadValue(f"{where} must be a whole number, but got {said(value)}.")
            number = int(share)
    if abs(number) > MOST:
        raise BadValue(
            f"{where} must be a whole number from -(2^63 - 1) to 2^63 - 1, but got {said(value)}."
        )
    return number


def finite(value: Any, where: str) -> float:
    """`value` as a number that is neither infinite nor NaN. Of a text: in the digits 0 to 9, and
    none that a float would round to infinity or 0. Raises `BadValue`.
    """
    text = value.strip() if isinstance(value, str) else None
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if text is not None and (
        not _NUMBER.fullmatch(text)
        or (number == 0 and re.search("[1-9]", re.split("e|E", text)[0]))
    ):
        number = math.nan
    if not math.isfinite(number):
        raise BadValue(f"{where} must be a finite number, but got {said(value)}.")
    return number
