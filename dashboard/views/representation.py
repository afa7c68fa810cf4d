"""Representation: does the encoder forget, or only the classifier?"""

from __future__ import annotations

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import data, frames, state
from dashboard.frames import representation as computed
from dashboard.sections.representation import (
    agreement,
    cost,
    last_layer,
    layers,
    neighbours,
    sensitivity,
    similarity,
)
from dashboard.sections.representation import map as maps
from dashboard.sections.representation.shared import pick_samples
from dashboard.text import labels, units
from dashboard.widgets import course, header, messages, run_drawer, run_filters
from dashboard.widgets.maps import pick_part
from dashboard.widgets.markdown import escape
from dashboard.widgets.provenance import provenance

QUESTION = "Does the encoder forget, or only the classifier?"
VIEWS = {
    "similarity": "Similarity",
    "agreement": "AGL and AGR",
    "map": "Map",
    "layers": "Layers",
    "neighbours": "Neighbours",
    "sensitivity": "Sensitivity",
    "last": "Last layer",
    "cost": "Cost",
}
# sections that read what was kept of a run, and so open on a forget set that has it
WITH_FEATURES = ("map", "neighbours")


def page() -> None:
    source = data.source()
    head = st.container()
    runs = data.unlearning_runs()
    if runs.empty:
        messages.no_results(
            QUESTION,
            "A method may change its last layer and leave the features before it as they were.",
        )
        return
    view = state.segmented(
        "Look at",
        "view",
        list(VIEWS),
        format_func=lambda name: VIEWS[name],
        label_visibility="collapsed",
    )
    course.steps(list(VIEWS), view, lambda name: state.set_param("view", name))
    everything = runs
    samples: list[DeltaGenerator] = []  # filled when the data set is known
    extra = {
        "map": pick_part,
        "neighbours": pick_part,
        "agreement": None,
        "last": None,
        "cost": None,
    }
    fill = extra.get(view, lambda: samples.append(st.container()))
    ahead = data.predicted() if view in WITH_FEATURES else ()
    sets, experiments = view != "sensitivity", view in ("sensitivity", "last")
    runs = run_filters.pick_runs(
        runs,
        first=[opens_on(view, runs)],
        sets=sets,
        ahead=ahead,
        extra=fill,
        experiments=experiments,
    )
    if runs.empty:
        with head:
            messages.none_finished(QUESTION, source)
        return
    with head:
        header.header(QUESTION, caption(runs), source)
    values = data.metric_values(
        dataset=str(runs.iloc[0]["dataset"]), scenario=str(runs.iloc[0]["scenario"])
    )
    options = (
        list(computed.SPLITS)
        if view == "layers"
        else computed.samples_of(str(runs.iloc[0]["dataset"]))
    )
    for place in samples:
        with place:
            pick_samples(options)
    split = state.choice("split", options, "test")
    plain = computed.plain(runs)
    rows = similarity_rows(plain, values, source.name, source.change, tuple(plain["key"]), split)
    if view == "similarity":
        similarity.show(rows, split, len(runs) - len(plain))
    elif view == "agreement":
        runs = agreement.show(rows, plain, everything)
    elif view == "map":
        maps.show(rows, plain)
    elif view == "layers":
        layers.show(rows, plain)
    elif view == "neighbours":
        neighbours.show(rows, plain)
    elif view == "sensitivity":
        sensitivity.show(runs, values, everything, split)
    elif view == "last":
        last_layer.show(runs, values)
    else:
        cost.show(runs)
    run_drawer.run_drawer(runs)
    provenance(runs)


def opens_on(view: str, runs: pd.DataFrame) -> str:
    """The scenario that a section opens on: whole classes, or for numbers of classes and the
    classifier alone one with such runs.
    """
    return (
        "random_classes"
        if view in ("sensitivity", "last") and (runs["scenario"] == "random_classes").any()
        else "class_wise"
    )


@st.cache_data(show_spinner=False, max_entries=32)
def similarity_rows(
    _runs: pd.DataFrame,
    _values: pd.DataFrame,
    name: str,
    change: int,
    keys: tuple[str, ...],
    split: str,
) -> tuple[frames.Row, ...]:
    """`frames.representation.similarity_rows`; `name`, `change` and `keys` say which runs, so that
    the frames need no hashing.
    """
    return computed.similarity_rows(_runs, _values, split, data.judged(_runs))


def caption(runs: pd.DataFrame) -> str:
    first = runs.iloc[0]
    # references may have seeds that no method ran on
    methods = runs[~runs["method"].isin(["original", "retrain"])]
    seeds = units.count(
        (runs if methods.empty else methods)["training_seed"].nunique(), "training seed"
    )
    return escape(
        f"{labels.setup_text(first)}, {seeds}. CKA: likeness of features before the last layer; 1 "
        "is equal."
    )


page()
