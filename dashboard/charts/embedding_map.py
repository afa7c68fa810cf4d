"""What the encoders see: one t-SNE map a model, the same samples in all of them, forgotten ones in
one strong colour (Are We Truly Forgetting?, Figures 3 and 12).

All maps start from the same points and share one window, so a cluster that moved did so because its
neighbours changed. One sample may be ringed in all of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, classes, subplots

COLUMNS = 4
_MANY = 6000  # points that a browser draws one by one without stuttering
_ROOM = 0.04  # around the points
_RING = 15  # pixels across the ringed sample


@dataclass(frozen=True, eq=False)
class Panel:
    """One model: its title and the positions (n, 2) of the shared samples."""

    title: str
    points: np.ndarray


@dataclass(frozen=True, eq=False)
class EmbeddingMapInfo:
    """Panels over the same n samples; `labels` (n,) classes, `forgotten` (n,), `names` of the
    classes by number; `across` and `up` are the window of all panels; `marked` is the sample to
    ring, None where none of the n is.
    """

    panels: tuple[Panel, ...]
    ids: np.ndarray
    labels: np.ndarray
    forgotten: np.ndarray
    names: tuple[str, ...]
    across: tuple[float, float]
    up: tuple[float, float]
    marked: int | None = None

    @property
    def forgotten_names(self) -> tuple[str, ...]:
        return tuple(self.name(label) for label in np.unique(self.labels[self.forgotten]))

    def name(self, label: int) -> str:
        return self.names[label] if 0 <= label < len(self.names) else str(label)


def embedding_map_info(
    maps: Mapping[str, np.ndarray],
    *,
    ids: np.ndarray,
    labels: np.ndarray,
    forgotten: np.ndarray,
    names: Sequence[str] = (),
    marked: int | None = None,
) -> EmbeddingMapInfo:
    """`maps`: positions (n, 2) by panel title, in the order shown; `marked`: the id of the sample
    to ring where it is among `ids`.
    """
    everything = np.concatenate([np.zeros((1, 2)), *maps.values()])
    (left, low), (right, high) = everything.min(axis=0), everything.max(axis=0)
    side, rise = _ROOM * (right - left), _ROOM * (high - low)
    return EmbeddingMapInfo(
        panels=tuple(Panel(title, np.asarray(points)) for title, points in maps.items()),
        ids=np.asarray(ids),
        labels=np.asarray(labels),
        forgotten=np.asarray(forgotten, bool),
        names=tuple(names),
        across=(float(left - side), float(right + side)),
        up=(float(low - rise), float(high + rise)),
        marked=marked if marked in np.asarray(ids) else None,
    )


def draw(info: EmbeddingMapInfo, *, dark: bool) -> go.Figure:
    look = theme.ground(dark)
    rows = max(1, math.ceil(len(info.panels) / COLUMNS))
    columns = max(1, math.ceil(len(info.panels) / rows))
    figure = subplots.figure(
        rows=rows,
        cols=columns,
        subplot_titles=[panel.title for panel in info.panels],
        horizontal_spacing=0.015,
        vertical_spacing=0.11 / rows,
        dark=dark,
    )
    kind = go.Scattergl if len(info.panels) * len(info.labels) > _MANY else go.Scatter
    strong = theme.family_style("gradient_ascent").color(dark)
    for number, panel in enumerate(info.panels):
        for label in np.unique(info.labels):
            kept = (info.labels == label) & ~info.forgotten
            if kept.any():
                color = classes.color(int(label), dark)
                figure.add_trace(
                    _points(kind, info, panel, kept, color, 4, info.name(int(label)), show=False),
                    *_place(number, columns),
                )
        if info.forgotten.any():
            trace = _points(
                kind, info, panel, info.forgotten, strong, 6, "to forget", show=number == 0
            )
            figure.add_trace(trace, *_place(number, columns))
        if info.marked is not None:
            figure.add_trace(
                _ring(info, panel, look.text, show=number == 0), *_place(number, columns)
            )
    figure.update_xaxes(visible=False, range=info.across)
    figure.update_yaxes(visible=False, range=info.up)
    for number in range(len(info.panels)):
        axis = subplots.ending(number + 1)
        frame = {
            "x0": 0,
            "x1": 1,
            "y0": 0,
            "y1": 1,
            "xref": f"x{axis} domain",
            "yref": f"y{axis} domain",
        }
        figure.add_shape(type="rect", line={"color": look.grid, "width": 1}, layer="below", **frame)
    legend = axes.below(0) | {"itemsizing": "constant"}
    figure.update_layout(height=70 + 250 * rows, margin={"t": 34, "b": 30}, legend=legend)
    return figure


def alt_text(info: EmbeddingMapInfo) -> str:
    if not info.panels:
        return "Maps of features; none has been drawn yet."
    return (
        f"{len(info.panels)} t-SNE maps of the features of {len(info.labels)} samples, one a "
        f"model: {', '.join(panel.title for panel in info.panels)}. {int(info.forgotten.sum())} "
        "samples to forget stand out in colour."
    ) + ("" if info.marked is None else f" Sample {info.marked} is ringed in each.")


def _place(number: int, columns: int) -> tuple[int, int]:
    return number // columns + 1, number % columns + 1


def _points(
    kind: type,
    info: EmbeddingMapInfo,
    panel: Panel,
    chosen: np.ndarray,
    color: str,
    size: int,
    name: str,
    *,
    show: bool,
):
    return kind(
        x=panel.points[chosen, 0],
        y=panel.points[chosen, 1],
        mode="markers",
        name=name,
        legendgroup=name,
        marker={"size": size, "color": color, "opacity": 0.9, "line": {"width": 0}},
        unselected={"marker": {"opacity": 0.9}},  # a click rings its sample and pales nothing
        customdata=[
            [str(each), info.name(int(label))]
            for label, each in zip(info.labels[chosen], info.ids[chosen], strict=True)
        ],
        hovertemplate="%{customdata[1]}<br>sample %{customdata[0]}<extra></extra>",
        showlegend=show,
    )


def _ring(info: EmbeddingMapInfo, panel: Panel, color: str, *, show: bool) -> go.Scatter:
    chosen = info.ids == info.marked
    return go.Scatter(
        x=panel.points[chosen, 0],
        y=panel.points[chosen, 1],
        mode="markers",
        name=f"sample {info.marked}",
        legendgroup="ring",
        marker={"symbol": "circle-open", "size": _RING, "color": color, "line": {"width": 2.5}},
        unselected={"marker": {"opacity": 1}},
        hoverinfo="skip",
        showlegend=show,
    )
