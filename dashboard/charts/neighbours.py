"""A query and its nearest samples under several models, as pictures: whom does the encoder still
take for whom? (Are We Truly Forgetting? Figure 9)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, classes, pictures

_SIDE = 0.76  # of a picture; its name stands in the rest


@dataclass(frozen=True)
class Tile:
    """One picture: sample id, class name, whether it was to be forgotten, the cosine to the query
    (None for the query itself).
    """

    id: int
    name: str
    forgotten: bool
    same: bool  # of the query's class
    cosine: float | None


@dataclass(frozen=True)
class NeighboursInfo:
    """The query and, for each model in the order shown, its neighbours, nearest first."""

    query: Tile
    rows: tuple[tuple[str, tuple[Tile, ...]], ...]

    @property
    def same_class(self) -> tuple[int, ...]:
        """How many neighbours of each model share the query's class."""
        return tuple(sum(tile.same for tile in tiles) for _, tiles in self.rows)

    @property
    def ids(self) -> tuple[int, ...]:
        """All samples shown, each once."""
        return tuple(
            dict.fromkeys([self.query.id, *(tile.id for _, tiles in self.rows for tile in tiles)])
        )


def neighbours_info(
    query: int,
    label: int,
    found: Mapping[str, tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]],
    *,
    forgotten: bool,
    names: Sequence[str] = (),
) -> NeighboursInfo:
    """`found`: by model title the ids, labels, forgotten flags and cosines (k,) of the neighbours
    of `query`, whose class is `label`.
    """

    rows = tuple(
        (
            title,
            tuple(
                Tile(int(i), classes.name(names, int(y)), bool(f), int(y) == label, float(c))
                for i, y, f, c in zip(*arrays, strict=True)
            ),
        )
        for title, arrays in found.items()
    )
    return NeighboursInfo(Tile(query, classes.name(names, label), forgotten, True, None), rows)


def draw(info: NeighboursInfo, images: Mapping[int, np.ndarray], *, dark: bool) -> go.Figure:
    """`images`: (h, w, c) uint8 by sample id; a sample without one is an empty frame."""
    look = theme.ground(dark)
    strong = theme.family_style("gradient_ascent").color(dark)
    count = max((len(tiles) for _, tiles in info.rows), default=0)
    figure = axes.figure(dark=dark)
    hover: list[tuple[float, float, str]] = []
    # all at once: each one added to a figure makes plotly check all before it again
    drawn: list[dict[str, Any]] = []
    frames: list[dict[str, Any]] = []
    words: list[dict[str, Any]] = []
    middle = (len(info.rows) - 1) / 2
    placed = [(0.0, middle, info.query)]
    placed += [
        (2.0 + number, row, tile)
        for row, (_, tiles) in enumerate(info.rows)
        for number, tile in enumerate(tiles)
    ]
    for x, y, tile in placed:
        if tile.id in images:
            middle_of = {
                "x": x,
                "y": y,
                "xref": "x",
                "yref": "y",
                "xanchor": "center",
                "yanchor": "middle",
            }
            drawn.append(
                {
                    "source": _address(images[tile.id]),
                    "sizex": _SIDE,
                    "sizey": _SIDE,
                    "layer": "above",
                }
                | middle_of
            )
        half = _SIDE / 2 + 0.02
        color, width = (strong, 3) if tile.forgotten else (look.grid, 1)
        corners = {"x0": x - half, "x1": x + half, "y0": y - half, "y1": y + half}
        frames.append({"type": "rect", "line": {"color": color, "width": width}} | corners)
        font = {"size": 12, "color": look.text if tile.same else look.muted}
        words.append(
            {"x": x, "y": y + half, "yanchor": "top", "text": tile.name[:14], "font": font}
        )
        near = "" if tile.cosine is None else f"<br>cosine {tile.cosine:.3f}"
        hover.append(
            (
                x,
                y,
                (
                    f"<b>{tile.name}</b><br>sample "
                    f"{tile.id}{'<br>to forget' if tile.forgotten else ''}{near}"
                ),
            )
        )
    for y, (title, _) in enumerate(info.rows):
        words.append(
            {
                "x": 1.45,
                "y": y,
                "text": title,
                "xanchor": "right",
                "font": {"size": 13, "color": look.text},
            }
        )
    words.append(
        {"x": 0, "y": middle - 0.62, "text": "Query", "font": {"size": 13, "color": look.text}}
    )
    figure.update_layout(
        images=drawn, shapes=frames, annotations=[each | {"showarrow": False} for each in words]
    )
    figure.add_trace(
        go.Scatter(
            x=[x for x, _, _ in hover],
            y=[y for _, y, _ in hover],
            mode="markers",
            marker={"size": 40, "opacity": 0},
            customdata=[[text] for _, _, text in hover],
            hovertemplate="%{customdata[0]}<extra></extra>",
            showlegend=False,
        )
    )
    bare = {"visible": False, "fixedrange": True}
    figure.update_xaxes(range=[-0.6, 2.0 + count - 0.5], constrain="domain", **bare)
    figure.update_yaxes(
        range=[len(info.rows) - 0.3, -0.75], scaleanchor="x", constrain="domain", **bare
    )
    figure.update_layout(height=125 * max(len(info.rows), 1) + 20, margin={"t": 4, "b": 4})
    return figure


def alt_text(info: NeighboursInfo) -> str:
    parts = [
        f"{count} of {len(tiles)} under {title}"
        for count, (title, tiles) in zip(info.same_class, info.rows, strict=True)
    ]
    return (
        f"Pictures: sample {info.query.id}, class {info.query.name}, and its nearest samples. Of "
        f"its class are {', '.join(parts)}."
    )


def _address(image: np.ndarray) -> str:
    return pictures.address(pictures.enlarged(image, 96 // max(image.shape[:2])))
