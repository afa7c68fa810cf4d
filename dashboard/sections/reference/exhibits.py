"""Tables and figures of a paper, and the pages that show the same."""

from __future__ import annotations

import streamlit as st

from dashboard import papers
from dashboard.papers import Exhibit
from dashboard.text import units
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape
from mucore import titles

SETTINGS = {
    "lr": "the learning rate",
    "scope": "the layers that may change",
    "nesterov": "Nesterov momentum",
}


def show(exhibit: Exhibit, found: papers.Having) -> None:
    with st.container(border=True):
        what, where, how = st.columns([5, 3.4, 2.2], vertical_alignment="center", gap="small")
        with what, st.container(gap=None):
            st.markdown(f"**{exhibit.name}**")
            st.markdown(escape(exhibit.shows))
        with where, st.container(gap=None):
            for target in exhibit.links:
                link(
                    target.page,
                    target.label,
                    icon=":material/arrow_forward:",
                    **papers.address(target, found),
                )
            if exhibit.missing:
                st.caption(escape(exhibit.missing))
            if exhibit.links and not papers.is_filled(exhibit, found):
                st.caption(no_runs(exhibit))
            elif away := papers.on_other_data(exhibit, found):
                st.caption(escape(" ".join(other_data(target) for target in away)))
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
    data_sets = dict.fromkeys(name for target in exhibit.links for name in target.datasets)
    return (
        "No run under this scenario "
        f"yet{' on ' + ' or '.join(map(titles.dataset, data_sets)) if data_sets else ''}."
    )


def other_data(target: papers.Link) -> str:
    """That one link of a line has no runs on its data, though others of the line have."""
    data_sets = " or ".join(map(titles.dataset, target.datasets))
    return f"{target.label}: no run on {data_sets} yet, so its page opens on data of another kind."
