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
from dashboard.charts import two_metrics
from dashboard.charts.two_metrics import Measures, Places
from dashboard.frames import Row

LEVELS: Final = tuple(step / 20 for step in range(1, 20))  # of NoMUS, that may have a line
MEASURES: Final = Measures(
    x="forgetting_score",
    y="ta",
    across="Forgetting score: 0 is a guess",
    up="Test accuracy, %",
    percent=True,
)


def draw(
    rows: Sequence[Row], places: Places, *, dark: bool, selected: Sequence[str] = ()
) -> go.Figure:
    """`places` of `MEASURES`."""
    figure = two_metrics.draw(rows, places, MEASURES, dark=dark, selected=selected, height=560)
    x, y = figure.layout.xaxis.range, figure.layout.yaxis.range
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


def alt_text(rows: Sequence[Row], places: Places) -> str:
    return f"{two_metrics.alt_text(rows, places, MEASURES)} Lines join equal NoMUS."
