"""95 % intervals: a thin line through a mark, and how it is said."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.text.labels import MINUS


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


def said(mean: float, half: float | None, *, digits: int, signed: bool = False) -> str:
    """What a mark says under the cursor: "−4.2 ± 8.1", or the mean alone where one seed gives no
    interval.
    """
    text = f"{mean:{'+' if signed else ''}.{digits}f}".replace("-", MINUS)
    return text if half is None else f"{text} ± {half:.{digits}f}"
