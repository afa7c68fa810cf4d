"""Who is least exposed on one forget set."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import state
from dashboard.charts import efficacy_rank
from dashboard.charts.parts import noise
from dashboard.text import units
from dashboard.text.labels import short_id
from dashboard.widgets import clicks, figures
from dashboard.widgets.markdown import escape, metric_help


def show(frame: pd.DataFrame, sets: Sequence[str], labels: dict[str, str]) -> str:
    """The ranking on one forget set, chosen here; gives that set."""
    st.subheader("Who is least exposed", anchor=False, help=metric_help("efficacy_bound"))
    ids = {short_id(name): name for name in sets}
    chosen = state.select(
        "Forget set",
        "set",
        list(ids),
        default=short_id(fullest(frame, sets)),
        format_func=lambda name: labels[ids[name]],
    )
    here = frame[frame["set"] == ids[chosen]]
    info = efficacy_rank.efficacy_rank_info(here)
    grey = (
        " Grey marks: not known to have forgotten; point at one for its verdict."
        if any(mark.grey for mark in info.marks)
        else ""
    )
    strip = f" {noise.SAID}" if info.noise else ""
    st.caption(
        "After Figure 2, lowest on top. Lower than Retrain is no gain: a damaged model has large "
        f"gradients everywhere.{grey}{strip}"
    )
    if not info.marks:
        st.markdown(
            "No run on this forget set has an efficacy of its own. The bound is in the figure "
            "above."
        )
        return ids[chosen]
    figure = efficacy_rank.draw(info, dark=state.dark(), selected=state.param("run"))
    clicks.chart(figure, "efficacy_rank", alt=efficacy_rank.alt_text(info))
    count = units.count(len(info.seeds), "training seed")
    half = f"Means over {count}" + (
        " that all of them share" if info.shared else ", which differ from method to method"
    )
    half += "; bars: 95 % t-interval." if len(info.seeds) > 1 else ", so no interval."
    out = f" Without a number: {', '.join(info.missing)}." if info.missing else ""
    st.caption(escape(half + out))
    table = pd.DataFrame(
        [
            (mark.title, mark.said, mark.mean, mark.half, mark.bound, len(mark.keys))
            for mark in info.marks
        ],
        columns=[
            "Method",
            "Verdict",
            "Efficacy (log10)",
            "95 % half width",
            "Bound (log10)",
            "Runs",
        ],
    )
    figures.numbers(table, f"efficacy-ranking-{chosen}", figure, of="ranking")
    return ids[chosen]


def fullest(frame: pd.DataFrame, sets: Sequence[str]) -> str:
    """The forget set with most methods; of equals the largest."""
    known = frame[frame["efficacy"].notna()]
    methods = known.groupby("set")["row"].nunique()
    return max(sets, key=lambda name: (int(methods.get(name, 0)), sets.index(name)))
