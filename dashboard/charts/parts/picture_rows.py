"""A row of pictures with lines of words below them. Pictures stand at 0, 1, 2 …; upwards a unit is
a pixel, and the top is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go


def words(
    texts: Sequence[str], y: float, *, colors: Sequence[str], size: int, **more: Any
) -> go.Scatter:
    """A line of words, one below each picture; `more` is plotly's."""
    return go.Scatter(
        x=list(range(len(texts))),
        y=[y] * len(texts),
        mode="text",
        text=texts,
        textfont={"size": size, "color": colors},
        showlegend=False,
        cliponaxis=False,
        **more,
    )


def frame(figure: go.Figure, *, across: tuple[float, float], height: int) -> None:
    """No axes, nothing to drag: the figure is as high as pictures and words together."""
    figure.update_xaxes(visible=False, range=across, fixedrange=True)
    figure.update_yaxes(visible=False, range=[-height, 0], fixedrange=True)
    figure.update_layout(
        height=height + 16, margin={"l": 0, "r": 0, "t": 8, "b": 8}, dragmode=False
    )
