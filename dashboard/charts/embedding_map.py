"""What the encoders see: one t-SNE map a model, the same samples in all of them, forgotten ones in
one strong colour (Are We Truly Forgetting?, Figures 3 and 12).

Each map is a run of its own: where a cluster lies and how the map is turned means nothing.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, classes, subplots

_MANY = 6000  # points that a browser draws one by one without stuttering
_ROOM = 0.06  # around the points
_NEAR = ("influence", "competition")  # whose hues the classes nearest to the forgotten one have


@dataclass(frozen=True, eq=False)
class Panel:
    """One model: its title, the positions (n, 2) of the shared samples, and the key of
    `theme.FATES` that stands beside its title, "" for a reference.
    """

    title: str
    points: np.ndarray
    fate: str = ""


@dataclass(frozen=True, eq=False)
class EmbeddingMapInfo:
    """Panels over the same n samples; `labels` (n,) classes, `forgotten` (n,), `names` of the
    classes by number. Of the classes that stay, those in `near` have a colour and the others are
    grey; where that is None, each has one.
    """

    panels: tuple[Panel, ...]
    ids: np.ndarray
    labels: np.ndarray
    forgotten: np.ndarray
    names: tuple[str, ...]
    near: tuple[int, ...] | None = None

    @property
    def forgotten_names(self) -> tuple[str, ...]:
        return tuple(self.name(label) for label in np.unique(self.labels[self.forgotten]))

    def name(self, label: int) -> str:
        return classes.name(self.names, label)

    def color(self, label: int, dark: bool) -> str:
        """That of a class that stays."""
        if self.near is None:
            return classes.color(label, dark)
        if label not in self.near:
            return theme.blend(
                theme.ground(dark).muted, theme.ground(dark).background, 0.45 if dark else 0.4
            )
        return theme.family_style(_NEAR[self.near.index(label) % len(_NEAR)]).color(dark)


def embedding_map_info(
    maps: Mapping[str, np.ndarray],
    *,
    ids: np.ndarray,
    labels: np.ndarray,
    forgotten: np.ndarray,
    names: Sequence[str] = (),
    near: Collection[int] | None = None,
    fates: Mapping[str, str] | None = None,
) -> EmbeddingMapInfo:
    """`maps`: positions (n, 2) by panel title, in the order shown; `fates` by title."""
    return EmbeddingMapInfo(
        panels=tuple(
            Panel(title, np.asarray(points), (fates or {}).get(title, ""))
            for title, points in maps.items()
        ),
        ids=np.asarray(ids),
        labels=np.asarray(labels),
        forgotten=np.asarray(forgotten, bool),
        names=tuple(names),
        near=None if near is None else tuple(near),
    )


def balanced(labels: np.ndarray, forgotten: np.ndarray) -> np.ndarray:
    """(n,) bool: all samples that stay and, of each class, as many forgotten ones as the classes
    that stay have on average, the first ones. More would look like a cluster in any map.
    """
    kept = labels[~forgotten]
    most = round(len(kept) / len(np.unique(kept))) if len(kept) else len(labels)
    shown = ~forgotten
    for label in np.unique(labels[forgotten]):
        shown[np.flatnonzero((labels == label) & forgotten)[:most]] = True
    return shown


def draw(info: EmbeddingMapInfo, *, dark: bool) -> go.Figure:
    look = theme.ground(dark)
    edge = look.background
    columns = min(2, max(1, len(info.panels)))
    rows = max(1, math.ceil(len(info.panels) / columns))
    figure = subplots.figure(
        rows=rows,
        cols=columns,
        horizontal_spacing=0.02,
        vertical_spacing=0.1 / max(1, rows - 1) if rows > 1 else 0,
        dark=dark,
    )
    kind = go.Scattergl if len(info.panels) * len(info.labels) > _MANY else go.Scatter
    groups = _groups(info, dark)
    for number, panel in enumerate(info.panels):
        row, column = number // columns + 1, number % columns + 1
        for name, chosen, color, size in groups:
            trace = kind(
                x=panel.points[chosen, 0],
                y=panel.points[chosen, 1],
                mode="markers",
                name=name,
                marker={"size": size, "color": color, "line": {"width": 1, "color": edge}},
                unselected={"marker": {"opacity": 1}},
                customdata=[
                    [str(each), info.name(int(label))]
                    for label, each in zip(info.labels[chosen], info.ids[chosen], strict=True)
                ],
                hovertemplate="%{customdata[1]}<br>sample %{customdata[0]}<extra></extra>",
            )
            figure.add_trace(trace, row, column)
        across, up = (
            axes.padded([*panel.points[:, place].tolist()], _ROOM, 1e-6) for place in (0, 1)
        )
        figure.update_xaxes(range=across, visible=False, row=row, col=column)
        figure.update_yaxes(range=up, visible=False, row=row, col=column)
        _frame(figure, number, look)
    _heads(figure, info, dark)
    figure.update_layout(
        height=52 + 252 * rows, margin={"l": 1, "r": 1, "t": 26, "b": 4}, showlegend=False
    )
    return figure


def alt_text(info: EmbeddingMapInfo) -> str:
    if not info.panels:
        return "Maps of features; none has been drawn yet."
    return (
        f"{len(info.panels)} t-SNE maps of the features of {len(info.labels)} samples, one a "
        f"model: {', '.join(panel.title for panel in info.panels)}. {int(info.forgotten.sum())} "
        "forgotten samples stand out in colour."
    )


def _heads(figure: go.Figure, info: EmbeddingMapInfo, dark: bool) -> None:
    """The title above each panel, at its left, and at its right what became of the method, where
    the window is wide enough.
    """
    look, heads, fates = theme.ground(dark), [], []
    for number, panel in enumerate(info.panels):
        end = subplots.ending(number + 1)
        place = {
            "xref": f"x{end} domain",
            "yref": f"y{end} domain",
            "y": 1,
            "yanchor": "bottom",
            "yshift": 2,
        }
        heads.append(
            axes.words(f"<b>{panel.title}</b>", look.text, size=14, x=0, xanchor="left", **place)
        )
        if panel.fate:
            color = theme.FATES[panel.fate].color(dark)
            fates.append(axes.words(panel.fate, color, size=13, x=1, xanchor="right", **place))
    before = len(figure.layout.annotations) + len(heads)
    axes.put(figure, [*heads, *fates])
    figure.layout.meta = {"wide_names": [*range(before, before + len(fates))]}


def _frame(figure: go.Figure, number: int, look: theme.Ground) -> None:
    end = subplots.ending(number + 1)
    figure.add_shape(
        type="rect",
        line={"color": look.border, "width": 1},
        layer="below",
        x0=0,
        x1=1,
        y0=0,
        y1=1,
        xref=f"x{end} domain",
        yref=f"y{end} domain",
    )


def _groups(info: EmbeddingMapInfo, dark: bool) -> list[tuple[str, np.ndarray, str, int]]:
    """Name, samples, colour and size of what is drawn in each panel: grey classes below those with
    a colour, the forgotten samples above all.
    """
    near = info.near or ()
    stays = [int(label) for label in np.unique(info.labels[~info.forgotten])]
    groups = [
        (info.name(label), (info.labels == label) & ~info.forgotten, info.color(label, dark), 7)
        for label in sorted(stays, key=lambda each: (each in near, each))
    ]
    strong = theme.family_style("gradient_ascent").color(dark)
    forgotten = [("forgotten", info.forgotten, strong, 9)] if info.forgotten.any() else []
    return [*groups, *forgotten]
