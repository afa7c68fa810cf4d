"""How deep did forgetting go? Linear CKA of each layer of a run with each layer of its original and
of its Retrain (beyond Are We Truly Forgetting?, which compares the layer before the last alone).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from dashboard.charts.parts import heatmap, subplots
from dashboard.frames.representation import similarity

_WRITTEN = 8  # with more layers the cells are too small for their number


@dataclass(frozen=True, eq=False)
class LayerHeatmapInfo:
    """`layers`: L names in the order in which they run; `original`, `retrain` (L, L) CKA with rows
    of the run; `references` (L,) CKA of the same layer of original and Retrain.
    """

    title: str
    layers: tuple[str, ...]
    original: np.ndarray
    retrain: np.ndarray
    references: np.ndarray

    @property
    def to_original(self) -> np.ndarray:
        return np.diagonal(self.original)

    @property
    def to_retrain(self) -> np.ndarray:
        return np.diagonal(self.retrain)

    @property
    def most_changed(self) -> int:
        """The layer least like the original's."""
        return int(self.to_original.argmin())


def layer_heatmap_info(
    title: str,
    *,
    layers: Sequence[str],
    original: np.ndarray,
    retrain: np.ndarray,
    references: np.ndarray,
) -> LayerHeatmapInfo:
    return LayerHeatmapInfo(
        title, tuple(layers), np.asarray(original), np.asarray(retrain), np.asarray(references)
    )


def draw(info: LayerHeatmapInfo, *, dark: bool) -> go.Figure:
    figure = subplots.figure(
        cols=2,
        shared_yaxes=True,
        horizontal_spacing=0.04,
        subplot_titles=["With the original's layers", "With Retrain's layers"],
        dark=dark,
    )
    both = np.concatenate([info.original, info.retrain])
    floor = float(np.floor(10 * both.min()) / 10)
    for column, values in enumerate((info.original, info.retrain), start=1):
        trace = heatmap.cells(
            values,
            info.layers,
            info.layers,
            [[f"{value:.2f}" for value in row] for row in values],
            span=(min(floor, 0.9), 1.0),
            what="CKA",
            hover=f"{info.title}: %{{y}}<br>other model: %{{x}}<br>CKA %{{z:.3f}}",
            dark=dark,
            printed=len(info.layers) <= _WRITTEN,
        )
        if column == 1:
            trace.showscale = False
        figure.add_trace(trace, 1, column)
    figure.update_xaxes(title="layer of the other model", tickangle=-40, showgrid=False)
    figure.update_yaxes(autorange="reversed", showgrid=False)
    figure.update_yaxes(title=f"layer of {info.title}", row=1, col=1)
    figure.update_layout(height=min(760, 220 + 34 * max(len(info.layers), 5)), margin={"t": 40})
    return figure


def alt_text(info: LayerHeatmapInfo) -> str:
    deepest = info.most_changed
    return (
        f"Heat maps of the CKA of {len(info.layers)} layers of {info.title} with those of the "
        f"original and of Retrain. Least like the original: {info.layers[deepest]}, "
        f"{similarity(float(info.to_original[deepest]))}; there it is "
        f"{similarity(float(info.to_retrain[deepest]))} to Retrain."
    )
