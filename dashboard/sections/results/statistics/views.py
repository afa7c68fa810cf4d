"""Average ranks, agreement of metrics, and paired tests of methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pandas as pd
import streamlit as st

from dashboard import state
from dashboard.charts import agreement, critical_difference
from dashboard.frames import tradeoffs as tradeoffs_frames
from dashboard.widgets import clicks, columns, figures, presenting
from dashboard.widgets.markdown import escape
from mucore.statistics import Statistics

# of a view that has nothing to show how the note begins that says why, and what helps
MISSING: Final = {
    "ranks": ("No average ranks", "Launch more scenarios"),
    "agreement": ("No rank agreement", "Launch more methods"),
    "tests": ("No paired test", "Launch more seeds"),
}
TAU: Final = "Kendall's τ"


def is_missing(view: str, found: Statistics) -> bool:
    if view == "agreement":  # each metric agrees with itself
        return found.tau.notna().to_numpy().sum() <= len(found.tau)
    return found.ranking is None if view == "ranks" else found.pairs.empty


def show_ranks(found: Statistics, keys: Mapping[str, str], forgot: Mapping[str, int]) -> None:
    """Average ranks over scenarios, and which of them chance may explain."""
    ranking = found.ranking
    assert ranking is not None
    names = {name: tradeoffs_frames.line_title(name) for name in ranking.ranks}
    figure = critical_difference.draw(
        ranking, names, keys, forgot, dark=state.dark(), selected=state.param("run")
    )
    alt = critical_difference.alt_text(ranking, names)
    clicks.chart(figure, "critical_difference", alt=alt)
    st.caption("A bar joins ranks that may differ by chance. Grey: forgot in no scenario.")
    numbers = tradeoffs_frames.ranks_frame(ranking, forgot)
    figures.numbers(numbers, f"ranks-{found.metric}", figure)


def show_agreement(found: Statistics) -> None:
    """Where metrics agree on the order of methods, and where they do not."""
    heads = [tradeoffs_frames.short_name(name) for name in found.tau.columns]
    square = pd.DataFrame(found.tau.to_numpy(dtype=float), heads, heads)
    figure = agreement.draw(square, TAU, signed=True, dark=state.dark())
    with st.container(key="sideways_agreement"):  # a phone scrolls it sideways
        alt = agreement.alt_text(square, TAU, signed=True)
        figures.chart(figure, "metric_agreement", alt=alt)
    table = square.round(3).rename_axis("Metric").reset_index()
    figures.numbers(table, "agreement-of-metrics", figure)


def show_tests(found: Statistics, forgot: Mapping[str, int]) -> None:
    """Which two methods differ by more than chance in one metric."""
    frame = tradeoffs_frames.pairs_frame(found, forgot)
    hopeless = next((note for note in found.notes if note.startswith("No paired test can")), "")
    if hopeless:
        st.caption(escape(hopeless))
    settings = {
        frame.columns[3]: st.column_config.NumberColumn(format="%.2f"),
        "p": st.column_config.NumberColumn(format="%.2g", help="For this pair alone."),
        "p (Holm)": st.column_config.NumberColumn(
            format="%.2g", help="Corrected for all pairs; use this one."
        ),
    }
    presenting.dataframe(
        frame,
        "paired_tests",
        alt="Pairs of methods, the surest difference first.",
        hide_index=True,
        column_config=columns.aligned(frame, settings),
        height=min(560, 38 + 35 * len(frame)),
    )
    figures.numbers(frame, f"tests-{found.metric}")
