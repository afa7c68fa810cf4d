"""What a report is made of: blocks under headings, frozen, with texts as shown. A person's words
are kept as they are typed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import pandas as pd
import plotly.graph_objects as go

# Parts that a reader may leave out; what was asked and what to be careful with always stay.
PARTS = {
    "answer": "The answer",
    "results": "Results with intervals",
    "verdicts": "Verdicts with their reasons",
    "gaps": "Gaps to Retrain",
    "tradeoff": "Trade-off figure",
    "classes": "Accuracy of each class",
    "budget": "Across forget set sizes",
    "flags": "Flags and notes in full",
    "cost": "Cost",
    "metrics": "What the numbers mean",
    "statistics": "Statistics",
    "configuration": "Configuration of every run",
    "commands": "Commands that repeat the runs",
}
MAX_TITLE, MAX_AUTHOR, MAX_REMARK = 120, 120, 2000
DEFAULT_TITLE = "Machine unlearning: evidence report"


@dataclass(frozen=True)
class Text:
    text: str


@dataclass(frozen=True)
class Items:
    items: tuple[str, ...]


@dataclass(frozen=True)
class Facts:
    """Names with what they are."""

    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False)
class Table:
    """`frame` holds texts as shown, one row a line, the first column its name. `groups` names a
    heading for columns that have one; rows with equal neighbours in the column `by` stand under one
    line, and that column is not shown.
    """

    caption: str
    frame: pd.DataFrame
    by: str = ""
    groups: Mapping[str, str] = field(default_factory=dict)
    # shorter heads where a group says the rest
    heads: Mapping[str, str] = field(default_factory=dict)
    wide: bool = False  # needs a landscape page


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure, the sentence above it, and its words for a reader who cannot see it. `name` is
    short and unique: a file name, an id. `where` is the setting that it is about, where the heading
    above it says so.
    """

    name: str
    title: str
    sentence: str
    figure: go.Figure
    alt: str
    where: str = ""


@dataclass(frozen=True)
class Command:
    label: str
    text: str


@dataclass(frozen=True)
class Link:
    label: str
    address: str


Block = Text | Items | Facts | Table | Picture | Command | Link


@dataclass(frozen=True)
class Section:
    """One heading and what stands below it; `part` is a key of `PARTS`, "" where it always stays.
    `level` is 2, or 3 within another.
    """

    title: str
    blocks: tuple[Block, ...]
    part: str = ""
    level: int = 2
    wide: bool = False


@dataclass(frozen=True)
class Report:
    sections: tuple[Section, ...]
    demo: bool
    made: datetime
    title: str = DEFAULT_TITLE
    author: str = ""
    remark: str = ""

    @property
    def pictures(self) -> tuple[Picture, ...]:
        return tuple(
            block
            for section in self.sections
            for block in section.blocks
            if isinstance(block, Picture)
        )

    @property
    def tables(self) -> tuple[Table, ...]:
        return tuple(
            block
            for section in self.sections
            for block in section.blocks
            if isinstance(block, Table)
        )

    def titled(self, title: str, author: str, remark: str) -> Report:
        """The same with what a person typed, cut to length and rid of control characters; an empty
        title is the usual one.
        """
        return replace(
            self,
            title=printable(title, MAX_TITLE) or DEFAULT_TITLE,
            author=printable(author, MAX_AUTHOR),
            remark=printable(remark, MAX_REMARK),
        )

    def only(self, parts: Sequence[str]) -> Report:
        """The sections of these parts and those that always stay; a heading above nothing goes."""
        kept = [section for section in self.sections if not section.part or section.part in parts]
        full = [
            section
            for place, section in enumerate(kept)
            if section.blocks or (place + 1 < len(kept) and kept[place + 1].level > section.level)
        ]
        return replace(self, sections=tuple(full))


def listed(picture: Picture) -> str:
    """A line of the list that goes with the files of figures."""
    return (
        f"{picture.name}: {picture.title}{f', {picture.where}' if picture.where else ''}. "
        f"{picture.alt}\n"
    )


def printable(text: str, most: int) -> str:
    """`text` without control characters, at most `most` long."""
    kept = "".join(char if char.isprintable() or char == "\n" else " " for char in text)
    return kept.strip()[:most].rstrip()
