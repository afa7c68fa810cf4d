"""What a request takes if many come: preparation shared out over them, Retrain at 1."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, end_labels, families, references
from dashboard.frames.tradeoffs.upkeep import MANY, each

# where lines are drawn through: enough for a smooth bend on a logarithmic scale
REQUESTS = tuple(sorted({round(10 ** (place / 10)) for place in range(31)}))
NAMED = 10  # names at the right end that fit
HEIGHT, BOTTOM = 460, 46


def draw(found: pd.DataFrame, *, dark: bool, selected: str = "") -> go.Figure:
    """Curves of `frames.tradeoffs.upkeep` over requests on two logarithmic scales. In colour are
    methods that prepare something and those that are cheapest somewhere; `selected` is the key of
    the run whose curve is drawn thicker.
    """
    look, figure = theme.ground(dark), axes.figure(dark=dark)
    costs = each(found, REQUESTS)
    vivid = (found["once"] > 0) | found.index.isin(costs.idxmin(axis=1))
    colors = [
        theme.family_style(family).color(dark) if mine else look.muted
        for family, mine in zip(found["family"], vivid, strict=True)
    ]
    drawn = found.assign(vivid=vivid, color=colors, last=costs.loc[MANY])
    for line in drawn.sort_values("vivid", kind="stable").reset_index().to_dict("records"):
        pays = (
            "never takes less than Retrain"
            if np.isnan(line["pays"])
            else f"less than Retrain from request {line['pays']:,.0f}"
        )
        dash = families.dash(line["family"])
        thick = 3.5 if line["key"] == selected else 2 if line["vivid"] else 1
        figure.add_trace(
            go.Scatter(
                x=REQUESTS,
                y=costs[line["title"]],
                name=line["title"],
                mode="lines",
                opacity=1.0 if line["vivid"] else 0.5,
                line={"color": line["color"], "width": thick, "dash": dash},
                customdata=[[line["key"]]] * len(REQUESTS),
                hovertemplate=f"<b>{line['title']}</b> {line['verdict']}<br>"
                f"%{{x:,}} requests: %{{y:.3g}} Retrains each<br>{pays}<extra></extra>",
                showlegend=False,
            )
        )
    figure.add_hline(y=1.0, line=references.line("Retrain", look, 1.4))
    axes.write(figure, "Retrain", look.muted, x=0, xref="x domain", xanchor="left", y=0, yshift=9)
    named = drawn.sort_values(["vivid", "last"], ascending=[False, True])[:NAMED]
    span = axes.padded([*np.log10(costs.to_numpy().clip(1e-9)).flat, 0.0], 0.06, 0.2)
    ends = np.log10(named["last"].clip(lower=1e-9))
    names = list(zip(ends, named.index, named["color"], strict=True))
    end_labels.write(figure, np.log10(MANY), names, span, HEIGHT - 8 - BOTTOM, look)
    figure.update_xaxes(
        type="log", title="Requests (log)", tickformat=",", dtick=1, range=[-0.05, 3.03]
    )
    figure.update_yaxes(type="log", title="Cost per request in Retrains (log)", dtick=1, range=span)
    right = end_labels.margin([*named.index])
    figure.update_layout(
        height=HEIGHT, margin={"t": 8, "r": right, "b": BOTTOM}, hovermode="closest"
    )
    return figure


def alt_text(found: pd.DataFrame) -> str:
    """The figure in words."""
    last = each(found, [MANY]).loc[MANY]
    return (
        f"Curves of {len(found)} methods over 1 to {MANY:,} requests, Retrain at 1. "
        f"{(found['once'] > 0).sum()} fall, because they prepare something once. At the right end "
        f"{last.idxmin()} is lowest with {last.min():.3g} Retrains for each request."
    )
