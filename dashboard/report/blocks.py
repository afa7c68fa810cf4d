"""What a report is made of: blocks under headings, frozen, with texts as shown."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import pandas as pd
import plotly.graph_objects as go


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
    """`frame` holds texts as shown, one row a line, the first column its name."""

    caption: str
    frame: pd.DataFrame


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure, the sentence above it, and its words for a reader who cannot see it. `name` is
    short and unique: an id.
    """

    name: str
    title: str
    sentence: str
    figure: go.Figure
    alt: str


@dataclass(frozen=True)
class Link:
    label: str
    address: str


Block = Text | Items | Facts | Table | Picture | Link


@dataclass(frozen=True)
class Section:
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Report:
    title: str
    sections: tuple[Section, ...]
    demo: bool
    made: datetime

    @property
    def pictures(self) -> tuple[Picture, ...]:
        blocks = (block for section in self.sections for block in section.blocks)
        return tuple(block for block in blocks if isinstance(block, Picture))
