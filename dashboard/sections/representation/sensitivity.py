"""Sensitivity: what a measure depends on, one line a measure."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dashboard import state
from dashboard.charts import sensitivity
from dashboard.frames import sensitivity as computed
from dashboard.text import labels
from dashboard.widgets import figures
from mucore import catalog

# of a Retrain these differ from 1
OF_RETRAIN = ("cka_original_test", "knn_accuracy")
METRICS = ("h_lr", "agl", "agr", "knn_accuracy", "cka_retrain_test", "cka_original_test")


def show(runs: pd.DataFrame, values: pd.DataFrame) -> None:
    """Lines over the setting in which most runs of a method differ; nothing where none do."""
    runs = computed.whole_network(runs)
    tables = {
        card.id: computed.settings(mine)
        for card in catalog.methods()
        if card.family != "reference" and len(mine := runs[runs["method"] == card.id])
    }
    axes = {name: computed.varied(table) for name, table in tables.items()}
    able = [name for name in axes if axes[name]]
    able.sort(key=lambda name: -tables[name][axes[name][0]].nunique())
    if not able:
        return
    st.markdown("**Sensitivity to settings**")
    look: dict[str, Any] = {"label_visibility": "collapsed", "width": 230}
    with st.container(horizontal=True, gap="small"):
        method = state.select(
            "Method", "of", able, format_func=lambda name: labels.method_names(name)[0], **look
        )
        axis = state.select(
            "Setting", "over", axes[method], format_func=computed.axis_title, **look
        )
    held = computed.held(tables[method], axis)
    own = runs.set_index("key").loc[held.index].assign(x=held[axis].astype(float)).reset_index()
    retrains = runs.loc[runs["method"] == "retrain", ["key", "scenario_parameters"]]
    places = ["scenario_parameters", "x"]
    beside = own[places].drop_duplicates().merge(retrains, on="scenario_parameters")
    seeds = runs.set_index("key")["training_seed"]
    beside = beside.assign(training_seed=beside["key"].map(seeds))
    lines = pd.concat(
        [
            computed.along(own[["key", "x", "training_seed"]], values, METRICS).assign(of="method"),
            computed.along(beside, values, OF_RETRAIN).assign(of="Retrain"),
        ],
        ignore_index=True,
    )
    if not (lines["of"] == "method").any():
        st.markdown("These runs have none of H-LR, AGL, AGR and CKA.")
        return
    title = computed.axis_title(axis)
    texts = {float(value): computed.value_text(axis, value) for value in held[axis].unique()}
    figure = sensitivity.draw(lines, title, texts, dark=state.dark())
    figures.chart(figure, "sensitivity", alt=sensitivity.alt_text(lines, title))
    figures.numbers(lines, f"sensitivity-{method}", figure, of="this setting")
