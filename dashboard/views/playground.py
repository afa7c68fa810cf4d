"""Playground: points in the plane, a small network that tells them apart, and methods that make it
forget some of them.
"""

from __future__ import annotations

import streamlit as st

from dashboard.lessons import LESSONS
from dashboard.sections.playground import take_home
from dashboard.widgets import header, presenting, stage
from dashboard.widgets.links import link

QUESTION = "What changes in a model when it forgets a point?"
CAPTION = "Choose points, press Forget and watch real methods at work on a small network."
WHY = (
    "A small network has learned from these points which class lies where. Some of them are to be "
    "forgotten. **Retrain** is the same network trained again without them: it shows what a model "
    "that never saw them looks like, and every method tries to get there in less time. Accuracy "
    "alone proves nothing: a forgotten point may still be named right because its neighbours give "
    "the answer away, as in the first example, or named wrong because the model was damaged. "
    "After Forget, a line above the pictures says what accuracy alone would hide in this example, "
    "if it hides anything."
)
NEXT = "**Seen enough?** The first lesson asks the same of a model that recognises pictures:"


def page() -> None:
    header.header(QUESTION, CAPTION)
    with presenting.slide("playground_why"):
        st.markdown(WHY)
    with presenting.slide("playground_stage"):
        stage.show()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(NEXT)
        first = next(iter(LESSONS.values()))
        title = f"Lesson 1: {first.title}"
        link("lessons", title, icon=":material/cast_for_education:", lesson=first.id, step="1")
    take_home.offer()


page()
