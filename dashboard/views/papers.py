"""Papers: every table and figure of the five papers, the page that shows it here, the command that
repeats it, and what was found.
"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data, papers, state, widgets
from dashboard.frames import Answer
from dashboard.frames import quality as quality_frames
from dashboard.papers import PAPERS, Exhibit, Paper, Standing
from dashboard.text import labels, units
from mucore import catalog, shipped, titles

SETTINGS = {
    "lr": "the learning rate",
    "scope": "the layers that may change",
    "nesterov": "Nesterov momentum",
}
FIDELITY = shipped.ROOT / "docs" / "fidelity.md"


def page() -> None:
    source = data.source()
    runs = data.unlearning_runs()
    widgets.header(
        "Where is each table and figure of the papers?",
        "Choose a paper. Each line links to the page that shows the same from the results in "
        "hand, filters set.",
        source,
    )
    found = having(runs, source.name, source.change)
    if runs.empty:
        widgets.empty(
            "There are no results yet, so the pages behind these links are empty.",
            "Launch a comparison",
            "launch",
        )
    widgets.answers(coverage_answers(papers.coverage(PAPERS, found)))
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
        show_exhibit(exhibit, found)
    show_findings(paper)
    widgets.numbers(papers.frame([paper]), f"papers-{paper.id}")
    widgets.provenance(runs)


@st.cache_data(show_spinner=False, max_entries=4)
def having(_runs: pd.DataFrame, name: str, change: int) -> papers.Having:
    """`papers_index.having`; `name` and `change` of the source say which runs, so that the frame
    needs no hashing.
    """
    return papers.having(_runs, many_models=bool(quality_frames.experiments(_runs)))


def coverage_answers(found: papers.Coverage) -> list[Answer]:
    return [
        Answer("Papers", str(len(PAPERS)), "the ones that this program brings together"),
        Answer("Tables and figures", str(found.exhibits), "each group of alike ones counted once"),
        Answer("With a page here", str(found.live), "the others say why not"),
        Answer(
            "With results to show",
            str(found.filled),
            "there are runs for them; the paper's own setting may differ",
        ),
    ]


def show_paper(paper: Paper) -> None:
    st.markdown(f"**{widgets.escape(paper.citation)}.** {widgets.escape(paper.about)}")
    if paper.caveat:
        st.caption(widgets.escape(paper.caveat))
    with st.container(horizontal=True, gap="small"):
        for name in paper.presets:
            card = catalog.preset(name)
            widgets.link(
                "launch",
                f"Launch {card.title}",
                icon=":material/rocket_launch:",
                preset=name,
                dataset=card.dataset,
                model=card.model,
            )
    st.caption("A small version for a laptop; the launch links take the paper's own data and model")
    st.code(paper.small, language="bash", wrap_lines=True)


def show_exhibit(exhibit: Exhibit, found: papers.Having) -> None:
    with st.container(border=True):
        what, where, how = st.columns([5, 3.4, 2.2], vertical_alignment="center", gap="small")
        with what, st.container(gap=None):
            st.markdown(f"**{exhibit.name}**")
            st.markdown(widgets.escape(exhibit.shows))
        with where, st.container(gap=None):
            for link in exhibit.links:
                widgets.link(
                    link.page,
                    link.label,
                    icon=":material/arrow_forward:",
                    **papers.address(link, found),
                )
            if exhibit.missing:
                st.caption(widgets.escape(exhibit.missing))
            if exhibit.links and not papers.is_filled(exhibit, found):
                st.caption(no_runs(exhibit))
            elif away := papers.on_other_data(exhibit, found):
                st.caption(widgets.escape(" ".join(other_data(link) for link in away)))
        if exhibit.commands:
            label = units.count(len(exhibit.commands), "command")
            with (
                how,
                st.popover(
                    label,
                    icon=":material/terminal:",
                    width="stretch",
                    key=f"command:{exhibit.name}",
                ),
            ):
                st.code("\n".join(exhibit.commands), language="bash", wrap_lines=True)


def no_runs(exhibit: Exhibit) -> str:
    """Why the page behind a link is empty, or shows something else."""
    if exhibit.many_models:
        return "No experiment with many models of each method yet; the command makes one."
    if exhibit.varies:
        named = SETTINGS.get(exhibit.varies, exhibit.varies.replace("_", " "))
        return (
            f"No runs here that differ in {named} yet; "
            f"{'the commands make' if len(exhibit.commands) > 1 else 'the command makes'} them."
        )
    data_sets = dict.fromkeys(name for link in exhibit.links for name in link.datasets)
    return (
        "No run under this scenario "
        f"yet{' on ' + ' or '.join(map(titles.dataset, data_sets)) if data_sets else ''}."
    )


def other_data(link: papers.Link) -> str:
    """That one link of a line has no runs on its data, though others of the line have."""
    return (
        f"{link.label}: no run on {' or '.join(map(titles.dataset, link.datasets))} yet, so its "
        "page opens on data of another kind."
    )


def show_findings(paper: Paper) -> None:
    if not paper.findings:
        return
    st.subheader("What the paper found, and what appears here", anchor=False)
    standings = papers.fidelity(FIDELITY.read_text(encoding="utf-8")) if FIDELITY.is_file() else {}
    for name, sentence in paper.findings.items():
        with st.container(gap=None):
            st.markdown(f"**{name}** {widgets.escape(sentence)}")
            st.caption(widgets.escape(standing_text(standings.get(name))))
    st.caption(
        "Our side is from docs/fidelity.md in the program's folder, which says on which data, "
        "model and seeds it rests."
    )


def standing_text(found: Standing | None) -> str:
    if found is None:
        return "Here: docs/fidelity.md does not speak of it yet."
    return labels.with_titles(f"Here: {found.here}." + (f" Why: {found.why}." if found.why else ""))


page()
