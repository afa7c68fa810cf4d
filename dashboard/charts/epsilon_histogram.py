"""How easily each forgotten sample gives the method away: samples by ε, in the competition's bins
of half a nat.

x: ε, from 0 (unlearned and retrained models say the same) upwards; the last, open bin holds what a
rule can tell for certain. y: forgotten samples. Each bin counts for half as much as the one before
it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes
from mucore.metrics.forgetting_quality import BIN


@dataclass(frozen=True)
class EpsilonHistogramInfo:
    """`counts` of samples by bin, the last one open; `weights` is H of each bin, 0 for the open
    one; `bound` is ln(N − 1).
    """

    title: str
    family: str
    counts: tuple[int, ...]
    weights: tuple[float, ...]
    missing: int  # samples without ε
    bound: float
    models: int


def epsilon_histogram_info(
    title: str, family: str, counts: Sequence[int], *, missing: int, models: int
) -> EpsilonHistogramInfo:
    bins = len(counts) - 1
    weights = (*(2.0**-place for place in range(bins)), 0.0)
    return EpsilonHistogramInfo(
        title, family, tuple(counts), weights, missing, math.log(models - 1), models
    )


def draw(info: EpsilonHistogramInfo, *, dark: bool) -> go.Figure:
    look, style = theme.ground(dark), theme.family_style(info.family)
    bins = len(info.counts) - 1
    places = [BIN * (place + 0.5) for place in range(bins + 1)]
    names = [f"{BIN * place:g} to {BIN * (place + 1):g}" for place in range(bins)] + [
        f"{BIN * bins:g} and more"
    ]
    figure = axes.figure(dark=dark)
    figure.add_trace(
        go.Bar(
            x=places,
            y=list(info.counts),
            width=0.92 * BIN,
            marker={
                "color": style.color(dark),
                "pattern": {
                    "shape": [""] * bins + ["/"],
                    "fgcolor": look.background,
                    "fillmode": "overlay",
                },
            },
            customdata=[
                [name, f"{weight:.3g}"] for name, weight in zip(names, info.weights, strict=True)
            ],
            hovertemplate="ε %{customdata[0]}<br><b>%{y} samples</b><br>each counts "
            "%{customdata[1]}<extra></extra>",
            showlegend=False,
        )
    )
    figure.add_vline(x=info.bound, line={"dash": "dash", "width": 1.2, "color": look.text})
    right = info.bound > 0.6 * BIN * bins
    axes.write(
        figure,
        f"largest finite ε, {info.bound:.1f}",
        look.muted,
        x=info.bound,
        y=1.0,
        yref="paper",
        yanchor="bottom",
        xanchor="right" if right else "left",
    )
    ticks = [BIN * place for place in range(0, bins, 2)]
    figure.update_xaxes(
        title="ε of a sample, nats: 0 is ideal",
        tickvals=[*ticks, places[-1]],
        ticktext=[*(f"{tick:g}" for tick in ticks), f"{BIN * bins:g}+"],
        range=[-0.1, BIN * (bins + 1) + 0.1],
        showgrid=False,
    )
    figure.update_yaxes(title="Forgotten samples", rangemode="tozero")
    figure.update_layout(height=340, bargap=0, margin={"t": 30})
    return figure


def alt_text(info: EpsilonHistogramInfo) -> str:
    """The figure in words."""
    certain, total = info.counts[-1], sum(info.counts)
    low = info.counts[0] + info.counts[1]
    return (
        f"Histogram of ε over {total} forgotten samples of {info.title}: {low} lie below 1, "
        f"{certain} beyond the last bin. With {info.models} models of each kind no finite ε above "
        f"{info.bound:.1f} can be seen."
    )
