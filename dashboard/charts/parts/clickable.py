"""Cells of heat maps that a reader can select: plotly reports a click on a mark of a scatter, but
none on a heat map.

So a mark that nobody sees stands on each cell. It carries the key of the cell's run, and says under
the cursor what the cell would have said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import plotly.graph_objects as go

UNSEEN = {"marker": {"opacity": 0}}
SIZE = 12  # pixels; what counts is the nearest mark, wherever in its cell a reader clicks
# number of the heat map, row, column -> key of a run; "" where the cell belongs to none
Place = Callable[[int, int, int], str]


def selectable(figure: go.Figure, key: Place) -> go.Figure:
    """`figure` itself, with a mark on every cell of its heat maps that says something; the first
    of a mark's custom data is the cell's key.
    """
    heatmaps = list(figure.select_traces({"type": "heatmap"}))
    figure.add_traces(
        [
            _marks(heatmap, lambda row, column, n=number: key(n, row, column))
            for number, heatmap in enumerate(heatmaps)
        ]
    )
    for heatmap in heatmaps:
        heatmap.update(hoverinfo="skip", hovertemplate=None)
    # without a limit: the marks are small and cells may be wide
    figure.update_layout(hovermode="closest", hoverdistance=-1)
    return figure


def _marks(heatmap: go.Heatmap, key: Callable[[int, int], str]) -> go.Scatter:
    places = [
        (row, column)
        for row in range(len(heatmap.y))
        for column in range(len(heatmap.x))
        if heatmap.text is None or heatmap.text[row][column] != ""
    ]

    def each(table: Sequence | None) -> list:
        return [None if table is None else table[row][column] for row, column in places]

    extra = [
        list(found) if isinstance(found, list | tuple) else [] for found in each(heatmap.customdata)
    ]
    return go.Scatter(
        x=[heatmap.x[column] for _, column in places],
        y=[heatmap.y[row] for row, _ in places],
        xaxis=heatmap.xaxis,
        yaxis=heatmap.yaxis,
        mode="markers",
        marker={"symbol": "square", "size": SIZE, "opacity": 0},
        selected=UNSEEN,
        unselected=UNSEEN,
        text=each(heatmap.text),
        customdata=[
            [key(row, column), value, *more]
            for (row, column), value, more in zip(places, each(heatmap.z), extra, strict=True)
        ],
        hovertemplate=_for_marks(heatmap.hovertemplate or ""),
        showlegend=False,
    )


def _for_marks(template: str) -> str:
    """What a heat map says of a cell, in the words of a scatter, which has no z: key and z stand
    before the cell's own custom data.
    """
    moved = re.sub(
        r"%\{customdata\[(\d+)\]", lambda found: f"%{{customdata[{int(found[1]) + 2}]", template
    )
    return moved.replace("%{z", "%{customdata[1]")
