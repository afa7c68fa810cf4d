"""Usefulness against forgetting of persons: one mark a row, lines of equal NoMUS behind them
(the score of Choi and Na, Towards Machine Unlearning Benchmarks).

x: forgetting score, 0 (a guess) to 0.5 (certain); y: test accuracy in percent. NoMUS grows to the
upper left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts import scatter
from dashboard.charts.parts import axes
from dashboard.frames import Row, verdict_text
from dashboard.text import verdicts
from dashboard.text.labels import method_names

LEVELS: Final = tuple(step / 20 for step in range(1, 20))  # of NoMUS, that may have a line


@dataclass(frozen=True)
class NomusScatterInfo:
    """Test accuracies in percent. `ghosts` are lines of the paper: title, score, accuracy."""

    dots: tuple[scatter.Dot, ...]
    retrain: tuple[float, float] | None
    original: tuple[float, float] | None
    ghosts: tuple[tuple[str, float, float], ...]
    missing: tuple[str, ...]


def nomus_scatter_info(
    rows: Sequence[Row], paper: Sequence[tuple[str, float, float]] = ()
) -> NomusScatterInfo:
    """`paper` are lines of a published table: method, forgetting score, test accuracy in 0..1."""
    dots, missing, places = [], [], {}
    for row in rows:
        score, accuracy = (row.cells[name].value for name in ("forgetting_score", "ta"))
        if score is None or accuracy is None:
            missing.append(row.title)
        elif row.reference:
            places[row.method] = (score.mean, 100 * accuracy.mean)
        else:
            verdict = row.verdict
            nomus = row.cells["nomus"].value
            told = [verdict_text(row), f"forgetting score {score.mean:.3f}"]
            told += [f"NoMUS {nomus.mean:.3f}"] if nomus else []
            dots.append(
                scatter.Dot(
                    key=row.keys[0],
                    title=row.title,
                    x=score.mean,
                    y=100 * accuracy.mean,
                    fate=verdicts.fate(verdict) if verdict else "cannot tell",
                    shown=verdict is None or not verdict.provisional,
                    told="<br>".join(filter(None, told)),
                )
            )
    return NomusScatterInfo(
        tuple(dots),
        places.get("retrain"),
        places.get("original"),
        tuple((method_names(name)[0], x, 100 * y) for name, x, y in paper),
        tuple(missing),
    )


def draw(info: NomusScatterInfo, *, dark: bool, selected: str = "") -> go.Figure:
    look = theme.ground(dark)
    marks = [(dot.x, dot.y) for dot in info.dots] + [(x, y) for _, x, y in info.ghosts]
    marks += [place for place in (info.retrain, info.original) if place is not None]
    x = axes.padded([each for each, _ in marks], 0.12, 0.01)
    y = axes.padded([each for _, each in marks], 0.12, 1.0)
    figure = scatter.draw(
        info.dots,
        scatter.Axis(title="Forgetting score: 0 is a guess", low=x[0], high=x[1]),
        scatter.Axis(title="Test accuracy, %", low=y[0], high=y[1]),
        dark=dark,
        retrain=info.retrain,
        original=info.original,
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
                line={"width": 1, "color": look.grid},
                layer="below",
                name=f"NoMUS {level:g}",
            )
    if info.ghosts:
        figure.add_trace(
            go.Scatter(
                x=[each for _, each, _ in info.ghosts],
                y=[each for _, _, each in info.ghosts],
                customdata=[[title] for title, _, _ in info.ghosts],
                name="The paper",
                mode="markers",
                marker={"symbol": "line-ew-open", "size": 12, "color": look.muted},
                hovertemplate="<b>%{customdata[0]} in the paper</b><extra></extra>",
            )
        )
    return figure


def alt_text(info: NomusScatterInfo) -> str:
    if not info.dots:
        return "Scatter of forgetting score against test accuracy; no method has both yet."
    return (
        f"Scatter of {len(info.dots)} methods: forgetting score on x, 0 is a guess; test accuracy "
        "on y. Lines join equal NoMUS, which grows to the upper left."
    )
