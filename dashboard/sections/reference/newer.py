"""Papers beyond the five: their tables beside ours, and benchmarks in words."""

from __future__ import annotations

import streamlit as st

from dashboard.papers.newer import BESIDE, DESCRIBED, Beside, Described
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape
from mucore import catalog


def show() -> None:
    st.subheader("Newer papers", anchor=False)
    st.caption("Their printed tables stand beside our results where the scenario is the same.")
    for paper in BESIDE:
        show_tables(paper)
    for benchmark in DESCRIBED:
        show_words(benchmark)


def show_tables(paper: Beside) -> None:
    with st.container(border=True):
        st.markdown(f"**{escape(paper.citation)}**")
        for one in paper.tables:
            link(
                "results",
                f"{catalog.scenario(one.scenario).title}: {one.setting}",
                icon=":material/arrow_forward:",
                scenario=one.scenario,
                paper="1",
                table=one.id,
            )
        st.caption(escape(paper.remark))


def show_words(benchmark: Described) -> None:
    with st.container(border=True):
        st.markdown(f"**{escape(benchmark.title)}** ({escape(benchmark.citation)})")
        st.markdown(escape(benchmark.does))
        st.caption(escape(benchmark.here))
