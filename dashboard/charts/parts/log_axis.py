"""A log axis for numbers that are stored as powers of ten: places are exponents, labels are the
numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes
from dashboard.text.labels import MINUS


def span(values: Sequence[float]) -> tuple[float, float]:
    """The exponents that an axis over these exponents covers, with a little room on either side;
    never of no width.
    """
    return axes.padded(values, 0.06, 0.2)


def axis(low: float, high: float, *, most: int = 6) -> dict[str, Any]:
    """Range and labelled ticks from exponent `low` to `high`: whole powers of ten, at most `most`
    of them; halves on a short axis.
    """
    step = max(1, math.ceil((high - low) / most))
    places = [
        float(place) for place in range(math.ceil(low / step) * step, math.floor(high) + 1, step)
    ]
    if len(places) < 2:
        places = [place / 2 for place in range(math.ceil(2 * low), math.floor(2 * high) + 1)]
    texts = [f"10<sup>{place:g}</sup>".replace("-", MINUS) for place in places]
    return {"range": [low, high], "tickvals": places, "ticktext": texts, "zeroline": False}


def ring(x: float, y: float, dark: bool) -> go.Scatter:
    """A ring around the mark of the selected run."""
    line = {"width": 2, "color": theme.ground(dark).text}
    marker = {"symbol": "circle-open", "size": 16, "color": theme.ground(dark).text, "line": line}
    return go.Scatter(
        x=[x], y=[y], mode="markers", marker=marker, hoverinfo="skip", showlegend=False
    )
