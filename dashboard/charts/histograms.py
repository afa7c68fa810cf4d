"""Histograms over each other, a panel a model: the first set of samples filled, the others as
outlines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, subplots

COLUMNS: Final = ("panel", "set", "low", "high", "share")


def bins(panels: Mapping[str, Mapping[str, np.ndarray]], edges: np.ndarray) -> pd.DataFrame:
    """A line a bin between `edges` (b + 1,), with percent of the values (n,) of each set in each
    panel; what lies beyond the edges counts in the bins at the ends.
    """
    made = [
        (panel, name, low, high, share)
        for panel, sets in panels.items()
        for name, values in sets.items()
        for counts in [np.histogram(np.clip(values, edges[0], edges[-1]), edges)[0]]
        for low, high, share in zip(edges[:-1], edges[1:], 100 * counts / len(values), strict=True)
    ]
    return pd.DataFrame(made, columns=[*COLUMNS])


def draw(
    bins: pd.DataFrame,
    *,
    axis: str,
    up: str,
    dark: bool,
    cuts: Mapping[float, str] | None = None,
    ticks: Sequence[tuple[float, str]] = (),
) -> go.Figure:
    """`bins` as above; `cuts` are upright lines with words above them, `ticks` places on x."""
    look = theme.ground(dark)
    titles, several = list(bins["panel"].unique()), bins["set"].nunique() > 1
    figure = subplots.figure(
        cols=len(titles),
        shared_yaxes=True,
        horizontal_spacing=0.04,
        subplot_titles=titles,
        dark=dark,
    )
    for column, (_, panel) in enumerate(bins.groupby("panel", sort=False), start=1):
        for place, (name, each) in enumerate(panel.groupby("set", sort=False)):
            trace = _trace(each, place, str(name), dark)
            figure.add_trace(trace.update(showlegend=column == 1 and several), 1, column)
    for place, words in (cuts or {}).items():
        left = place > (bins["low"].min() + bins["high"].max()) / 2
        figure.add_vline(
            x=place,
            line={"color": look.primary, "width": 2},
            annotation={
                "text": words,
                "font": {"size": 12, "color": look.primary},
                "yanchor": "bottom",
            },
            annotation_position="top left" if left else "top right",
        )
    figure.update_xaxes(title=axis, range=[bins["low"].min(), bins["high"].max()], zeroline=False)
    if ticks:
        figure.update_xaxes(
            tickvals=[place for place, _ in ticks], ticktext=[text for _, text in ticks]
        )
    figure.update_yaxes(rangemode="tozero", zeroline=False)
    figure.update_yaxes(title=up, col=1)
    figure.update_layout(height=380, bargap=0, margin={"t": 40}, legend=axes.below(-0.28))
    return figure


def _trace(bins: pd.DataFrame, place: int, name: str, dark: bool) -> go.Bar | go.Scatter:
    """A set, the `place`-th of its panel: bars that outlines shine through, or an outline."""
    look: dict[str, Any] = {
        "name": name,
        "legendgroup": name,
        "hovertemplate": f"{name}<br>%{{y:.3g}}<extra></extra>",
    }
    if place == 0:
        color = theme.family_style("gradient_ascent").color(dark)
        return go.Bar(
            x=(bins["low"] + bins["high"]) / 2,
            y=bins["share"],
            width=bins["high"] - bins["low"],
            marker={"color": color, "opacity": 0.55, "line": {"width": 0}},
            **look,
        )
    color = theme.ground(dark).text if place == 1 else theme.family_style("influence").color(dark)
    dash = "solid" if place == 1 else "4px,3px"
    return go.Scatter(
        x=np.append(bins["low"], bins["high"].iloc[-1]),
        y=np.append(bins["share"], bins["share"].iloc[-1]),
        mode="lines",
        line={"color": color, "width": 1.8, "dash": dash, "shape": "hv"},
        **look,
    )


def alt_text(bins: pd.DataFrame, axis: str) -> str:
    """The figure in words: where most of each set is."""
    tops = bins.loc[bins.groupby(["panel", "set"], sort=False)["share"].idxmax()]
    said = [
        f"most of {name} {f'in {panel} ' if panel else ''}from {low:.2f} to {high:.2f}"
        for panel, name, low, high, _ in tops.itertuples(index=False, name=None)
    ]
    return f"Histograms of {axis}. {'; '.join(said)}."
