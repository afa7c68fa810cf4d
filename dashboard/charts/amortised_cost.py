"""What a request takes if many come: preparation shared out over them, Retrain at 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, end_labels, families, references
from dashboard.frames.tradeoffs.upkeep import MANY, Upkeep, cheapest
from dashboard.text import verdicts

# where lines are drawn through: enough for a smooth bend on a logarithmic scale
REQUESTS = tuple(sorted({round(10 ** (place / 10)) for place in range(31)}))
NAMED = 10  # names at the right end that fit
HEIGHT, BOTTOM = 460, 46


@dataclass(frozen=True)
class Curve:
    """`each` is the cost of a request over `REQUESTS`, in Retrains; `vivid` ones are in colour."""

    row: str
    key: str
    title: str
    family: str
    said: str
    once: float
    each: tuple[float, ...]
    pays_from: int | None
    vivid: bool


@dataclass(frozen=True)
class AmortisedCostInfo:
    curves: tuple[Curve, ...]


def amortised_cost_info(lines: Sequence[Upkeep]) -> AmortisedCostInfo:
    """A curve a line. In colour are those that prepare something and those that are cheapest
    somewhere.
    """
    best = {line.row.id for n in REQUESTS if (line := cheapest(lines, n)) is not None}
    return AmortisedCostInfo(
        tuple(
            Curve(
                row=line.row.id,
                key=line.row.keys[0],
                title=line.row.title,
                family=line.row.family,
                said="" if line.row.verdict is None else verdicts.text(line.row.verdict),
                once=line.once,
                each=tuple(line.each(n) for n in REQUESTS),
                pays_from=line.pays_from(),
                vivid=line.once > 0 or line.row.id in best,
            )
            for line in lines
        )
    )


def draw(info: AmortisedCostInfo, *, dark: bool, selected: str = "") -> go.Figure:
    """Curves over requests on two logarithmic scales; a cross where one begins to take less than
    Retrain. `selected` is the key of the run whose curve is drawn thicker.
    """
    look = theme.ground(dark)
    figure = axes.figure(dark=dark)
    for curve in sorted(info.curves, key=lambda curve: curve.vivid):
        style = theme.family_style(curve.family)
        color = _color(curve, look, dark)
        pays = (
            "never takes less than Retrain"
            if curve.pays_from is None
            else f"less than Retrain from request {curve.pays_from:,}"
        )
        figure.add_trace(
            go.Scatter(
                x=REQUESTS,
                y=curve.each,
                name=curve.title,
                mode="lines+markers",
                opacity=1.0 if curve.vivid else 0.5,
                line={
                    "color": color,
                    "width": 3.5 if curve.key == selected else 2 if curve.vivid else 1,
                    "dash": families.dash(curve.family),
                },
                marker={
                    "symbol": style.symbol,
                    "color": color,
                    "size": [8 if n in (1, 10, 100, MANY) else 0 for n in REQUESTS],
                },
                customdata=[[curve.key, curve.said] for _ in REQUESTS],
                hovertemplate=(
                    f"<b>{curve.title}</b>{f' ({curve.said})' if curve.said else ''}<br>"
                    "%{x:,} requests: %{y:.3g} Retrains each<br>"
                    f"{pays}<extra></extra>"
                ),
                showlegend=False,
            )
        )
    figure.add_hline(y=1.0, line=references.line("Retrain", look, 1.4))
    axes.write(figure, "Retrain", look.muted, x=0, xref="x domain", xanchor="left", y=0, yshift=9)
    named = sorted(info.curves, key=lambda c: (not c.vivid, c.each[-1]))[:NAMED]
    every = [math.log10(max(value, 1e-9)) for curve in info.curves for value in curve.each]
    span = axes.padded([*every, 0.0], 0.06, 0.2)
    end_labels.write(
        figure,
        math.log10(MANY),
        [
            (math.log10(max(curve.each[-1], 1e-9)), curve.title, _color(curve, look, dark))
            for curve in named
        ],
        span,
        HEIGHT - 8 - BOTTOM,
        look,
    )
    figure.update_xaxes(
        type="log", title="Requests (log)", tickformat=",", dtick=1, range=[-0.05, 3.03]
    )
    figure.update_yaxes(type="log", title="Retrains for each request (log)", dtick=1, range=span)
    right = end_labels.margin([curve.title for curve in named])
    figure.update_layout(
        height=HEIGHT, margin={"t": 8, "r": right, "b": BOTTOM}, hovermode="closest"
    )
    return figure


def _color(curve: Curve, look: theme.Ground, dark: bool) -> str:
    return theme.family_style(curve.family).color(dark) if curve.vivid else look.muted


def alt_text(info: AmortisedCostInfo) -> str:
    """The figure in words."""
    if not info.curves:
        return "Cost of a request over many; no method has all its costs measured."
    falling = [curve for curve in info.curves if curve.once > 0]
    low = min(info.curves, key=lambda curve: curve.each[-1])
    return (
        f"Curves of {len(info.curves)} methods over 1 to {MANY:,} requests, Retrain at 1. "
        f"{len(falling)} fall, because they prepare something once. At the right end {low.title} "
        f"is lowest with {low.each[-1]:.3g} Retrains for each request."
    )
