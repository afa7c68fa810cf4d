"""Confusion matrices side by side: of each true class, the share predicted as each class, or how
far that is from Retrain's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from dashboard.charts.parts import classes, heatmap, subplots
from dashboard.text.labels import MINUS

PRINTED = 10  # classes up to which cells carry their number
SMALLEST_LIMIT = 10.0  # points at which a difference has its full colour, at least
Panels = Mapping[str, pd.DataFrame]  # by title; rows are true classes, columns predicted ones


def shares(counts: ArrayLike, names: Sequence[str] = ()) -> pd.DataFrame:
    """Percent of each true class (rows) by predicted class, from counts (C, C); NaN where the class
    has no sample.
    """
    table = np.asarray(counts)
    totals = table.sum(axis=1, keepdims=True)
    labels = classes.names(names, len(table))
    percent = np.where(totals > 0, 100 * table / np.maximum(totals, 1), np.nan)
    return pd.DataFrame(percent, labels, labels)


def draw(panels: Panels, *, difference: bool, dark: bool, stacked: bool = False) -> go.Figure:
    """One square a run, true classes with a sample in some panel from the top; all share one colour
    scale. `difference`: cells are points less Retrain's. `stacked`: for a phone.
    """
    figure = subplots.figure(
        **subplots.row(len(panels), stacked, 0.06), subplot_titles=list(panels), size=14, dark=dark
    )
    largest = max(cells.abs().max(axis=None) for cells in panels.values())
    limit = max(largest, SMALLEST_LIMIT) if difference else 100.0
    true = pd.concat(panels.values(), axis=1).dropna(how="all").index
    for place, cells in enumerate(panels.values(), start=1):
        trace = heatmap.cells(
            cells.loc[true].to_numpy(),
            cells.columns,
            true,
            cells.loc[true].map(lambda value: _text(value, difference)).to_numpy(),
            span=(-limit if difference else 0, limit),
            what="points" if difference else "%",
            hover="true %{y}, predicted %{x}<br>%{z:.1f}" + (" points" if difference else " %"),
            dark=dark,
            printed=len(cells) <= PRINTED,
            signed=difference,
        )
        if place < len(panels):
            trace.showscale = False
        figure.add_trace(trace, *((place, 1) if stacked else (1, place)))
    figure.update_xaxes(title="Predicted", type="category", showgrid=False)
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    figure.update_yaxes(title="True", col=1)
    height = max(400, min(520, 130 + 32 * len(true))) * (len(panels) if stacked else 1)
    figure.update_layout(height=height, margin={"t": 32})
    return figure


def _text(value: float, signed: bool) -> str:
    """Cells that round to nothing stay blank: the others are then seen at once."""
    if math.isnan(value) or round(value) == 0:
        return ""
    return (f"{value:+.0f}" if signed else f"{value:.0f}").replace("-", MINUS)


def alt_text(panels: Panels, *, difference: bool) -> str:
    """With the largest cell beside the diagonal of each panel."""
    parts = []
    for title, cells in panels.items():
        beside = np.where(np.eye(len(cells)), 0.0, cells.fillna(0.0))
        true, predicted = divmod(int(np.abs(beside).argmax()), len(cells))
        said = _text(beside[true, predicted], difference) or "none"
        parts.append(
            f"{title}: true {cells.index[true]}, predicted {cells.index[predicted]}, {said}"
        )
    what = "difference to Retrain of the shares" if difference else "shares"
    return (
        f"Confusion matrices, {what} of each true class. Largest beside the diagonal: "
        f"{'; '.join(parts)}."
    )
