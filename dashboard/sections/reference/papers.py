"""Papers: every table and figure of the five papers, the page that shows it here, the command that
repeats it, and what was found; then tables of newer papers.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import streamlit as st

from dashboard import access, data, papers, state
from dashboard.papers import NEWER, PAPERS, Exhibit, Newer, Paper
from dashboard.papers import tables as printed
from dashboard.text import labels, units
from dashboard.widgets import figures, header, messages
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape
from dashboard.widgets.provenance import provenance
from mucore import catalog, shipped

FIDELITY = shipped.ROOT / "docs" / "fidelity.md"
ARROW = ":material/arrow_forward:"


def show(top: st.delta_generator.DeltaGenerator) -> None:
    runs = data.unlearning_runs()
    with top:
        header.header(
            "Where is each table and figure of the papers?",
            "Choose a paper. Each line leads to the page that shows the same from these results.",
            data.source(),
        )
    if runs.empty:
        messages.empty(
            "There are no results yet, so the pages behind these links are empty.",
            "Launch a comparison",
            "launch",
        )
    by_id = {paper.id: paper for paper in PAPERS}
    name = state.segmented(
        "Paper",
        "paper",
        list(by_id),
        format_func=lambda each: by_id[each].title,
        label_visibility="collapsed",
    )
    show_paper(by_id[name])
    st.subheader("Tables and figures", anchor=False)
    datasets = {str(each): set(group) for each, group in runs.groupby("scenario")["dataset"]}
    for exhibit in by_id[name].exhibits:
        show_exhibit(exhibit, datasets)
    show_findings(by_id[name])
    figures.numbers(papers.frame(by_id[name]), f"papers-{name}")
    st.subheader("Newer papers", anchor=False)
    st.caption("Their printed tables are shown beside our results where the scenario is the same.")
    for each in NEWER:
        show_newer(each)
    provenance(runs)


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


def show_exhibit(exhibit: Exhibit, datasets: Mapping[str, Collection[str]]) -> None:
    """A line: what it is, the pages that show the same, the commands; `datasets` are those that
    have runs, by scenario.
    """
    with st.container(border=True):
        what, where, how = st.columns([5, 3.4, 2.2], vertical_alignment="center", gap="small")
        what.markdown(f"**{exhibit.name}**  \n{escape(exhibit.shows)}")
        with where, st.container(gap=None):
            for label, each in exhibit.links.items():
                page, query, there = papers.address(each, datasets)
                link(page, label if there else f"{label} (no run yet)", icon=ARROW, **query)
            if exhibit.missing:
                st.caption(escape(exhibit.missing))
        if exhibit.commands:
            label = units.count(len(exhibit.commands), "command")
            icon, key = ":material/terminal:", f"command:{exhibit.name}"
            with how, st.popover(label, icon=icon, width="stretch", key=key):
                st.code("\n".join(exhibit.commands), language="bash", wrap_lines=True)


def show_findings(paper: Paper) -> None:
    if not paper.findings:
        return
    st.subheader("What the paper found, and what we find", anchor=False)
    known = papers.fidelity(FIDELITY.read_text(encoding="utf-8")) if FIDELITY.is_file() else {}
    for name, sentence in paper.findings.items():
        here, why = known.get(name, ("not said yet", ""))
        said = labels.with_titles(f"Here: {here}." + (f" Why: {why}." if why else ""))
        with st.container(gap=None):
            st.markdown(f"**{name}** {escape(sentence)}")
            st.caption(escape(said))
    st.caption("From docs/fidelity.md, which lists the data, model and seeds behind our numbers.")


def show_newer(paper: Newer) -> None:
    with st.container(border=True):
        st.markdown(f"**{escape(paper.citation)}**  \n{escape(paper.does)}")
        for one in printed.every():
            if one.paper == paper.tables:
                title = f"{catalog.scenario(one.scenario).title}: {one.setting}"
                query = {"scenario": one.scenario, "paper": "1", "table": one.id}
                link("results", title, icon=ARROW, **query)
        st.caption(escape(paper.remark))
