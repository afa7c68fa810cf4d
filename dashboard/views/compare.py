"""Compare: any number of runs beside each other."""

from __future__ import annotations

import streamlit as st

from dashboard import data, state
from dashboard.sections.compare import (
    classes,
    confusion,
    images,
    predictions,
    requests,
    runs,
    sample,
)
from dashboard.sections.compare import map as maps
from dashboard.widgets import header, messages, run_drawer, run_filters
from dashboard.widgets.provenance import provenance

SECTIONS = {
    "classes": classes,
    "predictions": predictions,
    "confusion": confusion,
    "images": images,
    "map": maps,
    "requests": requests,
}
VIEWS = {
    "classes": "Classes",
    "predictions": "Predictions",
    "confusion": "Confusion",
    "images": "Images",
    "map": "Map",
    "requests": "Requests",
}
QUESTIONS = {
    "classes": "In which classes do these models differ from Retrain?",
    "predictions": "How often do these models say the same?",
    "confusion": "What do these models take for what?",
    "images": "On which images do these models disagree?",
    "map": "Where do these models put the same samples?",
    "requests": "Does what was forgotten stay forgotten when more is asked for?",
}
CAPTIONS = {
    "classes": (
        "Accuracy of each class less that of the Retrain of the same training seed. No colour "
        "means the same as Retrain."
    ),
    "predictions": (
        "The share of samples on which two models predict the same: a closer look than equal "
        "accuracy."
    ),
    "confusion": (
        "Rows are true classes, columns predicted ones. Each row holds shares of its class."
    ),
    "images": "The samples on which the chosen models differ most, and what each says about them.",
    "map": (
        "A t-SNE map of each model's features, the same samples in all. Click a point: it is "
        "ringed in every map."
    ),
    "requests": (
        "Requests that came one after another: how many of each request's samples the model names "
        "right after every later one."
    ),
}


def page() -> None:
    source = data.source()
    top = st.container()
    every = data.unlearning_runs()
    if every.empty:
        messages.no_results(
            QUESTIONS["classes"], CAPTIONS["classes"], "Two runs are enough to compare."
        )
        return
    view, answers = header.pick_view(VIEWS, QUESTIONS, CAPTIONS, source, top)
    picked = run_filters.pick_runs(every, first=run_filters.OPENS_ON)
    if picked.empty:
        messages.none_finished()
        return
    offered, keys = runs.pick(picked, every, source)
    if not keys:
        st.markdown("Choose one run at least, above.")
        return
    chosen = runs.gathered(keys, offered, every)
    if chosen is None:
        st.markdown("These runs were deleted a moment ago. Choose others above.")
        return
    SECTIONS[view].show(chosen, answers)
    if state.param("sample"):
        sample.show(chosen)
    runs.show(chosen)
    run_drawer.run_drawer(every)
    provenance(chosen.runs)


page()
