"""Papers: every table and figure of the five papers, the page that shows it here, the command that
repeats it, and what was found; then tables of newer papers.
"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import access, data, papers, state
from dashboard.frames import quality as quality_frames
from dashboard.papers import PAPERS, Paper
from dashboard.sections.reference import exhibits, findings, newer
from dashboard.widgets import figures, header, messages
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape
from dashboard.widgets.provenance import provenance
from mucore import catalog


def show(top: st.delta_generator.DeltaGenerator) -> None:
    source = data.source()
    runs = data.unlearning_runs()
    with top:
        header.header(
            "Where is each table and figure of the papers?",
            "Choose a paper. Each line leads to the page that shows the same from these results.",
            source,
        )
    found = having(runs, source.name, source.change)
    if runs.empty:
        messages.empty(
            "There are no results yet, so the pages behind these links are empty.",
            "Launch a comparison",
            "launch",
        )
    titles = {paper.id: paper.title for paper in PAPERS}
    name = state.segmented(
        "Paper",
        "paper",
        list(titles),
        format_func=lambda name: titles[name],
        label_visibility="collapsed",
    )
    paper = next(one for one in PAPERS if one.id == name)
    show_paper(paper)
    st.subheader("Tables and figures", anchor=False)
    for exhibit in paper.exhibits:
        exhibits.show(exhibit, found)
    findings.show(paper)
    figures.numbers(papers.frame([paper]), f"papers-{paper.id}")
    newer.show()
    provenance(runs)


@st.cache_data(show_spinner=False, max_entries=4)
def having(_runs: pd.DataFrame, name: str, change: int) -> papers.Having:
    """`papers.having`; `name` and `change` of the source say which runs, so that the frame
    needs no hashing.
    """
    return papers.having(_runs, many_models=bool(quality_frames.experiments(_runs)))


def show_paper(paper: Paper) -> None:
    st.markdown(f"**{escape(paper.citation)}.** {escape(paper.about)}")
    if paper.caveat:
        st.caption(escape(paper.caveat))
    with st.container(horizontal=True, gap="small"):
        for name in paper.presets:
            card = catalog.preset(name)
            link(
                "launch",
                f"Launch {card.title}",
                icon=":material/rocket_launch:",
                preset=name,
                dataset=card.dataset,
                model=card.model,
            )
    links = "; the launch links take the paper's own data and model" * access.presents()
    st.caption(f"A small version for a laptop{links}")
    st.code(paper.small, language="bash", wrap_lines=True)
