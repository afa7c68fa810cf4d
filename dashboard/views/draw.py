"""Draw a digit: three networks say what they see while a reader draws."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.sections.draw import canvas, choose
from dashboard.text import labels
from dashboard.widgets import header, messages, presenting, run_drawer, run_filters
from dashboard.widgets.markdown import escape
from dashboard.widgets.provenance import provenance

QUESTION = "Does it still know what it was told to forget?"
CAPTION = (
    "Original was trained on every image, Retrain on all but the forget set. The method starts "
    "from Original."
)


def page() -> None:
    data.draw_shipped(False)
    every = data.unlearning_runs()
    drawable = choose.drawable(every)
    if drawable.empty:
        data.draw_shipped(True)
        every = data.unlearning_runs()
        drawable = choose.drawable(every)
    source = data.source()
    if drawable.empty:
        messages.no_results(QUESTION, CAPTION)
        return
    head = st.container()
    runs = run_filters.pick_runs(drawable, first=["class_wise"])
    with head:
        if runs.empty:
            messages.none_finished(QUESTION, source)
        else:
            header.header(QUESTION, caption(runs), source)
    if runs.empty or messages.none_chosen(runs):
        run_drawer.run_drawer(every)
        return
    three = choose.three(runs)
    with presenting.slide("draw"):
        canvas.show(three)
    run_drawer.run_drawer(every)
    provenance(every[every["key"].isin(three.keys)])


def caption(runs: pd.DataFrame) -> str:
    return escape(f"{labels.setup_text(runs.iloc[0])}. {CAPTION}")


page()
