"""Decision fields side by side: what networks say of every place in the plane, as the playground
paints it (assets/playground_paint.js), with the points that they learned from.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from PIL import Image

from dashboard import theme
from dashboard.charts.parts import axes, pictures
from dashboard.frames.playground_events import away, percent

FIELDS = ("#E69F00", "#0072B2", "#009E73", "#CC79A7")  # where a class is predicted, paler on a page
# Points are told apart by hue and shape; their hues are those of families that keep their contrast.
FAMILIES = ("sparsity", "influence", "teacher", "relabelling")
DIFFERENCE = "competition"
SYMBOLS = ("circle", "square", "triangle-up", "diamond")
SIDE = 240  # pixels of a field as it is stored
HEIGHT = 400
MANY = 20  # points to forget, from which thick outlines would hide each other


@dataclass(frozen=True, eq=False)
class Field:
    """One picture: `title` above it; `grid` (G, G, C) uint8 with the probabilities times 255, None
    for an empty plane. With `base` it shows where the two differ.
    """

    title: str
    grid: np.ndarray | None
    base: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class DecisionFieldsInfo:
    """`points` are [x, y, class], `forgotten` the places of those to forget."""

    fields: tuple[Field, ...]
    points: Sequence[Sequence[float]]
    forgotten: frozenset[int]


def decision_fields_info(
    fields: Sequence[Field], points: Sequence[Sequence[float]], forgotten: Collection[int]
) -> DecisionFieldsInfo:
    return DecisionFieldsInfo(tuple(fields), points, frozenset(forgotten))


def hues(dark: bool) -> list[str]:
    """The colour of the points of each class."""
    return [theme.family_style(family).color(dark) for family in FAMILIES]


def painted(field: Field, dark: bool) -> np.ndarray:
    """Colours (G, G, 3) uint8: hue says the class that the network would name, saturation how sure
    it is; of a difference, saturation says its size.
    """
    assert field.grid is not None
    ground = _channels(theme.ground(dark).background)
    if field.base is not None:
        hue = _channels(theme.family_style(DIFFERENCE).color(dark))
        share = np.sqrt(away(field.grid, field.base))[..., None]
    else:
        classes = field.grid.shape[2]
        hue = np.stack([_channels(each) for each in FIELDS])[field.grid.argmax(axis=2)]
        sure = (field.grid.max(axis=2) / 255 - 1 / classes) / (1 - 1 / classes)
        share = 0.06 + 0.6 * sure[..., None]
    return np.rint(ground + share * (hue - ground)).astype(np.uint8)


def draw(info: DecisionFieldsInfo, *, dark: bool) -> go.Figure:
    look, figure = theme.ground(dark), axes.figure(dark=dark)
    width = 1 / len(info.fields)
    for number, field in enumerate(info.fields, start=1):
        suffix = "" if number == 1 else str(number)
        edges = [(number - 1) * width + 0.01, number * width - 0.01]
        plain = {"visible": False, "range": [-1.03, 1.03], "fixedrange": True}
        figure.update_layout(
            {
                f"xaxis{suffix}": {**plain, "domain": edges, "anchor": f"y{suffix}"},
                f"yaxis{suffix}": {
                    **plain,
                    "anchor": f"x{suffix}",
                    "scaleanchor": f"x{suffix}",
                    "constrain": "domain",
                },
            }
        )
        place = {"xref": f"x{suffix}", "yref": f"y{suffix}"}
        if field.grid is not None:
            small = Image.fromarray(painted(field, dark))
            large = small.resize((SIDE, SIDE), Image.Resampling.BILINEAR)
            figure.add_layout_image(
                source=pictures.address(large),
                x=-1,
                y=1,
                sizex=2,
                sizey=2,
                sizing="stretch",
                layer="below",
                **place,
            )
        figure.add_shape(
            type="rect", x0=-1, y0=-1, x1=1, y1=1, line={"color": look.muted, "width": 1}, **place
        )
        axes.write(
            figure,
            field.title,
            look.text,
            size=13,
            x=-1,
            y=1.03,
            xanchor="left",
            yanchor="bottom",
            **place,
        )
        for marked in (False, True) if field.base is None else (True,):
            _add_points(figure, info, marked, suffix, dark)
    figure.update_layout(height=HEIGHT, showlegend=False, margin={"l": 0, "r": 0, "t": 30, "b": 0})
    return figure


def _add_points(
    figure: go.Figure, info: DecisionFieldsInfo, marked: bool, suffix: str, dark: bool
) -> None:
    """The points to forget, which are larger with a thick outline, or the others."""
    look = theme.ground(dark)
    many = len(info.forgotten) > MANY
    size, outline = (7 if many else 10, 1.2 if many else 2) if marked else (6, 0.6)
    for label, (hue, symbol) in enumerate(zip(hues(dark), SYMBOLS, strict=True)):
        mine = [
            point
            for at, point in enumerate(info.points)
            if point[2] == label and (at in info.forgotten) is marked
        ]
        if not mine:
            continue
        figure.add_trace(
            go.Scatter(
                x=[point[0] for point in mine],
                y=[point[1] for point in mine],
                mode="markers",
                marker={
                    "symbol": symbol,
                    "color": hue,
                    "size": size,
                    "line": {"color": look.text if marked else look.background, "width": outline},
                },
                hoverinfo="skip",
                xaxis=f"x{suffix}",
                yaxis=f"y{suffix}",
            )
        )


def alt_text(info: DecisionFieldsInfo) -> str:
    said = []
    for field in info.fields:
        if field.grid is None:
            said.append(f"{field.title}: nothing was trained yet.")
        elif field.base is not None:
            mean = percent(float(away(field.grid, field.base).mean()))
            said.append(f"{field.title}: {mean} on average.")
        else:
            named = np.bincount(field.grid.argmax(axis=2).ravel(), minlength=field.grid.shape[2])
            shares = ", ".join(
                f"class {at + 1} at {percent(each)} of all places"
                for at, each in enumerate(named / named.sum())
            )
            said.append(f"{field.title} names {shares}.")
    return " ".join(said)


def _channels(color: str) -> np.ndarray:
    return np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)], float)
