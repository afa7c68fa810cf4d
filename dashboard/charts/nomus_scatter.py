"""Usefulness against forgetting of persons: one mark a row, lines of equal NoMUS behind them
(the score of Choi and Na, Towards Machine Unlearning Benchmarks).

x: forgetting score, 0 (a guess) to 0.5 (certain); y: test accuracy in percent. NoMUS grows to the
upper left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts import scatter
from dashboard.charts.parts import axes
from dashboard.frames import Row

LEVELS: Final = tuple(step / 20 for step in range(1, 20))  # of NoMUS, that may have a line
Place = tuple[float, float]


def places(rows: Sequence[Row]) -> dict[str, Place]:
    """Forgetting score and test accuracy, percent, by the id of the row, where it has both."""
    found = {row.id: (row.mean("forgetting_score"), row.mean("ta")) for row in rows}
    return {name: (x, 100 * y) for name, (x, y) in found.items() if x is not None and y is not None}


def draw(rows: Sequence[Row], *, dark: bool, selected: str = "") -> go.Figure:
    known = places(rows)
    x, y = (
        axes.padded([each[place] for each in known.values()], 0.12, least)
        for place, least in ((0, 0.01), (1, 1.0))
    )
    references = {row.method: known.get(row.id) for row in rows if row.reference}
    figure = scatter.draw(
        [
            scatter.dot_of(row, *known[row.id], _told(row))
            for row in rows
            if not row.reference and row.id in known
        ],
        scatter.Axis(title="Forgetting score: 0 is a guess", low=x[0], high=x[1]),
        scatter.Axis(title="Test accuracy, %", low=y[0], high=y[1]),
        dark=dark,
        retrain=references.get("retrain"),
        original=references.get("original"),
        selected=selected,
    )
    for level in LEVELS:
        # NoMUS = (accuracy + 1 - 2 score) / 2, so a line of one value rises by 200 points a score
        ends = [200 * level - 100 + 200 * place for place in x]
        if ends[0] <= y[1] and ends[1] >= y[0]:
            figure.add_shape(
                type="line",
                x0=x[0],
                x1=x[1],
                y0=ends[0],
                y1=ends[1],
                line={"width": 1, "color": theme.ground(dark).grid},
                layer="below",
                name=f"NoMUS {level:g}",
            )
    return figure


def _told(row: Row) -> str:
    nomus = row.mean("nomus")
    said = f"forgetting score {row.mean('forgetting_score'):.3f}"
    return said if nomus is None else f"{said}<br>NoMUS {nomus:.3f}"


def alt_text(rows: Sequence[Row]) -> str:
    return (
        f"Scatter of {len(places(rows))} models: forgetting score on x, 0 is a guess; test "
        "accuracy on y. Lines join equal NoMUS, which grows to the upper left."
    )
