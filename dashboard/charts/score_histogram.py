"""Scores of one attack on one run as three histograms: forget filled, retain and test as outlines,
with the threshold as a line.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, histogram, score_axis
from dashboard.frames.membership import Scored, natural, two_values

BINS = 40
AXES = {
    "correctness": "Prediction",
    "confidence": "Probability of the true class (log-odds scale)<br>right is more like training",
    "entropy": "Entropy of the prediction in nats (log scale)<br>right is more like training",
    "m_entropy": "Modified entropy in nats (log scale)<br>right is more like training",
    "prob": "Decision value of the attack<br>right is more like training",
}


@dataclass(frozen=True)
class ScoreHistogramInfo:
    """Shares of each split in percent, one a bin; `edges` has one more entry than a split has
    bins.
    """

    attack: str
    edges: tuple[float, ...]
    forget: tuple[float, ...]
    retain: tuple[float, ...]
    test: tuple[float, ...]
    threshold: float
    seen: float  # percent of the forget set on or above the threshold


def score_histogram_info(
    scored: Scored, *, threshold: float, span: tuple[float, float]
) -> ScoreHistogramInfo:
    """`span` are the positions that the axis covers; bins have equal widths there, two of them for
    right and wrong.
    """
    edges = np.array([-0.5, 0.5, 1.5]) if two_values(scored) else np.linspace(*span, BINS + 1)
    shares = {
        name: tuple(histogram.shares(values, edges)) for name, values in scored.positions.items()
    }
    seen = 100 * float(np.mean(scored.forget >= threshold))
    return ScoreHistogramInfo(
        scored.attack,
        tuple(edges),
        shares["forget"],
        shares["retain"],
        shares["test"],
        threshold,
        seen,
    )


def draw(info: ScoreHistogramInfo, *, dark: bool) -> go.Figure:
    look = theme.ground(dark)
    edges = np.array(info.edges)
    figure = axes.figure(dark=dark)
    ranges = [
        f"{natural(info.attack, low)} to {natural(info.attack, high)}"
        for low, high in zip(edges[:-1], edges[1:], strict=True)
    ]
    if info.attack == "correctness" and len(ranges) == 2:
        ranges = ["wrong", "right"]
    figure.add_trace(
        histogram.bars(
            edges,
            info.forget,
            theme.family_style("gradient_ascent").color(dark),
            name="Forget",
            customdata=ranges,
            hovertemplate="Forget, %{customdata}<br>%{y:.1f} %<extra></extra>",
        )
    )
    for name, shares, line in (
        (
            "Retain",
            info.retain,
            {"color": theme.family_style("influence").color(dark), "width": 1.8},
        ),
        ("Test", info.test, {"color": look.text, "width": 1.8, "dash": "4px,3px"}),
    ):
        figure.add_trace(
            histogram.outline(
                edges,
                shares,
                name=name,
                line=line,
                customdata=histogram.steps(ranges),
                hovertemplate=f"{name}, %{{customdata}}<br>%{{y:.1f}} %<extra></extra>",
            )
        )
    figure.add_vline(x=info.threshold, line={"color": look.primary, "width": 2})
    middle_of_axis = (edges[0] + edges[-1]) / 2
    left = info.threshold > middle_of_axis
    axes.write(
        figure,
        "seen to the right",
        look.primary,
        x=info.threshold,
        y=1,
        yref="paper",
        yanchor="bottom",
        xanchor="right" if left else "left",
    )
    places = score_axis.ticks(info.attack, float(edges[0]), float(edges[-1]))
    if places:
        figure.update_xaxes(
            tickvals=[place for place, _ in places], ticktext=[text for _, text in places]
        )
    figure.update_xaxes(title=AXES[info.attack], range=[edges[0], edges[-1]], zeroline=False)
    figure.update_yaxes(title="Share of the set, %", rangemode="tozero", zeroline=False)
    figure.update_layout(height=400, bargap=0, legend=axes.above(1.07), margin={"t": 62})
    return figure


def table(info: ScoreHistogramInfo) -> pd.DataFrame:
    """The histograms as a table: a bin a line, its ends in the attack's own unit and as positions
    on the axis, shares in percent.
    """
    low, high = info.edges[:-1], info.edges[1:]
    columns = {
        "From": [natural(info.attack, place) for place in low],
        "To": [natural(info.attack, place) for place in high],
        "From, on the axis": low,
        "To, on the axis": high,
        "Forget (%)": info.forget,
        "Retain (%)": info.retain,
        "Test (%)": info.test,
    }
    return pd.DataFrame(columns)


def alt_text(info: ScoreHistogramInfo) -> str:
    return (
        f"Histograms of the {info.attack.replace('_', ' ')} score of forgotten, retained and test "
        f"samples; {info.seen:.1f} % of the forget set lie above the threshold and count as seen."
    )
