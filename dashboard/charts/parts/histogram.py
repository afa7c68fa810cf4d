"""Histograms that lie over each other: one filled, the others as outlines of steps.

Shares are percent of all values, so that sets of different sizes can be compared.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike


def shares(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Percent of `values` (n,) in each of the bins between `edges` (b + 1,)."""
    return 100 * np.histogram(values, edges)[0] / len(values)


def middles(edges: np.ndarray) -> np.ndarray:
    """(b,) where the bars of the bins stand."""
    return (edges[1:] + edges[:-1]) / 2


def corners(edges: np.ndarray) -> np.ndarray:
    """(2 b,) x of an outline, which has two corners a bin."""
    return np.repeat(edges, 2)[1:-1]


def steps(each: ArrayLike) -> np.ndarray:
    """(2 b,) what stands at both corners of each of the b bins."""
    return np.repeat(each, 2)


def fill(color: str) -> dict[str, Any]:
    """The look of filled bars, which outlines shine through."""
    return {"color": color, "opacity": 0.55, "line": {"width": 0}}


def bars(edges: np.ndarray, each: ArrayLike, color: str, **more: Any) -> go.Bar:
    """The filled histogram: shares `each` (b,) of the bins; `more` is plotly's."""
    width = float(edges[1] - edges[0])
    return go.Bar(x=middles(edges), y=each, width=width, marker=fill(color), **more)


def outline(edges: np.ndarray, each: ArrayLike, **more: Any) -> go.Scatter:
    """A histogram as a line of steps: shares `each` (b,) of the bins; `more` is plotly's."""
    return go.Scatter(x=corners(edges), y=steps(each), mode="lines", **more)
