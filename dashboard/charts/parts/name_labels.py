"""Names beside marks that cover neither each other nor another mark."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, Literal

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes

Named = tuple[float, float, str]
Span = tuple[float, float]
Side = Literal["above", "below", "right", "left"]
Box = tuple[float, float, float, float]  # left, right, bottom, top

SIDES: tuple[Side, ...] = ("above", "below", "right", "left")  # the first that is free is taken
# Shares of a figure that takes a third of a page, the narrowest there is.
LETTER = 0.021  # of its width: a letter of a name
HEIGHT = 0.044  # of its height: a name
GAP = 0.022  # of both: between the middle of a mark and its name
MARK = 0.018  # of both: from the middle of a mark to its edge
_ABOVE, _BESIDE = 15, 10  # pixels from the middle of a mark to a name above it and beside it


@dataclass(frozen=True)
class Label:
    """A name and on which side of its place it stands."""

    x: float
    y: float
    title: str
    side: Side
    box: Box  # what it takes, in shares of the figure


def place(
    named: Sequence[Named],
    across: Span,
    up: Span,
    marks: Sequence[tuple[float, float]],
    *,
    most: int = 8,
    must: Collection[str] = (),
) -> list[Label]:
    """The first names, `most` at most, that lie in the window and find a free side of their mark;
    the others say their name on hover.

    `marks` are all marks of the figure, which no name may cover, except for the names in `must`:
    they come first and stand where they cover fewest.
    """

    def share(x: float, y: float) -> tuple[float, float]:
        return (x - across[0]) / (across[1] - across[0]), (y - up[0]) / (up[1] - up[0])

    points = [share(x, y) for x, y in marks]

    def covered(label: Label) -> int:
        here = share(label.x, label.y)
        return sum(_covers(label.box, point) for point in points if point != here)

    def choices(x: float, y: float, title: str) -> list[Label]:
        made = [Label(x, y, title, side, _box(*share(x, y), title, side)) for side in SIDES]
        return [label for label in made if _inside(label.box)]

    seen = [each for each in named if all(0 <= part <= 1 for part in share(each[0], each[1]))]
    kept = _together([choices(*each) for each in seen if each[2] in must], covered)
    for each in seen:
        free = [
            label
            for label in choices(*each)
            if not covered(label) and not any(_meet(label.box, other.box) for other in kept)
        ]
        if free and each[2] not in must and len(kept) < most:
            kept.append(free[0])
    return kept


def _together(choices: Sequence[Sequence[Label]], cost: Callable[[Label], int]) -> list[Label]:
    """One label of each choice, none meeting another, of least cost in all. Later ones are left out
    where there is no way for all.
    """
    choices = [each for each in choices if each]
    for count in range(len(choices), 0, -1):
        ways = [
            way
            for way in product(*choices[:count])
            if not any(_meet(one.box, other.box) for one, other in combinations(way, 2))
        ]
        if ways:
            return list(min(ways, key=lambda way: sum(map(cost, way))))
    return []


def write(figure: go.Figure, labels: Sequence[Label], look: theme.Ground) -> None:
    """The names on the figure, on a ground that keeps lines behind them from crossing the
    letters.
    """
    axes.put(figure, [_words(label, look) for label in labels])


def _words(label: Label, look: theme.Ground) -> dict[str, Any]:
    up = {"above": 1, "below": -1}.get(label.side, 0)
    beside = {"right": 1, "left": -1}.get(label.side, 0)
    return axes.words(
        label.title,
        look.text,
        x=label.x,
        y=label.y,
        yshift=_ABOVE * up,
        xshift=_BESIDE * beside,
        xanchor=("center", "left", "right")[beside],
        bgcolor=look.background,
        borderpad=1,
        opacity=0.9,
    )


def _box(x: float, y: float, title: str, side: Side) -> Box:
    wide = LETTER * len(title)
    if side in ("above", "below"):
        bottom = y + GAP if side == "above" else y - GAP - HEIGHT
        return x - wide / 2, x + wide / 2, bottom, bottom + HEIGHT
    left = x + GAP if side == "right" else x - GAP - wide
    return left, left + wide, y - HEIGHT / 2, y + HEIGHT / 2


def _inside(box: Box) -> bool:
    """Whether a name is not cut off; above the figure there is a margin."""
    return box[0] >= -0.01 and box[1] <= 1.01 and box[2] >= 0 and box[3] <= 1.05


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


def _covers(box: Box, point: tuple[float, float]) -> bool:
    return box[0] - MARK < point[0] < box[1] + MARK and box[2] - MARK < point[1] < box[3] + MARK
