"""How deep did forgetting go? Linear CKA of each layer of a run with each layer of its original and
of its Retrain (beyond Are We Truly Forgetting?, which compares the layer before the last alone).

Drawn from the analysis "layers": L names `layers` in the order in which they run; `original`,
`retrain` (L, L) CKA with rows of the run; `original_retrain` (L,) CKA of the same layer of both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.parts import heatmap, subplots

_WRITTEN = 8  # with more layers the cells are too small for their number
Layers = Mapping[str, Any]


def diagonals(value: Layers) -> pd.DataFrame:
    """Each layer with itself in the other model."""
    return pd.DataFrame(
        {
            "Layer": list(value["layers"]),
            "CKA to the original": np.diagonal(value["original"]),
            "CKA to Retrain": np.diagonal(value["retrain"]),
            "Original and Retrain": np.asarray(value["original_retrain"]),
        }
    )


def draw(value: Layers, title: str, *, dark: bool, stacked: bool = False) -> go.Figure:
    """`stacked`: the panels below each other, for a phone."""
    figure = subplots.figure(
        **subplots.row(2, stacked, 0.04),
        subplot_titles=["CKA with Original's layers", "CKA with Retrain's layers"],
        dark=dark,
    )
    layers, both = list(value["layers"]), [np.asarray(value[n]) for n in ("original", "retrain")]
    floor = float(np.floor(10 * min(each.min() for each in both)) / 10)
    for column, values in enumerate(both, start=1):
        trace = heatmap.cells(
            values,
            layers,
            layers,
            [[f"{each:.2f}" for each in row] for row in values],
            span=(min(floor, 0.9), 1.0),
            what="CKA",
            hover=f"{title}: %{{y}}<br>other model: %{{x}}<br>CKA %{{z:.3f}}",
            dark=dark,
            printed=len(layers) <= _WRITTEN,
        )
        trace.showscale &= column == 2
        figure.add_trace(trace, *((column, 1) if stacked else (1, column)))
    figure.update_xaxes(tickangle=-40, showgrid=False)
    figure.update_layout(xaxis_title="Original layer", xaxis2_title="Retrain layer")
    figure.update_yaxes(autorange="reversed", showgrid=False)
    figure.update_yaxes(title=f"{title} layer", col=1)
    height = min(760, 220 + 34 * max(len(layers), 5))
    figure.update_layout(height=height * (1 + stacked), margin={"t": 40})
    return figure


def alt_text(value: Layers, title: str) -> str:
    table = diagonals(value)
    least = table.loc[table["CKA to the original"].idxmin()]
    return (
        f"Heat maps of the CKA of {len(table)} layers of {title} with those of the original and "
        f"of Retrain. Least like the original: {least['Layer']}, "
        f"{least['CKA to the original']:.3f}, and {least['CKA to Retrain']:.3f} to Retrain."
    )
