"""Glossary: verdicts, metrics, scenarios, methods, data sets and settings, all from cards.
`?term=ta` opens an entry, `?q=` searches.
"""

from __future__ import annotations

import streamlit as st

from dashboard import state
from dashboard.frames import glossary as glossary_frames
from dashboard.widgets import header
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape

KINDS = {
    "idea": "Ideas",
    "verdict": "Verdicts",
    "metric": "Metrics",
    "scenario": "Scenarios",
    "method": "Methods",
    "dataset": "Data sets",
    "setting": "Settings",
}


def show(top: st.delta_generator.DeltaGenerator) -> None:
    with top:
        header.header(
            "What does this word mean?",
            "Ideas, verdicts, metrics, scenarios, methods, data sets and settings. Fractions are "
            "shown in percent.",
        )
    entries = glossary_frames.glossary()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        query = state.text(
            "Search",
            "q",
            placeholder="for example overfitting, GDPR",
            icon=":material/search:",
            width=280,
        )
        if query:  # which looks through all of them
            kinds = list(KINDS)
        else:
            kinds = [
                state.segmented(
                    "Kind", "kind", list(KINDS), format_func=KINDS.__getitem__, width="content"
                )
            ]
    term = state.param("term")
    opened = next((entry for entry in entries if entry.id == term), None)
    if opened is not None:
        show_entry(opened, opened=True)
    found = [entry for entry in glossary_frames.search(entries, query) if entry != opened]
    if not found and opened is None:
        st.markdown("Nothing matches. Try a shorter word.")
    for name in kinds:
        group = [entry for entry in found if entry.kind == name]
        if group:
            st.subheader(f"{KINDS[name]} ({len(group)})", anchor=name)
            for left, right in zip(group[::2], [*group[1::2], None], strict=False):
                columns = st.columns(2, gap="medium")
                for column, entry in zip(columns, (left, right), strict=True):
                    if entry is not None:
                        with column:
                            show_entry(entry)


def show_entry(entry: glossary_frames.Entry, *, opened: bool = False) -> None:
    with st.container(border=opened, gap="small", key=f"entry-{entry.kind}-{entry.id}"):
        facts = "  \n".join(f":gray[{name}] {escape(value)}" for name, value in entry.facts.items())
        st.markdown(f"**{escape(entry.title)}**  \n{escape(entry.meaning)}  \n{facts}")
        if entry.kind == "method":
            link(
                "method",
                f"Results of {entry.title}",
                icon=":material/arrow_forward:",
                method=entry.id,
            )
        if opened and st.button("Show all", icon=":material/close:", key="close_term"):
            state.set_param("term", None)
            st.rerun()
