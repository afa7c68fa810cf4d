"""Names at the right ends of lines, each joined to its end by a thin leader, so that no two names
overlap: where ends lie close together, names move apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes

ROW: Final = 16  # pixels from one name to the next
LEADER: Final = 24  # pixels from the end of a line to its name
LETTER: Final = 6.3  # pixels of a name
LONGEST: Final = 22  # letters of a name; a longer one is cut, the mark says it whole


def place(ends: Sequence[float], low: float, high: float, row: float) -> list[float]:
    """Where the names of lines with these `ends` stand between `low` and `high`, `row` apart at
    least and otherwise as near to their ends as can be: neighbours that are too close move apart
    around their middle.
    """
    order = sorted(range(len(ends)), key=lambda number: ends[number])
    blocks: list[list[float]] = []  # each name's wish, less the rows below it in all
    for number, name in enumerate(order):
        blocks.append([ends[name] - number * row])
        while len(blocks) > 1 and _mean(blocks[-2]) > _mean(blocks[-1]):
            last = blocks.pop()
            blocks[-1] += last
    top = high - (len(ends) - 1) * row
    wishes = [max(min(_mean(block), top), low) for block in blocks for _ in block]
    found = dict(zip(order, wishes, strict=True))
    rank = {name: number for number, name in enumerate(order)}
    return [found[number] + rank[number] * row for number in range(len(ends))]


def _mean(block: Sequence[float]) -> float:
    return sum(block) / len(block)


def cut(title: str) -> str:
    return title if len(title) <= LONGEST else f"{title[: LONGEST - 1]}…"


def margin(titles: Sequence[str]) -> float:
    """Pixels right of the plot that the names take."""
    return LEADER + 8 + LETTER * max((len(cut(title)) for title in titles), default=0)


def write(
    figure: go.Figure,
    x: float,
    named: Sequence[tuple[float, str, str]],
    span: tuple[float, float],
    pixels: float,
    look: theme.Ground,
) -> None:
    """Names right of `x`: (end, title, colour) each; `span` is what the y axis covers on `pixels`,
    exponents on a log axis.
    """
    low, high = span
    row = ROW * (high - low) / pixels
    places = place([end for end, _, _ in named], low + row / 2, high - row / 2, row)
    axes.put(
        figure,
        [
            _words(x, end, y, title, color, look)
            for (end, title, color), y in zip(named, places, strict=True)
        ],
    )


def _words(
    x: float, end: float, y: float, title: str, color: str, look: theme.Ground
) -> dict[str, Any]:
    return axes.words(cut(title), color, size=13, x=x, y=end) | {
        "showarrow": True,
        "arrowhead": 0,
        "arrowwidth": 1,
        "arrowcolor": look.muted,
        "standoff": 7,
        "ax": LEADER,
        "ayref": "y",
        "ay": y,
        "xanchor": "left",
        "yanchor": "middle",
    }
