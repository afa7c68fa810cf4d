"""Classes and images: any number of runs beside each other, class by class and image by image, and
what happens while a method forgets.
"""

from __future__ import annotations

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import data, state
from dashboard.pages import BY_ID, TAB
from dashboard.sections.compare import (
    classes,
    confusion,
    images,
    predictions,
    replay,
    requests,
    runs,
    sample,
)
from dashboard.widgets import header, messages, run_drawer, run_filters
from dashboard.widgets.provenance import provenance

QUESTION = "In which classes and on which images do these models differ?"
SECTIONS = {
    "classes": classes,
    "confusion": confusion,
    "images": images,
    "predictions": predictions,
    "requests": requests,
}
TABS = {
    "classes": "Classes",
    "confusion": "Confusion",
    "images": "Images",
    "predictions": "Predictions",
    "requests": "Requests",
    "replay": "Replay",
}
HOW = {
    "classes": (
        "Accuracy of each class less that of the Retrain of the same training seed. White: the "
        "same as Retrain. A column in full colour is a class that pays for forgetting, or one "
        "that was not forgotten."
    ),
    "confusion": (
        "Rows are true classes, columns predicted ones, in shares of the row. Colour beside the "
        "diagonal shows where a forgotten class goes."
    ),
    "images": (
        "The images on which the chosen models differ most. Below each: what every model predicts "
        "and how sure it is; orange is wrong."
    ),
    "predictions": (
        "The share of images on which two models predict the same. Two models of equal accuracy "
        "may be right on different images."
    ),
    "requests": (
        "Requests that came one after another. A line from left to right: the accuracy on one "
        "request's samples before it, after it, and after each later request. Retrain's is in "
        "brackets."
    ),
    "replay": (
        "Press Play or drag the slider: see when a method forgets, and when it breaks. Orange: "
        "to be forgotten. Dashed: Retrain. Shares rest on a few hundred samples."
    ),
}


def page() -> None:
    if state.param("view") == "map":  # an address of an earlier version
        st.switch_page(BY_ID["representation"].file, query_params={**state.address(), TAB: "map"})
    source = data.source()
    top, chips = st.container(), st.container()
    every = data.unlearning_runs()
    if every.empty:
        messages.no_results(QUESTION, HOW["classes"], "Two runs are enough to compare.")
        return
    tab = header.tabs(TABS)
    with top:
        header.header(QUESTION, HOW[tab], source)
    if tab == "replay":
        replay.show(every, chips)
    else:
        compare(every, chips, tab, source)


def compare(every: pd.DataFrame, chips: DeltaGenerator, tab: str, source: data.Source) -> None:
    places: list[DeltaGenerator] = []
    with chips:
        picked = run_filters.pick_runs(
            every, first=run_filters.OPENS_ON, extra=lambda: places.append(st.container())
        )
    if picked.empty:
        messages.none_finished()
        return
    with places[0]:
        offered, keys = runs.pick(picked, every, source)
    if not keys:
        st.markdown("Choose at least one run.")
        return
    chosen = runs.gathered(keys, offered, every)
    if chosen is None:
        st.markdown("These runs were deleted a moment ago. Choose others.")
        return
    SECTIONS[tab].show(chosen)
    if state.param("sample"):
        sample.show(chosen)
    runs.show(chosen)
    run_drawer.run_drawer(every)
    provenance(chosen.runs)


page()
