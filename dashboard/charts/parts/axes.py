"""What every figure begins and ends with: the look of the pages, ranges with room around the marks,
words on the figure, a legend below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import plotly.graph_objects as go

from dashboard import theme


def figure(*, dark: bool) -> go.Figure:
    """An empty figure in the look of the pages."""
    return go.Figure(layout={"template": theme.template(dark)})


def padded(values: Sequence[float], share: float, least: float) -> tuple[float, float]:
    """What an axis over `values` spans: on either side there is room of `share` of their span, and
    of `least` in their unit where they lie close together. Without values they count as 0.

    Give the places of marks, not the ends of their intervals: two seeds give intervals so wide that
    no mark could be told from another.
    """
    low, high = min(values, default=0.0), max(values, default=0.0)
    room = max(share * (high - low), least)
    return low - room, high + room


def words(text: str, color: str, *, size: int = 12, **place: Any) -> dict[str, Any]:
    """Words for `put`; `place` is that of a plotly annotation."""
    return {"text": text, "showarrow": False, "font": {"size": size, "color": color}, **place}


def put(figure: go.Figure, several: Iterable[dict[str, Any]]) -> None:
    """Words on a figure, all at once: one by one each makes plotly look through all before it."""
    figure.layout.annotations = [*figure.layout.annotations, *several]


def write(figure: go.Figure, text: str, color: str, *, size: int = 12, **place: Any) -> None:
    """Words on a figure; `place` is that of plotly's `add_annotation`."""
    figure.add_annotation(**words(text, color, size=size, **place))


def below(y: float) -> dict[str, Any]:
    """A legend that begins below the figure, at `y` in shares of its height."""
    return {"orientation": "h", "y": y, "yanchor": "top", "x": 0}


def above(y: float) -> dict[str, Any]:
    """A legend that ends above the figure, at `y` in shares of its height."""
    return {"y": y, "yanchor": "bottom", "x": 0}
