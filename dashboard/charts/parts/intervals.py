"""95 % intervals in scatters: a bar through every mark while marks are few, through the selected
one alone once bars would hide them.

A t-interval of two or three seeds is wide. Forty of them cross the whole figure and cover the marks
that a reader came to see.
"""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.text.labels import MINUS

MOST = 12  # marks that may all have their bars


def crowded(marks: int) -> bool:
    """Whether a figure of so many marks draws the bars of the selected one alone."""
    return marks > MOST


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


def sparing(
    halves: Sequence[float | None], color: str, *, chosen: Sequence[bool], marks: int
) -> dict:
    """`bars` of a scatter: in a crowded figure those of the selected mark alone. `chosen` says for
    each half width whether its mark is that one, `marks` how many the whole figure has.
    """
    return bars(
        [
            half if one or not crowded(marks) else None
            for half, one in zip(halves, chosen, strict=True)
        ],
        color,
    )


def said(mean: float, half: float | None, *, digits: int, signed: bool = False) -> str:
    """What a mark says under the cursor: "−4.2 ± 8.1", or the mean alone where one seed gives no
    interval.
    """
    text = f"{mean:{'+' if signed else ''}.{digits}f}".replace("-", MINUS)
    return text if half is None else f"{text} ± {half:.{digits}f}"
