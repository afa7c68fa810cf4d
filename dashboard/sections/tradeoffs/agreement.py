"""Where metrics agree on the order of methods, and where they do not."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import state
from dashboard.charts import agreement
from dashboard.frames import Answer
from dashboard.frames import tradeoffs as tradeoffs_frames
from dashboard.sections.tradeoffs import shared
from dashboard.text import labels, units
from dashboard.widgets import figures, header
from mucore.statistics import Statistics


def show(found: Statistics, runs: pd.DataFrame, answers: st.delta_generator.DeltaGenerator) -> None:
    pairs = tradeoffs_frames.extremes(found.tau)
    if pairs is None:
        shared.missing(found, runs, "No rank agreement", "Launch more methods")
        return
    least, most = (
        f"{tradeoffs_frames.short_name(a)} and {tradeoffs_frames.short_name(b)}"
        for a, b, _ in pairs
    )
    low, high = (labels.number(tau, "ratio") for _, _, tau in pairs)
    settings = found.agreement["setting"].nunique()
    with answers:
        header.statement(tradeoffs_frames.disagreement_text(found.tau, found.agreement))
        header.answers(
            [
                Answer("Agree least", least, f"τ = {low}"),
                Answer("Agree most", most, f"τ = {high}"),
                Answer(
                    "Rests on",
                    units.count(settings, "scenario"),
                    "τ is the mean over them, seeds averaged first",
                ),
            ]
        )
    st.caption(
        "Look for orange: there, the choice of metric decides which method wins. Empty cells: too "
        "few methods, or all alike."
    )
    heads = [tradeoffs_frames.short_name(name) for name in found.tau.columns]
    info = agreement.agreement_info(
        heads, found.tau.to_numpy(dtype=float), what="Kendall's τ", signed=True
    )
    figure = agreement.draw(info, dark=state.dark())
    figures.chart(figure, "metric_agreement", alt=agreement.alt_text(info))
    figures.numbers(tradeoffs_frames.tau_frame(found.tau), "agreement-of-metrics", figure)
