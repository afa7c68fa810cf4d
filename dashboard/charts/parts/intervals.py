"""95 % intervals: a thin line through a mark."""

from __future__ import annotations

from collections.abc import Sequence


def bars(halves: Sequence[float | None], color: str) -> dict:
    """Plotly's `error_x` or `error_y` of one trace, a thin line through each mark; None draws
    none.
    """
    return {
        "type": "data",
        "array": [half or 0.0 for half in halves],
        "thickness": 1,
        "width": 0,
        "color": color,
        "visible": any(halves),
    }
