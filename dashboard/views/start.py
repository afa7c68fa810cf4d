"""Start: what this is, whose results it shows, what the workers do, and where to go next."""

from __future__ import annotations

import streamlit as st

from dashboard import data
from dashboard.sections.start import entrances, findings, newest, workers
from dashboard.widgets import header, run_drawer


def page() -> None:
    source = data.source()
    summaries = data.summaries()
    header.header(
        "Which method forgets, and what does it cost?",
        "Machine unlearning takes training data out of a finished model. The measure is the only "
        "sure way: training again without it.",
        source,
    )
    entrances.show_stories()
    findings.show(source)
    entrances.show_next_steps()
    left, right = st.columns([4, 1], gap="medium")
    with left:
        newest.show(source, summaries)
    with right:
        workers.show()
    run_drawer.run_drawer(summaries)


page()
