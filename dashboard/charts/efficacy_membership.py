"""Efficacy against membership inference, one mark a run (Becker & Liebig, Figures 4 and 8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts import decades
from dashboard.efficacy_frames import UNTRAINED
from mucore import catalog


@dataclass(frozen=True)
class Mark:
    """One run: exponent of its efficacy, and the percent of its forget set that the attack calls seen."""

    key: str
    title: str
    family: str
    label: str  # forget set and seed
    x: float
    y: float


@dataclass(frozen=True)
class EfficacyMembershipInfo:
    marks: tuple[Mark, ...]
    missing: int  # runs that lack one of the two numbers


def efficacy_membership_info(frame: pd.DataFrame, *, attack: str, labels: Mapping[str, str]) -> EfficacyMembershipInfo:
    """From `efficacy_frames.run_frame`; `labels` names the forget sets."""
    runs = frame[frame["method"] != UNTRAINED]
    known = runs[runs["efficacy"].notna() & runs[f"seen_{attack}"].notna()]
    marks = tuple(
        Mark(str(key), str(title), str(family), f"{labels.get(name, name)}, seed {seed}", float(x), 100 * float(y))
        for key, title, family, name, seed, x, y in zip(
            *(known[column] for column in ("key", "title", "family", "set", "training_seed", "efficacy", f"seen_{attack}")), strict=True
        )
    )
    return EfficacyMembershipInfo(marks, len(runs) - len(known))


def draw(info: EfficacyMembershipInfo, *, attack: str, dark: bool, selected: str = "") -> go.Figure:
    """The scatter; `attack` names the attack on the y axis, `selected` is the run to ring."""
    figure = go.Figure(layout={"template": theme.template(dark)})
    groups = [(catalog.FAMILIES[f], f, [m for m in info.marks if m.family == f]) for f in catalog.FAMILIES if f != "reference"]
    groups += [
        (name, "reference", [m for m in info.marks if m.family == "reference" and m.title.startswith(name)])
        for name in ("Retrain", "Original")
    ]
    for name, family, mine in groups:
        if not mine:
            continue
        style = theme.family_style(family)
        color = style.color(dark)
        figure.add_trace(
            go.Scatter(
                x=np.array([mark.x for mark in mine]),
                y=np.array([mark.y for mark in mine]),
                name=name,
                mode="markers",
                # an array: plotly checks lists item by item, which thousands of runs would feel
                customdata=np.array([(mark.key, mark.title, mark.label) for mark in mine], dtype=object),
                marker={
                    "symbol": "circle-open" if name == "Original" else style.symbol,
                    "size": 9,
                    "color": color,
                    "opacity": 0.8,
                    "line": {"width": 2 if name == "Original" else 0, "color": color},
                },
                hovertemplate=(
                    "<b>%{customdata[1]}</b>, %{customdata[2]}<br>efficacy 10<sup>%{x:.2f}</sup><br>%{y:.1f} % called seen<extra></extra>"
                ),
            )
        )
    figure.add_traces([decades.ring(mark.x, mark.y, dark) for mark in info.marks if mark.key == selected])
    if info.marks:
        span = decades.span([mark.x for mark in info.marks])
        figure.update_xaxes(title="Efficacy (log scale): lower is less exposed", **decades.axis(*span))
    figure.update_yaxes(title=f"Forget set called seen by {attack}, %", range=[-5, 105], zeroline=False)
    # the legend stands one family a line in a narrow column, so the figure grows with it
    legend = {"orientation": "h", "y": -0.18, "yanchor": "top", "x": 0, "itemsizing": "constant"}
    figure.update_layout(height=390 + 20 * sum(trace.showlegend is not False for trace in figure.data), legend=legend, margin={"t": 12})
    return figure


def alt_text(info: EfficacyMembershipInfo) -> str:
    if not info.marks:
        return "Scatter of efficacy against membership inference; no run has both."
    return (
        f"Scatter of {len(info.marks)} runs: efficacy on a log scale from 10^{min(m.x for m in info.marks):.1f} to "
        f"10^{max(m.x for m in info.marks):.1f}, share of the forget set called seen from {min(m.y for m in info.marks):.1f} % to "
        f"{max(m.y for m in info.marks):.1f} %."
    )
