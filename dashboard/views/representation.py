"""t-SNE and CKA: does the encoder forget, or only the classifier?"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.frames import representation as computed
from dashboard.sections.representation import last_layer, layers, scatter, sensitivity
from dashboard.sections.representation import map as maps
from dashboard.text import labels
from dashboard.widgets import header, messages, run_drawer, run_filters
from dashboard.widgets.markdown import escape
from dashboard.widgets.provenance import provenance

QUESTION = "Does the encoder forget, or only the classifier?"
TABS = {"map": "t-SNE map", "scatter": "CKA scatter", "layers": "Layers", "last": "Last layer"}
# the views of earlier addresses, and the tabs that have them now
VIEWS = {
    "neighbours": "map",
    "similarity": "scatter",
    "agreement": "scatter",
    "cost": "scatter",
    "sensitivity": "last",
}
HOW = {
    "map": (
        "Every point is an image, placed by t-SNE near images with similar features.",
        "**Forgotten and still one cluster**: the encoder kept the class.",
        "Each map is drawn separately: position, rotation and long distances mean nothing.",
        "Classes have equally many points, or the forgotten one would always look like a cluster.",
        "Click a mark in the scatter for its map.",
    ),
    "scatter": (
        "**CKA** compares the features of two models on the same images; 1 means identical.",
        "Above the dashed diagonal: more like Retrain than like Original.",
        "**AGL** and **AGR**: agreement with Retrain in answers and in features; 1 is Retrain.",
        "**Hollow**: indicated, more seeds may change the verdict.",
    ),
    "layers": (
        "CKA of each layer with every layer of the other model; blue: similar.",
        "A method that only changed its classifier has a blue diagonal on the left.",
    ),
    "last": (
        "Each method ran twice: on all layers, and on the classifier alone.",
        "**AGL**: agreement with Retrain's answers (1 is Retrain). Height: gain from all layers.",
        "At the lower right both give the same result: the encoder hardly changed.",
    ),
}


def page() -> None:
    source = data.source()
    top = st.container()
    everything = data.unlearning_runs()
    if everything.empty:
        messages.no_results(
            QUESTION,
            "A method may change its last layer and leave the features before it as they were.",
        )
        return
    chips = st.container()
    tab = header.tabs(TABS, VIEWS)
    place = st.container()
    with chips:
        runs = run_filters.pick_runs(
            everything,
            first=[opens_on(tab, everything)],
            sets=tab != "last",
            ahead=data.predicted() if tab == "map" else (),
            experiments=tab == "last",
        )
    if runs.empty:
        with top:
            messages.none_finished(QUESTION, source)
        return
    with top:
        header.header(QUESTION, how(runs, tab), source)
    values = data.metric_values(
        dataset=str(runs.iloc[0]["dataset"]), scenario=str(runs.iloc[0]["scenario"])
    )
    plain = computed.plain(runs)
    dataset = str(runs.iloc[0]["dataset"])
    samples = list(computed.samples_of(dataset))
    split = state.upcoming("split", samples, computed.USUAL) if tab == "scatter" else computed.USUAL
    if tab == "last":
        last_layer.show(runs, values)
        sensitivity.show(runs, values)
    else:
        rows = computed.similarity_rows(plain, values, split, data.judged(plain))
        if tab == "map":
            maps.show(rows, plain, place)
        elif tab == "scatter":
            scatter.show(rows, everything, dataset, split)
        else:
            layers.show(rows, plain)
    run_drawer.run_drawer(runs)
    provenance(runs)


def opens_on(tab: str, runs: pd.DataFrame) -> str:
    """The scenario that a tab opens on: whole classes, or for the classifier alone one with such
    runs.
    """
    at_random = tab == "last" and (runs["scenario"] == "random_classes").any()
    return "random_classes" if at_random else "class_wise"


def how(runs: pd.DataFrame, tab: str) -> str:
    return "  \n".join([escape(f"{labels.setup_text(runs.iloc[0])}."), *HOW[tab]])


page()
