"""Methods in two figures: NoMUS, and the forgetting score."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import frames, state
from dashboard.charts import nomus_scatter, score_bars
from dashboard.charts.parts import noise
from dashboard.frames import Row
from dashboard.frames.identity import Paper
from dashboard.widgets import clicks, figures
from dashboard.widgets.markdown import escape, metric_help

# lines up to which the bars are about as high as the figure beside them; with more they stand below
# it
BESIDE = 20


def show(rows: Sequence[Row], paper: Paper | None) -> go.Figure | None:
    left, right = (
        st.columns([56, 44], gap="medium")
        if len(rows) <= BESIDE
        else (st.container(), st.container())
    )
    known = frames.noise(rows, "forgetting_score") is not None
    with left:
        st.caption(
            "NoMUS grows to the upper left and stays the same along a line. The star is Retrain, "
            f"the ring the untouched original. {noise.SAID if known else ''}".strip(),
            help=metric_help("nomus"),
        )
        figure = show_scatter(rows, paper)
    with right:
        st.caption(
            "How well an attack tells forgotten persons from unseen ones: the nearer to Retrain's "
            f"dashed line, the better. {noise.SAID if known else ''}".strip(),
            help=metric_help("forgetting_score"),
        )
        show_bars(rows)
    return figure


def show_scatter(rows: Sequence[Row], paper: Paper | None) -> go.Figure | None:
    ghosts = []
    if paper is not None:
        for method in paper.methods:
            x, y = paper.value(method, "forgetting_score"), paper.value(method, "ta")
            if x is not None and y is not None:
                ghosts.append((method, x, y))
    info = nomus_scatter.nomus_scatter_info(rows, ghosts)
    if not info.marks:
        st.markdown(
            "No run has a forgetting score yet. It needs ten images of forgotten persons and of "
            "persons that nobody has seen."
        )
        return None
    figure = nomus_scatter.draw(info, dark=state.dark(), selected=state.param("run"))
    clicks.chart(figure, "nomus_scatter", alt=nomus_scatter.alt_text(info))
    if info.missing:
        st.caption(escape(f"Not drawn, because a number is missing: {', '.join(info.missing)}."))
    return figure


def show_bars(rows: Sequence[Row]) -> None:
    bars, lines, missing = [], [], []
    for row in rows:
        found = row.cells["forgetting_score"].value
        if found is None:
            missing.append(row.title)
        elif row.reference:
            lines.append(
                score_bars.Line(row.title, found.mean, "dash" if row.method == "retrain" else "dot")
            )
        else:
            bars.append(
                score_bars.Bar(
                    row.title,
                    row.family,
                    found.mean,
                    row.keys[0],
                    found.half,
                    note=frames.verdict_text(row),
                )
            )
    axis = "Forgetting score: 0 is a guess"
    retrain = next((line.value for line in lines if line.dash == "dash"), None)
    grey = noise.around(retrain, frames.noise(rows, "forgetting_score"))
    info = score_bars.score_bars_info(
        bars, lines=lines, axis=axis, digits=3, best="first", missing=missing, noise=grey
    )
    if not info.bars:
        st.markdown("No method has a forgetting score yet.")
        return
    figure = score_bars.draw(info, dark=state.dark(), selected=state.param("run"))
    clicks.chart(figure, "score_bars", alt=score_bars.alt_text(info))
    table = pd.DataFrame(
        [(bar.title, bar.value, bar.half, bar.key) for bar in info.bars]
        + [(line.name, line.value, None, "") for line in info.lines],
        columns=["Method", "Forgetting score", "95 % half width", "Run"],
    )
    figures.numbers(table, "identity-forgetting-scores", figure, of="forgetting scores")
