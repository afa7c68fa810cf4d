"""Reports: a selection of runs as an evidence report, tables for LaTeX, figures, and all its
numbers.
"""

from __future__ import annotations

import streamlit as st

from dashboard import access, data
from dashboard import report as evidence
from dashboard.sections.reports import files, outline, selection
from dashboard.widgets import header, messages, run_drawer
from dashboard.widgets.provenance import provenance

QUESTION = "What can I hand to somebody who must check it?"
CAPTION = (
    "One file with what was asked, the answer, tables, figures, caveats, and the commands "
    "that repeat the runs. An original needs no command of its own: every comparison trains it."
)


def page() -> None:
    source = data.source()
    header.header(QUESTION, CAPTION, source)
    runs = data.unlearning_runs()
    if runs.empty:
        messages.empty(
            f"There are no results to report yet. {messages.LAPTOP * access.presents()}",
            "Launch a comparison",
            "launch",
        )
        return
    runs = selection.pick(runs)
    if runs.empty:
        messages.empty("No run of this selection has finished yet.", "Watch the queue", "queue")
        return
    header.answers(evidence.standing(runs), first=evidence.counts_sentence(data.judged(runs)))
    left, right = st.columns([1, 1], gap="large")
    with left:
        parts = outline.pick_parts(evidence.outline(runs))
    with right:
        typed = outline.heading()
        files.show(source, runs, parts, typed)
    run_drawer.run_drawer(runs)
    provenance(runs)


page()
