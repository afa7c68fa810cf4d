"""A lesson's scatter: likeness of features to the original's on x, to Retrain's on y. Both axes are
CKA, 0..1, on one scale.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, noise, references, scatter
from dashboard.charts.parts.noise import Span
from dashboard.lessons.results import LessonResults

CLOSE = 0.04  # of the window: marks nearer than that share one name


@dataclass(frozen=True)
class Mark:
    title: str
    family: str
    x: float
    y: float


@dataclass(frozen=True)
class LessonScatterInfo:
    """Marks of all models with both numbers; `low` is where both axes begin, `missing` titles of
    models without them. `band`: where Retrains of other seeds stand across; upwards each is
    compared with itself.
    """

    marks: tuple[Mark, ...]
    low: float
    missing: tuple[str, ...]
    band: Span | None = None


def lesson_scatter_info(results: LessonResults, split: str = "forget") -> LessonScatterInfo:
    marks, missing = [], []
    for entry in results.entries:
        if entry.scenario != results.scenario:
            continue
        x, y = (entry.values.get(f"cka_{whose}_{split}") for whose in ("original", "retrain"))
        if x is None or y is None:
            missing.append(entry.title)
        else:
            marks.append(
                Mark(
                    entry.title,
                    entry.family if entry.method not in ("original", "retrain") else "reference",
                    x,
                    y,
                )
            )
    lowest = min((value for mark in marks for value in (mark.x, mark.y)), default=0.0)
    across = f"cka_original_{split}"
    return LessonScatterInfo(
        tuple(marks),
        max(0.0, lowest - 0.12 * max(1 - lowest, 0.02)),
        tuple(missing),
        noise.around(results.value("retrain", across), results.noise(across)),
    )


def draw(info: LessonScatterInfo, *, dark: bool, large: bool = False) -> go.Figure:
    look, size = theme.ground(dark), 20 if large else 13
    high = 1 + 0.12 * (1 - info.low)
    figure = axes.figure(dark=dark)
    if info.band is not None:
        figure.add_shape(noise.band(look, x=info.band))
    figure.add_trace(scatter.diagonal(info.low, high, look))
    for mark in info.marks:
        style = theme.family_style(mark.family)
        symbol = references.SYMBOLS.get(mark.title, style.symbol)
        figure.add_trace(
            go.Scatter(
                x=[mark.x],
                y=[mark.y],
                name=mark.title,
                mode="markers",
                marker={
                    "symbol": symbol,
                    "size": (22 if symbol == "circle-open" else 14) * (1.4 if large else 1.0),
                    "color": style.color(dark),
                    "line": {"width": 2, "color": style.color(dark)},
                },
                hovertemplate="<b>%{fullData.name}</b><br>to the original %{x:.3f}<br>to Retrain "
                "%{y:.3f}<extra></extra>",
                showlegend=False,
            )
        )
    middle = (info.low + high) / 2
    for x, y, title in names(info):
        left = x > middle
        axes.write(
            figure,
            title,
            look.text,
            size=size,
            x=x,
            y=y,
            xanchor="right" if left else "left",
            xshift=-16 if left else 16,
        )
    for x, y, text, anchor in (
        (info.low, high, "nearer to Retrain", ("left", "top")),
        (high, info.low, "nearer to the original", ("right", "bottom")),
    ):
        axes.write(
            figure, text, look.muted, size=size, x=x, y=y, xanchor=anchor[0], yanchor=anchor[1]
        )
    scatter.square(
        figure,
        (info.low, high),
        across="CKA to the original: 1 is unchanged",
        up="CKA to Retrain: 1 is ideal",
    )
    axis: dict[str, Any] = {"tickfont": {"size": size - 1}, "title_font_size": size}
    # no tick beyond 1, where no CKA is; a narrow window needs plotly's own
    if high - info.low > 0.3:
        axis |= {"tickvals": [tick / 10 for tick in range(11)]}
    figure.update_xaxes(**axis)
    figure.update_yaxes(**axis)
    figure.update_layout(height=720 if large else 480, margin={"t": 12})
    return figure


def names(info: LessonScatterInfo) -> list[tuple[float, float, str]]:
    """Where to write which names: models that lie together share one line of text."""
    near = CLOSE * (1 - info.low)
    groups: list[list[Mark]] = []
    for mark in info.marks:
        group = next(
            (
                group
                for group in groups
                if abs(group[0].x - mark.x) < 3 * near and abs(group[0].y - mark.y) < near
            ),
            None,
        )
        if group is None:
            groups.append([mark])
        else:
            group.append(mark)
    return [(group[0].x, group[0].y, "<br>".join(mark.title for mark in group)) for group in groups]


def alt_text(info: LessonScatterInfo) -> str:
    marks = [
        f"{mark.title} {mark.x:.2f} to the original and {mark.y:.2f} to Retrain"
        for mark in info.marks
    ]
    halves = (
        [f"{(info.band[1] - info.band[0]) / 2:.3f} of CKA to the original"] if info.band else []
    )
    return f"CKA of features: {'; '.join(marks) or 'not measured'}.{noise.said(*halves)}"
