"""Start: a model forgets before the reader's eyes, and three pictures of what the results say."""

from __future__ import annotations

import streamlit as st

from dashboard import data
from dashboard.sections.start import hero, tiles
from dashboard.widgets import header, presenting, run_drawer
from dashboard.widgets.links import link

PROMISE = "“Forget my data.” Retrain starts over without it. Methods should end there, only sooner."
HOW = "  \n".join(
    [
        "**Machine unlearning** takes training data out of a finished model.",
        "**Retrain** is the yardstick: the model trained again without that data.",
        "**Distance**: how far a model ends from Retrain, in points of accuracy.",
        "Click a picture to read on.",
    ]
)


def page() -> None:
    header.header(
        "Which method forgets, and what does it cost?",
        HOW,
        data.source(),
        title="Machine unlearning, measured",
    )
    with st.container(key="start_line", horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(PROMISE, width="stretch")
        link("results", "Results", icon=":material/table_rows:")
        link("playground", "Try it yourself", icon=":material/play_arrow:")
    with presenting.slide("hero"):
        hero.show()
    tiles.show()
    run_drawer.run_drawer(data.summaries())


page()
