"""The grey of Retrain against Retrain in every figure that has a metric on an axis: the
95 % band of Retrains of other training seeds. A difference inside it may be chance; verdicts go by
intervals of the line's own seeds.

Numbers that compare a run with the Retrain of its own seed (agreements, ratios to Retrain, times
relative to it) are the same for every Retrain, so they have no band.
"""

from __future__ import annotations

import math
from typing import Any, Final

from dashboard import theme

Span = tuple[float, float]
# pixels of a band's outline: where all Retrains agree the band has no width, and is this line
OUTLINE: Final = 3


def around(
    place: float | None, half: float | None, ends: Span = (-math.inf, math.inf)
) -> Span | None:
    """The band about Retrain's place, as far as it lies between `ends`; None where either is not
    known.
    """
    if place is None or half is None:
        return None
    return max(place - half, ends[0]), min(place + half, ends[1])


def band(
    look: theme.Ground,
    *,
    x: Span | None = None,
    y: Span | None = None,
    xref: str = "x",
    yref: str = "y",
) -> dict[str, Any]:
    """Plotly's shape of a band, behind all marks: a strip across the panel where one axis has a
    span, a box where both have. An axis without one runs through the whole panel.
    """
    made: dict[str, Any] = {}
    for name, span, ref in (("x", x, xref), ("y", y, yref)):
        low, high = (0.0, 1.0) if span is None else span
        made |= {f"{name}0": low, f"{name}1": high}
        made[f"{name}ref"] = f"{ref} domain" if span is None else ref
    return made | {
        "type": "rect",
        "name": "noise",
        "fillcolor": look.grid,
        "line": {"width": OUTLINE, "color": look.grid},
        "layer": "below",
    }
