"""Average ranks over scenarios, and which of them chance may explain."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.charts import critical_difference
from dashboard.frames import tradeoffs as tradeoffs_frames
from dashboard.sections.results.statistics import shared
from dashboard.widgets import clicks, figures, rank_bars
from mucore.statistics import Statistics


def show(found: Statistics, runs: pd.DataFrame, line: st.delta_generator.DeltaGenerator) -> None:
    if found.ranking is None:
        shared.missing(found, runs, "No average ranks", "Launch more scenarios")
        return
    names = {
        name: (tradeoffs_frames.line_title(name), tradeoffs_frames.line_family(name))
        for name in found.ranking.ranks
    }
    forgot = shared.forgot_in(found, runs)
    columns = (found.pairs[name].tolist() for name in ("first", "second", "p_holm"))
    with line:
        ranking, in_pairs = rank_bars.pick(found.ranking, zip(*columns, strict=True))
    info = critical_difference.critical_difference_info(
        ranking, names, line_keys(runs, data.chosen(runs)), forgot, in_pairs=in_pairs
    )
    figure = critical_difference.draw(info, dark=state.dark(), selected=state.param("run"))
    clicks.chart(figure, "critical_difference", alt=critical_difference.alt_text(info))
    hollow = any(method.forgot == 0 for method in info.methods)
    dots = [] if info.whole else ["A bar joins only the methods at its dots."]
    st.caption(" ".join(dots + ["Hollow: forgot in no scenario."] * hollow))
    figures.numbers(tradeoffs_frames.ranks_frame(ranking, forgot), f"ranks-{found.metric}", figure)


@st.cache_data(show_spinner=False, max_entries=16)
def line_keys(_runs: pd.DataFrame, chosen: str) -> dict[str, str]:
    """`frames.tradeoffs.line_keys`; `chosen` says which runs."""
    return tradeoffs_frames.line_keys(shared.labelled(_runs, chosen))
