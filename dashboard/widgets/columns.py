"""Columns of st.dataframe: numbers stand on the right throughout, those that were made into text as
well.

Streamlit puts numbers right and texts left. A table whose values have a unit, an interval or a dash
for what is missing holds texts, and would show one column of figures on either side.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

# "93.4", "−0.2 ± 0.1", "100 % less 0.08 %", "–"
_NUMBER = re.compile(r"(?:[\d\s.,+−<>±×%()e–-]|points?|less|nats|MB)*")
_DIGIT = re.compile(r"\d")
_LETTER, _SIDES = 6.1, 18.0  # pixels: of a character, and of what stands around a text
WIDEST = 360  # that a column of texts asks for


def numeric(column: pd.Series) -> bool:
    """Whether a column holds numbers, or texts that are numbers with what belongs to them; one of
    nothing but dashes does not.
    """
    if pd.api.types.is_bool_dtype(column):
        return False
    if pd.api.types.is_numeric_dtype(column):
        return True
    known = [
        each
        for each in column
        if each is not None and not (isinstance(each, float) and each != each)
    ]
    texts = [str(each) for each in known if isinstance(each, str | int | float)]
    return (
        len(texts) == len(known)
        and any(map(_DIGIT.search, texts))
        and all(map(_NUMBER.fullmatch, texts))
    )


def text_width(frame: pd.DataFrame, name: str) -> int:
    """How wide a column of short texts must be that none of them is cut, nor its head, in pixels:
    Streamlit by itself measures the first lines alone, and gives more than needed.
    """
    most = max(map(len, map(str, frame[name])), default=0)
    return round(_SIDES + _LETTER * max(most, len(str(name))))


def aligned(frame: pd.DataFrame, settings: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """`column_config` for `st.dataframe(frame, ...)`: `settings` by column, with every column of
    numbers on the right and texts of up to 56 letters uncut.
    """
    given, made = dict(settings or {}), {}
    for name in frame.columns:
        wide = min(text_width(frame, name), WIDEST)
        look = {"alignment": "right"} if numeric(frame[name]) else {"width": wide}
        made[name] = look | {key: each for key, each in (given.get(name) or {}).items() if each}
    return given | made
