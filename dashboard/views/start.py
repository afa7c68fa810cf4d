"""Start: what this is, whose results it shows, what the workers do, and where to go next."""

from __future__ import annotations

import streamlit as st

from dashboard import data
from dashboard.sections.start import entrances, findings, newest, workers
from dashboard.widgets import header, presenting, run_drawer


def page() -> None:
    source = data.source()
    summaries = data.summaries()
    header.header(
        "Which method forgets, and what does it cost?",
        "Machine unlearning takes training data out of a finished model. The measure is Retrain, "
        "the only sure way: a model trained again without that data.",
        source,
    )
    with presenting.slide("stories"):
        entrances.show_stories()
    with presenting.slide("findings"):
        findings.show(source)
    with presenting.slide("next_steps"):
        entrances.show_next_steps()
    left, right = st.columns([4, 1], gap="medium")
    with left:
        newest.show(source, summaries)
    with right:
        workers.show()
    run_drawer.run_drawer(summaries)


page()
