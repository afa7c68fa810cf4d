"""Confusion: what two of the models take for what, or how they differ in that from Retrain."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import state
from dashboard.charts import confusion
from dashboard.charts.parts import clickable
from dashboard.sections.compare.selection import Chosen, pick_split
from dashboard.widgets import clicks, figures, messages
from dashboard.widgets.links import anew


def show(chosen: Chosen) -> None:
    counted = {result.key: result for result in chosen.results if result.confusion}
    if not counted:
        sentence = "Confusion counts were not stored with these runs. New runs keep them."
        messages.empty(sentence, "Launch a comparison", "launch", **anew(chosen.runs))
        return
    if np.ndim(next(iter(next(iter(counted.values())).confusion.values()))) == 3:
        st.markdown(
            "Data with yes-or-no labels have no confusion of classes; Classes shows each answer."
        )
        return
    line = st.container(horizontal=True, vertical_alignment="center", gap="small")
    with line:
        difference = state.toggle(
            "Difference to Retrain",
            "difference",
            help="Each cell less that of the Retrain of the same training seed.",
        )
        keys = [
            key
            for key, result in counted.items()
            if not difference or result.spec["method"] != "retrain"
        ]
        if not keys:
            st.markdown("Choose a run other than Retrain.")
            return
        place = {"retrain": 0, "original": 2}
        ordered = sorted(keys, key=lambda key: place.get(counted[key].spec["method"], 1))
        first, second = (
            state.select(
                label,
                label.lower(),
                keys,
                default=default,
                format_func=lambda key: chosen.titles[key],
                label_visibility="collapsed",
                width=200,
            )
            for label, default in (("Left", ordered[0]), ("Right", ordered[min(1, len(keys) - 1)]))
        )
        split = pick_split(sorted(set(counted[first].confusion) & set(counted[second].confusion)))
    pair = list(dict.fromkeys([first, second]))
    bases = {key: chosen.retrains[key] for key in pair}
    compared = difference and all(base and split in base.confusion for base in bases.values())
    if difference and not compared:
        st.caption("Without the difference: there is no Retrain of this training seed.")
    panels = {}
    for key, base in bases.items():
        cells = confusion.shares(counted[key].confusion[split], chosen.class_names)
        if compared and base:
            cells -= confusion.shares(base.confusion[split], chosen.class_names)
        panels[chosen.titles[key]] = cells
    alt = confusion.alt_text(panels, difference=compared)
    figure, narrow = (
        clickable.selectable(
            confusion.draw(panels, difference=compared, dark=state.dark(), stacked=stacked),
            lambda panel, _, __: pair[panel],
        )
        for stacked in (False, True)
    )
    clicks.open_run(clicks.stacking(figure, narrow, "confusion", alt=alt))
    numbers = pd.concat(panels, names=["Run", "True"]).round(2).dropna().reset_index()
    figures.numbers(numbers, f"confusion-{split}", figure)
