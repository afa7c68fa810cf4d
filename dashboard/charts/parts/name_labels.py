"""Names beside marks that cover neither each other, nor another mark, nor a line: one routine for
every scatter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes

Named = tuple[float, float, str]
Span = tuple[float, float]
Box = tuple[float, float, float, float]  # left, right, bottom, top
Size = tuple[float, float]

# Where a name stands, by which way it lies from its mark: the first that is free is taken.
SIDES: Final[Mapping[str, tuple[int, int]]] = {
    "right": (1, 0),
    "left": (-1, 0),
    "above": (0, 1),
    "below": (0, -1),
    "above right": (1, 1),
    "below right": (1, -1),
    "above left": (-1, 1),
    "below left": (-1, -1),
}
NARROW: Final[Size] = (250, 320)  # pixels of the plot on a phone
WIDE: Final[Size] = (540, 480)  # and on a page with a column beside the figure
LETTER, HEIGHT = 6.9, 17  # pixels of a name
MARK = 7  # from the middle of a mark to its edge
FARTHER = (0, 30, 60, 90)  # pixels farther away, for a name that must stand somewhere
_ANCHORS = ("center", "left", "right")
_BESIDE, _ABOVE = 10, 15  # from the middle of a mark to a name beside it, and to one above it


@dataclass(frozen=True)
class Label:
    """A name, on which side of its place it stands and how many pixels `away`, with a line to it;
    `narrow` where a phone has room for it.
    """

    x: float
    y: float
    title: str
    side: str
    narrow: bool = True
    away: int = 0

    @property
    def shift(self) -> tuple[float, float]:
        """Pixels from the middle of the mark to the name, to the right and up."""
        right, above = SIDES[self.side]
        beside = _BESIDE if not above else _BESIDE / 2
        return right * (beside + self.away), above * (_ABOVE + self.away)


def place(
    named: Sequence[Named],
    across: Span,
    up: Span,
    marks: Sequence[tuple[float, float]],
    *,
    most: int = 8,
    must: Collection[str] = (),
    lines: Iterable[tuple[float, float, float]] = (),
    size: Size = WIDE,
) -> list[Label]:
    """The first names, `most` at most, that lie in the window and find a free place beside their
    mark; the others say their name on hover. Those that a phone has room for come first.

    `marks` are all marks of the figure, which no name may cover, and `lines` upright ones (x, low,
    high). The names in `must` come first and stand where they cover fewest. All in the units of the
    axes, exponents on a log axis. Where all places beside its mark are covered, a name in `must`
    stands farther away.
    """
    upright = list(lines)
    order = sorted(named, key=lambda each: each[2] not in must)
    kept: list[Label] = []
    # a phone's half of them leaves room for who comes first and has none there
    for pixels, room in ((NARROW, max((most + 1) // 2, len(must))), (size, most)):
        window = _Window(across, up, pixels)
        taken = [window.box(label) for label in kept]
        for each in order:
            if len(kept) >= min(room, most) or any(label.title == each[2] for label in kept):
                continue
            choices = [
                Label(*each, side, narrow=pixels is NARROW, away=away)
                for away in (FARTHER if each[2] in must else FARTHER[:1])
                for side in SIDES
            ]
            choices = [label for label in choices if window.holds(label)]
            free = [
                (window.covered(label, marks, upright), number, label)
                for number, label in enumerate(choices)
                if not any(_meet(window.box(label), other) for other in taken)
            ]
            best = min(free, default=None, key=lambda found: found[:2])
            if best is not None and (best[0] == 0 or each[2] in must):
                kept.append(best[2])
                taken.append(window.box(best[2]))
    return kept


@dataclass(frozen=True)
class _Window:
    """The axes of a plot and its size in pixels."""

    across: Span
    up: Span
    size: Size

    def pixel(self, x: float, y: float) -> tuple[float, float]:
        (left, right), (low, high), (wide, tall) = self.across, self.up, self.size
        return wide * (x - left) / (right - left), tall * (y - low) / (high - low)

    def box(self, label: Label) -> Box:
        x, y = self.pixel(label.x, label.y)
        right, wide = SIDES[label.side][0], LETTER * len(label.title)
        x, y = x + label.shift[0], y + label.shift[1]
        left = x if right > 0 else x - wide if right < 0 else x - wide / 2
        return left, left + wide, y - HEIGHT / 2, y + HEIGHT / 2

    def holds(self, label: Label) -> bool:
        """Whether the name's mark is seen and the name not cut off; above a plot is a margin."""
        x, y = self.pixel(label.x, label.y)
        box, (wide, tall) = self.box(label), self.size
        seen = -1 <= x <= wide + 1 and -1 <= y <= tall + 1
        return seen and box[0] >= -2 and box[1] <= wide + 2 and box[2] >= 0 and box[3] <= tall + 8

    def covered(
        self,
        label: Label,
        marks: Sequence[tuple[float, float]],
        lines: Sequence[tuple[float, float, float]],
    ) -> int:
        box, here = self.box(label), self.pixel(label.x, label.y)
        found = 0
        for mark in marks:
            x, y = self.pixel(*mark)
            found += (x, y) != here and _meet(box, (x - MARK, x + MARK, y - MARK, y + MARK))
        for x, low, high in lines:
            (place, bottom), (_, top) = self.pixel(x, low), self.pixel(x, high)
            found += _meet(box, (place - 1, place + 1, bottom, top))
        return found


def write(figure: go.Figure, labels: Sequence[Label], look: theme.Ground) -> None:
    """The names on the figure, after all that is written there already; on a phone those that are
    not `narrow` are hidden (`widgets/figures.py`).
    """
    before = len(figure.layout.annotations)
    narrow = sum(label.narrow for label in labels)
    axes.put(figure, [_words(label, look) for label in labels])
    figure.layout.meta = {"wide_names": [*range(before + narrow, before + len(labels))]}


def _words(label: Label, look: theme.Ground) -> dict[str, Any]:
    right, up = label.shift
    place: dict[str, Any] = {"x": label.x, "y": label.y, "xanchor": _ANCHORS[SIDES[label.side][0]]}
    if not label.away:
        return axes.words(label.title, look.text, xshift=right, yshift=up, **place)
    line = {"showarrow": True, "arrowhead": 0, "arrowwidth": 1, "arrowcolor": look.muted}
    made = axes.words(label.title, look.text, ax=right, ay=-up, standoff=MARK + 2, **place)
    return made | line


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]
