"""Playground: points in the plane, a small network that tells them apart, and methods that make it
forget some of them.
"""

from __future__ import annotations

import streamlit as st

from dashboard.widgets import header, stage

QUESTION = "What changes in a model when it forgets a point?"
CAPTION = "Choose points, press Forget and watch real methods at work on a small network."
WHY = (
    "**Retrain** is the same network trained again without the points to forget, so it shows what "
    "a model looks like that never saw them, and every method tries to end there in less time. "
    "Accuracy alone proves nothing: a model may name a forgotten point right because its "
    "neighbours tell, and wrong because it was damaged."
)


def page() -> None:
    header.header(QUESTION, CAPTION)
    st.markdown(WHY)
    stage.show()


page()
