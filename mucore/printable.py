"""The one rule for names and notes that people give: they can be printed as they stand."""

from __future__ import annotations

from typing import Final
from unicodedata import bidirectional, category

from mucore.errors import BadValue, said

LONGEST: Final = 2000  # letters of a note
_UNSEEN: Final = ("Cc", "Cs", "Zl", "Zp")  # control characters, half a pair, separators of lines
# what turns the direction of writing: a name would say something else than it holds
_TURNS: Final = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")


def mark(text: str) -> str:
    """What a text holds that cannot be printed, as U+202E; "" for nothing."""
    found = (each for each in text if category(each) in _UNSEEN or bidirectional(each) in _TURNS)
    return next((f"U+{ord(each):04X}" for each in found), "")


def checked(what: str, text: str) -> str:
    """The text without blanks around it. Raises `BadValue`."""
    text = text.strip()
    if found := mark(text):
        raise BadValue(
            f"{what} may hold no control characters and no marks of the direction of writing, but "
            f"got {found} in {said(text)}. Take it out."
        )
    if len(text) > LONGEST:
        raise BadValue(f"{what} may have {LONGEST:,} letters at most, but got {len(text):,}.")
    return text
