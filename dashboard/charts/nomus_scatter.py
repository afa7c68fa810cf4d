"""Usefulness against forgetting of persons: one mark a row, lines of equal NoMUS behind them
(the score of Choi and Na, Towards Machine Unlearning Benchmarks).

x: forgetting score, 0 (a guess) to 0.5 (certain); y: test accuracy in percent. NoMUS grows to the
upper left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from dashboard import frames, theme
from dashboard.charts.parts import axes, families, name_labels, noise, scatter
from dashboard.frames import Row, verdict_text
from dashboard.text.labels import method_names
from mucore.metrics.nomus import WEIGHT, nomus

STEPS = (0.01, 0.02, 0.05, 0.1)  # between lines
MOST_LINES = 7
LABELLED = 8  # names of methods and references
HOVER = (
    "forgetting score %{x:.3f}<br>test accuracy %{y:.1f} %<br>NoMUS "
    "%{customdata[2]}%{customdata[3]}<extra></extra>"
)


@dataclass(frozen=True)
class Mark:
    """A row, or a line of the paper (`key` ""): x is the forgetting score, y test accuracy in
    percent.
    """

    title: str
    method: str
    family: str
    x: float
    y: float
    key: str
    nomus: float
    verdict: str = ""


@dataclass(frozen=True)
class NomusScatterInfo:
    """`levels` are the NoMUS values whose lines cross the window `x` by `y`; `labelled` the marks
    that carry their name, the first ones.
    """

    marks: tuple[Mark, ...]
    ghosts: tuple[Mark, ...]
    missing: tuple[str, ...]
    x: tuple[float, float]
    y: tuple[float, float]
    levels: tuple[float, ...]
    labelled: tuple[str, ...]
    # half of the band of Retrain against Retrain of other seeds: forgetting score, points of TA
    noise: tuple[float, float] | None = None


def nomus_scatter_info(
    rows: Sequence[Row], ghosts: Sequence[tuple[str, float, float]] = ()
) -> NomusScatterInfo:
    """Marks of all rows with both numbers; `ghosts` are (method id or name, forgetting score, test
    accuracy in 0..1) of a paper.
    """
    placed = [
        (row, x.mean, y.mean)
        for row in rows
        if (x := row.cells["forgetting_score"].value) and (y := row.cells["ta"].value)
    ]
    marks = tuple(
        Mark(
            row.title,
            row.method,
            row.family,
            x,
            100 * y,
            row.keys[0],
            nomus(accuracy=y, forgetting_score=x),
            verdict_text(row),
        )
        for row, x, y in placed
    )
    printed = tuple(
        Mark(
            method_names(name)[0],
            name,
            method_names(name)[1],
            x,
            100 * y,
            "",
            nomus(accuracy=y, forgetting_score=x),
        )
        for name, x, y in ghosts
    )
    everything = [*marks, *printed]
    if not everything:
        return NomusScatterInfo(
            (), (), tuple(row.title for row in rows), (0.0, 0.5), (0.0, 100.0), (), ()
        )
    xs, ys = [mark.x for mark in everything], [mark.y for mark in everything]
    x = (0.0, min(0.5, axes.padded(xs, 0.15, 0.02)[1]))
    low, high = axes.padded(ys, 0.15, 2.0)
    y = (max(0.0, low), min(100.0, high))
    low, high = (
        nomus(accuracy=y[0] / 100, forgetting_score=x[1]),
        nomus(accuracy=y[1] / 100, forgetting_score=x[0]),
    )
    return NomusScatterInfo(
        marks,
        printed,
        tuple(row.title for row in rows if row.keys[0] not in {mark.key for mark in marks}),
        x,
        y,
        levels(low, high),
        tuple([mark.title for mark in marks if mark.family != "reference"][: LABELLED - 2]),
        _noise(rows),
    )


def _noise(rows: Sequence[Row]) -> tuple[float, float] | None:
    across, up = (frames.noise(rows, name) for name in ("forgetting_score", "ta"))
    return None if across is None or up is None else (across, 100 * up)


def levels(low: float, high: float) -> tuple[float, ...]:
    """Round values of NoMUS strictly between two, seven at most where a step of 0.1 allows it."""
    for step in STEPS:
        found = tuple(
            round(step * place, 2)
            for place in range(1, round(1 / step))
            if low < step * place < high
        )
        if len(found) <= MOST_LINES:
            return found
    return found


def accuracy_at(level: float, score: float) -> float:
    """Test accuracy in percent at which NoMUS is `level` for this forgetting score."""
    return 100 * (level - (1 - WEIGHT) * (1 - 2 * score)) / WEIGHT


def draw(info: NomusScatterInfo, *, dark: bool, selected: str = "") -> go.Figure:
    """The scatter; `selected` is the key of the run whose mark is ringed."""
    look = theme.ground(dark)
    figure = axes.figure(dark=dark)
    retrain = next((mark for mark in info.marks if mark.method == "retrain"), None)
    if retrain is not None and info.noise is not None:
        across, up = info.noise
        spans = noise.around(retrain.x, across), noise.around(retrain.y, up)
        figure.add_shape(noise.band(look, x=spans[0], y=spans[1]))
    for level in info.levels:
        figure.add_trace(
            go.Scatter(
                x=list(info.x),
                y=[accuracy_at(level, score) for score in info.x],
                mode="lines",
                line={"color": look.grid, "width": 1.2},
                hoverinfo="skip",
                showlegend=False,
                name=f"NoMUS {level:g}",
            )
        )
        place = _right_end(level, info)
        axes.write(
            figure,
            f"NoMUS {level:.2f}",
            look.muted,
            size=11,
            x=place[0],
            y=place[1],
            xanchor="right",
            yanchor="bottom",
        )
    if info.ghosts:
        figure.add_trace(
            go.Scatter(
                x=[mark.x for mark in info.ghosts],
                y=[mark.y for mark in info.ghosts],
                mode="markers",
                name="The paper's",
                marker={
                    "symbol": [
                        _open(theme.family_style(mark.family).symbol) for mark in info.ghosts
                    ],
                    "size": 10,
                    "color": look.muted,
                    "line": {"width": 1.4, "color": look.muted},
                },
                customdata=[["", mark.title, f"{mark.nomus:.3f}", ""] for mark in info.ghosts],
                hovertemplate=f"<b>%{{customdata[1]}}</b>, as printed<br>{HOVER}",
            )
        )
    for family, mine in families.groups(info.marks, unknown=True).items():
        mine.sort(key=lambda mark: mark.method == "original")  # star first
        style = theme.family_style(family)
        color = style.color(dark)
        figure.add_trace(
            go.Scatter(
                x=[mark.x for mark in mine],
                y=[mark.y for mark in mine],
                mode="markers",
                name=families.title(family),
                marker={
                    "symbol": [
                        "circle-open" if mark.method == "original" else style.symbol
                        for mark in mine
                    ],
                    "size": [15 if mark.key == selected else 11 for mark in mine],
                    "color": color,
                    "opacity": 1,
                    "line": {
                        "width": 2,
                        "color": [look.text if mark.key == selected else color for mark in mine],
                    },
                },
                customdata=[
                    [
                        mark.key,
                        mark.title,
                        f"{mark.nomus:.3f}",
                        mark.verdict and f"<br>{mark.verdict}",
                    ]
                    for mark in mine
                ],
                hovertemplate=f"<b>%{{customdata[1]}}</b><br>{HOVER}",
            )
        )
    name_labels.write(figure, _labels(info, selected), look)
    figure.update_xaxes(title="Forgetting score: 0 is a guess", range=_across(info), zeroline=False)
    figure.update_yaxes(title="Test accuracy, %: high is good", range=list(info.y), zeroline=False)
    figure.update_layout(height=460, legend=scatter.legend(-0.2), margin={"t": 26})
    return figure


def alt_text(info: NomusScatterInfo) -> str:
    """The figure in words."""
    if not info.marks:
        return "Scatter of forgetting score against test accuracy; no run has both yet."
    best = max(info.marks, key=lambda mark: mark.nomus)
    verdict = f" Its verdict is “{best.verdict}”." if best.verdict else ""
    return (
        f"Scatter of {len(info.marks)} methods and references: forgetting score on x, test "
        f"accuracy on y, lines of equal NoMUS. {best.title} has the highest NoMUS, "
        f"{best.nomus:.3f}, at a forgetting score of {best.x:.3f} and {best.y:.1f} % test "
        f"accuracy.{verdict}"
    )


def _open(symbol: str) -> str:
    return symbol if symbol.endswith("-open") else f"{symbol}-open"


def _right_end(level: float, info: NomusScatterInfo) -> tuple[float, float]:
    """Where the line of this NoMUS leaves the window, to the right or at the top."""
    at_right = accuracy_at(level, info.x[1])
    if at_right <= info.y[1]:
        return info.x[1], at_right
    slope = accuracy_at(level, 1.0) - accuracy_at(level, 0.0)
    return (info.y[1] - accuracy_at(level, 0.0)) / slope, info.y[1]


def _labels(info: NomusScatterInfo, selected: str) -> list[name_labels.Label]:
    """Names of references, of the selected and of the first marks."""
    order = [mark for mark in info.marks if mark.family == "reference" or mark.key == selected]
    must = {mark.title for mark in order}
    order += [
        mark
        for title in info.labelled
        for mark in info.marks
        if mark.title == title and mark not in order
    ]
    places = [(mark.x, mark.y) for mark in info.marks]
    return name_labels.place(
        [(mark.x, mark.y, mark.title) for mark in order],
        _across(info),
        info.y,
        places,
        must=must,
        most=LABELLED,
    )


def _across(info: NomusScatterInfo) -> tuple[float, float]:
    """What the x axis shows: room for marks at a score of zero."""
    return info.x[0] - 0.03 * info.x[1], info.x[1]
