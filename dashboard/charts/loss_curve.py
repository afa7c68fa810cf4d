"""Training loss of one run, epoch by epoch; grows while the run goes on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes


@dataclass(frozen=True)
class LossCurveInfo:
    """Mean training loss after each epoch, epochs counted from 1; epochs with a loss that is not
    finite are left out and counted.
    """

    epochs: tuple[int, ...]
    losses: tuple[float, ...]
    broken: int

    @property
    def log(self) -> bool:
        """A curve over more than two decades is only readable on a logarithmic axis."""
        positive = [loss for loss in self.losses if loss > 0]
        return len(positive) == len(self.losses) > 1 and max(positive) / min(positive) > 100


def loss_curve_info(losses: Sequence[float]) -> LossCurveInfo:
    kept = [
        (epoch, float(loss)) for epoch, loss in enumerate(losses, start=1) if math.isfinite(loss)
    ]
    return LossCurveInfo(
        tuple(epoch for epoch, _ in kept), tuple(loss for _, loss in kept), len(losses) - len(kept)
    )


def draw(info: LossCurveInfo, *, dark: bool, height: int = 180) -> go.Figure:
    """A thin line with a mark at the last epoch."""
    color = theme.ground(dark).primary
    figure = axes.figure(dark=dark)
    figure.add_trace(
        go.Scatter(
            x=info.epochs,
            y=info.losses,
            mode="lines+markers" if len(info.epochs) < 30 else "lines",
            line={"width": 1.8, "color": color},
            marker={"size": 4, "color": color},
            hovertemplate="epoch %{x}: %{y:.3g}<extra></extra>",
            showlegend=False,
        )
    )
    figure.update_xaxes(
        title="Epoch",
        tickformat="d",
        rangemode="nonnegative",
        # left to itself, a short axis has ticks at half epochs, whose labels are rounded
        dtick=1 if info.epochs and info.epochs[-1] <= 10 else None,
    )
    figure.update_yaxes(
        title="Training loss (log axis)" if info.log else "Training loss",
        type="log" if info.log else "linear",
    )
    figure.update_layout(height=height, margin={"t": 8})
    return figure


def alt_text(info: LossCurveInfo) -> str:
    if not info.losses:
        return "Training loss; no epoch has ended yet."
    return (
        f"Training loss over {len(info.losses)} epochs, from {info.losses[0]:.3g} to "
        f"{info.losses[-1]:.3g}."
    )
