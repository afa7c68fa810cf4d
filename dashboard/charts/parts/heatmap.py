"""The cells of a heat map: colours, gaps, numbers, and a colour bar only where no cell has its
number.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import plotly.graph_objects as go

from dashboard import theme


def cells(
    values: Any,
    columns: Iterable[Any],
    rows: Iterable[Any],
    text: Any,
    *,
    span: tuple[float, float],
    what: str,
    hover: str,
    dark: bool,
    printed: bool = True,
    signed: bool = False,
    **more: Any,
) -> go.Heatmap:
    """`values` by row and column, coloured over `span`: from orange over white to blue where
    `signed`, else from white to blue. Each cell has its `text` where `printed`; `what` is over the
    colour bar.
    """
    look = theme.ground(dark)
    return go.Heatmap(
        x=list(columns),
        y=list(rows),
        z=values,
        zmin=span[0],
        zmax=span[1],
        colorscale=theme.diverging(dark) if signed else theme.sequential(dark),
        xgap=1,
        ygap=1,
        text=text,
        texttemplate="%{text}" if printed else None,
        textfont={"size": 12, "color": look.text},
        hovertemplate=f"{hover}<extra></extra>",
        showscale=not printed,
        colorbar={
            "title": {"text": what, "font": {"size": 12, "color": look.muted}},
            "thickness": 10,
            "outlinewidth": 0,
            "tickfont": {"size": 12, "color": look.muted},
        },
        **more,
    )
