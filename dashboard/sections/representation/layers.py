"""Layers: how deep forgetting went, by the CKA of every layer with those of the original and of
Retrain.
"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import frames, state
from dashboard.charts import layer_heatmap
from dashboard.frames import representation as computed
from dashboard.sections.representation.shared import pick_run, pick_samples
from dashboard.widgets import clicks, figures, messages
from dashboard.widgets.background_analysis import analysed


def show(rows: tuple[frames.Row, ...], runs: pd.DataFrame) -> None:
    with st.container(horizontal=True, gap="small"):
        chosen = pick_run(rows, runs)
        split = pick_samples(list(computed.SPLITS), "test")
    if chosen is None:
        messages.empty("No method ran here.", "Launch a comparison", "launch")
        return
    title, key = chosen
    value = analysed("layers", {"key": key, "split": split}, "Compare the layers", 15)
    if value is None:
        return
    info = layer_heatmap.layer_heatmap_info(
        title,
        layers=value["layers"],
        original=value["original"],
        retrain=value["retrain"],
        references=value["original_retrain"],
    )
    figure = layer_heatmap.draw(info, dark=state.dark())
    clicks.heatmap(
        figure, "layer_heatmap", lambda _, __, ___: key, alt=layer_heatmap.alt_text(info)
    )
    table = pd.DataFrame(
        {
            "Layer": info.layers,
            "CKA to the original": info.to_original,
            "CKA to Retrain": info.to_retrain,
            "Original and Retrain": info.references,
        }
    )
    figures.numbers(table, "layers", figure)
