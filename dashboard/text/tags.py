"""Tags of comparisons: words of their notes that begin with "#". They are kept, moved and exported
with the note, and whoever can write the one can write the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from mucore.store.records import Comparison

# a letter at least, for "#3" is a number of something; not in the middle of a word or an address
_TAG: Final = re.compile(r"(?<![\w/#&])#((?=[\d_-]*[^\W\d_])[\w-]+)")


def tags_in(note: str) -> tuple[str, ...]:
    """The tags of a note, each once, in small letters: ("class", "draft")."""
    return tuple(dict.fromkeys(found.casefold() for found in _TAG.findall(note)))


def tags_of(comparisons: Iterable[Comparison]) -> list[str]:
    """All tags of comparisons, by the alphabet."""
    return sorted({tag for one in comparisons for tag in tags_in(one.note)})
