"""Losses of forgotten and of unseen persons, one panel a model: the more alike the two, the better
the persons are forgotten.

x: loss of an image in nats; what lies beyond the axis stands in the last bin. y: share of the
images of each kind, percent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, histogram, subplots
from dashboard.frames.identity import Losses

BINS = 24
CUT = 98.0  # percentile of all losses at which the axis ends


@dataclass(frozen=True)
class Panel:
    """One model; shares in percent, one a bin."""

    title: str
    forget: tuple[float, ...]
    unseen: tuple[float, ...]
    forget_median: float
    unseen_median: float


@dataclass(frozen=True)
class LossHistogramsInfo:
    panels: tuple[Panel, ...]
    edges: tuple[float, ...]  # of the bins, which all panels share; the last one is open


def loss_histograms_info(models: Sequence[tuple[str, Losses]]) -> LossHistogramsInfo:
    """Panels of (title, losses), on one axis."""
    joined = np.concatenate([side for _, each in models for side in (each.forget, each.unseen)])
    edges = np.linspace(0.0, max(float(np.percentile(joined, CUT)), 1e-3), BINS + 1)
    panels = []
    for title, each in models:
        shares = [
            histogram.shares(np.minimum(side, edges[-1]), edges)
            for side in (each.forget, each.unseen)
        ]
        panels.append(
            Panel(
                title,
                tuple(shares[0].tolist()),
                tuple(shares[1].tolist()),
                float(np.median(each.forget)),
                float(np.median(each.unseen)),
            )
        )
    return LossHistogramsInfo(tuple(panels), tuple(edges.tolist()))


def draw(info: LossHistogramsInfo, *, dark: bool) -> go.Figure:
    look = theme.ground(dark)
    edges = np.array(info.edges)
    figure = subplots.figure(
        cols=len(info.panels),
        shared_yaxes=True,
        horizontal_spacing=0.04,
        subplot_titles=[panel.title for panel in info.panels],
        dark=dark,
    )
    for number, panel in enumerate(info.panels, 1):
        figure.add_trace(
            histogram.bars(
                edges,
                panel.forget,
                theme.family_style("gradient_ascent").color(dark),
                name="Forgotten persons",
                legendgroup="forget",
                showlegend=number == 1,
                hovertemplate="Forgotten, loss about %{x:.2f}<br>%{y:.1f} %<extra></extra>",
            ),
            row=1,
            col=number,
        )
        figure.add_trace(
            histogram.outline(
                edges,
                panel.unseen,
                name="Persons nobody has seen",
                legendgroup="unseen",
                showlegend=number == 1,
                line={"color": look.text, "width": 1.8},
                hovertemplate="Unseen, loss about %{x:.2f}<br>%{y:.1f} %<extra></extra>",
            ),
            row=1,
            col=number,
        )
    figure.update_layout(height=340, bargap=0, margin={"t": 30}, legend=axes.below(-0.25))
    figure.update_xaxes(title="Loss, nats", rangemode="tozero")
    figure.update_yaxes(rangemode="tozero")
    figure.update_yaxes(title="Images, %", col=1)
    return figure


def table(info: LossHistogramsInfo) -> pd.DataFrame:
    """The histograms as a table: a bin of a panel a line, losses in nats, shares in percent. The
    last bin of a panel is open.
    """
    bins = list(zip(info.edges[:-1], info.edges[1:], strict=True))
    lines = [
        (panel.title, low, high, forget, unseen)
        for panel in info.panels
        for (low, high), forget, unseen in zip(bins, panel.forget, panel.unseen, strict=True)
    ]
    return pd.DataFrame(
        lines, columns=["Model", "Loss from", "Loss to", "Forgotten (%)", "Unseen (%)"]
    )


def alt_text(info: LossHistogramsInfo) -> str:
    """The figure in words."""
    said = "; ".join(
        f"{panel.title}: median loss {panel.forget_median:.2f} of forgotten and "
        f"{panel.unseen_median:.2f} of unseen persons"
        for panel in info.panels
    )
    return f"Histograms of losses, one panel a model. {said}."
