"""Layers: how deep forgetting went, by the CKA of every layer with those of the original and of
Retrain.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dashboard import frames, state
from dashboard.charts import layer_heatmap
from dashboard.frames import representation as computed
from dashboard.widgets import clicks, figures, messages
from dashboard.widgets.background_analysis import analysed


def show(rows: tuple[frames.Row, ...], runs: pd.DataFrame) -> None:
    methods = {row.id: row for row in rows if not row.reference}
    usual = computed.opening(rows, computed.USUAL)  # on which rows have their CKA
    if usual is None:
        messages.empty("No method ran here.", "Launch a comparison", "launch")
        return
    look: dict[str, Any] = {"label_visibility": "collapsed"}
    with st.container(horizontal=True, gap="small"):
        chosen = methods[
            state.select(
                "Method",
                "of",
                list(methods),
                default=usual.id,
                format_func=lambda name: methods[name].title,
                width=230,
                **look,
            )
        ]
        seeds = [str(seed) for seed in chosen.training_seeds]
        seed = state.select(
            "Training seed", "seed", seeds, format_func="Seed {}".format, width=110, **look
        )
        split = state.select(
            "Samples",
            "split",
            list(computed.SPLITS),
            default="test",
            format_func=computed.SPLITS.__getitem__,
            width=150,
            **look,
        )
    key = computed.key_of(chosen, runs, int(seed))
    value = analysed("layers", {"key": key, "split": split}, "Compare the layers", 15)
    if value is None:
        return
    figure, narrow = (
        layer_heatmap.draw(value, chosen.title, dark=state.dark(), stacked=stacked)
        for stacked in (False, True)
    )
    alt = layer_heatmap.alt_text(value, chosen.title)
    clicks.stacking(figure, narrow, "layer_heatmap", alt=alt)
    figures.numbers(layer_heatmap.diagonals(value), "layers", figure)
