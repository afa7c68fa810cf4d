"""A search, setting by setting: what each scored, and the best so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pandas as pd
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, references
from dashboard.frames.method import FEWER, JUDGED, OUT, Found

MARGIN: Final = 1.0  # of the verdict (mucore/tuning/objective.py)
LEAST: Final = 0.05  # a score of 0 has no place on a logarithmic axis
TICKS: Final = (0.05, 0.1, 0.3, 1, 3, 10, 30, 100, 200)
MARKS: Final = {JUDGED: "circle", FEWER: "circle-open", OUT: "x-thin-open"}


@dataclass(frozen=True, eq=False)
class SearchProgressInfo:
    """`tried` as `Found` has it, scores of at least `LEAST`, with the `number` of each setting."""

    tried: pd.DataFrame
    original: float | None


def search_progress_info(one: Found) -> SearchProgressInfo:
    tried = one.tried.assign(number=range(1, len(one.tried) + 1))
    tried[["score", "best"]] = tried[["score", "best"]].clip(lower=LEAST)
    return SearchProgressInfo(tried, one.original)


def draw(info: SearchProgressInfo, *, dark: bool) -> go.Figure:
    look, tried = theme.ground(dark), info.tried
    figure = axes.figure(dark=dark)
    figure.add_trace(
        go.Scatter(
            x=tried["number"],
            y=tried["best"],
            mode="lines",
            line={"shape": "hv", "width": 2, "color": look.primary},
            name="best so far",
            hoverinfo="skip",
        )
    )
    for outcome, symbol in MARKS.items():
        mine = tried[tried["outcome"] == outcome]
        edge = {"width": 1.6, "color": look.text} if outcome != JUDGED else None
        if mine.empty:
            continue
        figure.add_trace(
            go.Scatter(
                x=mine["number"],
                y=mine["score"],
                mode="markers",
                marker={"symbol": symbol, "size": 9, "color": look.primary, "line": edge},
                name=outcome,
                customdata=mine["setting"],
                hovertemplate="setting %{x}: %{y:.3g}<br>%{customdata}<extra></extra>",
            )
        )
    for value, name, dash in (
        (MARGIN, "Margin of the verdict", "solid"),
        (info.original, "Original", references.DASHES["Original"]),
    ):
        if value is not None:
            figure.add_trace(
                go.Scatter(
                    x=[0.5, len(tried) + 0.5],
                    y=[value] * 2,
                    mode="lines",
                    line={"dash": dash, "width": 1.2, "color": look.text},
                    name=name,
                    hoverinfo="skip",
                )
            )
    figure.update_xaxes(title="Setting", tickformat="d", range=[0, len(tried) + 1])
    figure.update_yaxes(
        title="Verdict's margin used (log)",
        type="log",
        tickvals=TICKS,
        ticktext=[f"{value:g}" for value in TICKS],
    )
    figure.update_layout(height=340, margin={"t": 24}, legend=axes.below(-0.22))
    return figure


def alt_text(info: SearchProgressInfo) -> str:
    best = info.tried["best"].min()
    end = "no setting may be chosen" if pd.isna(best) else f"the best has {best:.3g}"
    return (
        f"{len(info.tried)} settings of a search, by the share of the verdict's margin that they "
        f"use up; {end}."
    )
