"""ROC curve of one attack on one run: forgotten samples against test samples, with Retrain's
(dashed) and Original's (dotted) beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, references
from dashboard.frames.membership import Scored, count
from mucore.metrics import membership

LOW_RATES = {rate: f"{100 * rate:g} %" for rate in membership.LOW_RATES}


@dataclass(frozen=True)
class Curve:
    """Rates in percent from (0, 0) to (100, 100), and what one number says of them; `at` maps
    false-positive rates to true-positive, those that the negatives are enough for.
    """

    name: str
    false: tuple[float, ...]
    true: tuple[float, ...]
    auc: float
    at: Mapping[float, float]


@dataclass(frozen=True)
class RocInfo:
    run: Curve
    references: tuple[Curve, ...]
    operating: tuple[float, float]  # (FPR, TPR) in percent at the threshold
    negatives: int  # test samples behind the curve: rates below 1 / negatives cannot be told from 0


def roc_info(
    run: Scored, *, title: str, threshold: float, references: Mapping[str, Scored]
) -> RocInfo:
    """`threshold` is a position; `references` maps names to the same attack on other models."""
    counts = count(run, threshold)
    return RocInfo(
        run=_curve(title, run),
        references=tuple(_curve(name, scored) for name, scored in references.items()),
        operating=(100 * counts.fpr, 100 * counts.tpr),
        negatives=len(run.negatives),
    )


def _curve(name: str, scored: Scored) -> Curve:
    scores = {"positives": scored.forget, "negatives": scored.negatives}
    false, true = membership.roc(**scores)
    at = {
        rate: 100 * membership.tpr_at_fpr(**scores, fpr=rate)
        for rate in LOW_RATES
        if rate * len(scored.negatives) >= 1
    }
    return Curve(name, tuple(100 * false), tuple(100 * true), 100 * membership.auc(**scores), at)


def draw(info: RocInfo, *, family: str, dark: bool, log: bool = True) -> go.Figure:
    """The curves as steps; on the log axis a rate of 0 stands at the left edge."""
    look = theme.ground(dark)
    color = theme.family_style(family).color(dark)
    edge = min(0.05, 50 / info.negatives)  # percent
    figure = axes.figure(dark=dark)
    steps = np.geomspace(edge, 100, 60) if log else np.array([0.0, 100.0])
    figure.add_trace(
        go.Scatter(
            x=steps,
            y=steps,
            name="Guess",
            mode="lines",
            line={"color": look.muted, "width": 1},
            hoverinfo="skip",
        )
    )
    for curve in info.references:
        figure.add_trace(
            _line(
                curve,
                {
                    "color": look.text,
                    "width": 1.4,
                    "dash": references.DASHES.get(curve.name, "solid"),
                },
                edge if log else 0.0,
            )
        )
    if info.run.name not in references.DASHES:
        figure.add_trace(_line(info.run, {"color": color, "width": 2.6}, edge if log else 0.0))
    for rate, true in info.run.at.items():
        figure.add_vline(x=100 * rate, line={"width": 1, "color": look.grid, "dash": "solid"})
        figure.add_trace(
            go.Scatter(
                x=[100 * rate],
                y=[true],
                mode="markers+text" if log else "markers",
                text=[f"{true:.1f} %"],
                textposition="top left",
                textfont={"color": look.text, "size": 12},
                marker={"symbol": "diamond-open", "size": 11, "color": color, "line": {"width": 2}},
                hovertemplate=f"{info.run.name}<br>TPR %{{y:.1f}} % at {LOW_RATES[rate]} FPR"
                "<extra></extra>",
                showlegend=False,
            )
        )
    figure.add_trace(
        go.Scatter(
            x=[max(info.operating[0], edge) if log else info.operating[0]],
            y=[info.operating[1]],
            name="Threshold",
            mode="markers",
            marker={
                "symbol": "x",
                "size": 12,
                "color": look.primary,
                "line": {"width": 1, "color": look.background},
            },
            hovertemplate="Threshold: TPR %{y:.1f} %, FPR "
            + f"{info.operating[0]:.1f} %<extra></extra>",
        )
    )
    title = "FPR: test samples called seen, %"
    if log:
        ticks = [value for value in (0.01, 0.1, 1, 10, 100) if value >= edge]
        span = [float(np.log10(edge)), 2.03]
        figure.update_xaxes(
            type="log",
            range=span,
            tickvals=ticks,
            ticktext=[f"{value:g}" for value in ticks],
            title=f"{title} (log scale)",
        )
    else:
        figure.update_xaxes(range=[-2, 102], title=title, zeroline=False)
    figure.update_yaxes(
        range=[-3, 106], title="TPR: forgotten samples called seen, %", zeroline=False
    )
    figure.update_layout(height=400, legend=axes.above(1.02), margin={"t": 44})
    return figure


def _line(curve: Curve, line: dict, edge: float) -> go.Scatter:
    return go.Scatter(
        x=np.maximum(curve.false, edge),
        y=np.array(curve.true),  # an array: plotly checks lists item by item
        name=curve.name,
        mode="lines",
        line=line | {"shape": "hv"},
        customdata=np.array(curve.false),
        hovertemplate=f"<b>{curve.name}</b><br>TPR %{{y:.1f}} % at %{{customdata:.2f}} % "
        "FPR<extra></extra>",
    )


def table(info: RocInfo) -> pd.DataFrame:
    """The curves as a table, a corner a line, rates in percent; the area under each curve stands in
    all of its lines.
    """
    curves = [info.run, *(curve for curve in info.references if curve.name != info.run.name)]
    lines = [
        (curve.name, x, y, curve.auc)
        for curve in curves
        for x, y in zip(curve.false, curve.true, strict=True)
    ]
    return pd.DataFrame(lines, columns=["Model", "FPR (%)", "TPR (%)", "Area (%)"])


def alt_text(info: RocInfo) -> str:
    others = "".join(
        f" {curve.name} has {curve.auc:.1f} %."
        for curve in info.references
        if curve.name != info.run.name
    )
    low = "".join(
        f", TPR {true:.1f} % at {LOW_RATES[rate]} false positives"
        for rate, true in info.run.at.items()
    )
    return (
        f"ROC curve of {info.run.name}, forgotten against test samples: area {info.run.auc:.1f} "
        f"%{low}.{others} The threshold stands at {info.operating[1]:.1f} % "
        f"true and {info.operating[0]:.1f} % false positives."
    )
