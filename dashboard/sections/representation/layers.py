"""Layers: how deep forgetting went, by the CKA of every layer with those of the original and of
Retrain.
"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import frames, state
from dashboard.charts import layer_heatmap
from dashboard.frames import representation as computed
from dashboard.sections.representation.shared import PAPER, pick_run, say
from dashboard.widgets import clicks, figures, header
from dashboard.widgets.background_analysis import analysed

STILL = 0.9995  # a CKA that reads as 1.000


def show(rows: tuple[frames.Row, ...], runs: pd.DataFrame) -> None:
    st.markdown(
        "**How deep did forgetting go?** Blue means alike. A method that only changed its "
        f"classifier has a blue diagonal on the left, down to the last row. (Beyond {PAPER}, "
        "which compares the layer before the last alone)"
    )
    chosen = pick_run(rows, runs)
    if chosen is None:
        st.markdown("There is no method in this selection.")
        return
    title, key = chosen
    split = state.choice("split", list(computed.SPLITS), "test")
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
    deepest = info.most_changed
    moved = computed.similarity(float(info.to_original[deepest]))
    header.answers(
        (
            frames.Answer(
                "Moved most",
                info.layers[deepest] if info.to_original[deepest] < STILL else "No layer",
                f"CKA {moved} to the original's",
            ),
            frames.Answer(
                "Retrain's would be at",
                computed.similarity(float(info.references[deepest])),
                f"CKA of original and Retrain in {info.layers[deepest]}",
            ),
            frames.Answer(
                "Farthest from Retrain",
                info.layers[int(info.to_retrain.argmin())],
                f"CKA {computed.similarity(float(info.to_retrain.min()))} to Retrain's",
            ),
        )
    )
    figure = layer_heatmap.draw(info, dark=state.dark())
    clicks.heatmap(
        figure, "layer_heatmap", lambda _, __, ___: key, alt=layer_heatmap.alt_text(info)
    )
    say([f"{value['note']} One run, so no interval. Click a cell for all about this run."])
    table = pd.DataFrame(
        {
            "Layer": info.layers,
            "CKA to the original": info.to_original,
            "CKA to Retrain": info.to_retrain,
            "Original and Retrain": info.references,
        }
    )
    figures.numbers(table, "layers", figure)
