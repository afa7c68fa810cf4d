"""Confusion: what two of the models take for what, or how they differ in that from Retrain."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import state
from dashboard.charts import confusion
from dashboard.frames import Answer
from dashboard.sections.compare.selection import Chosen, pick_split, points
from dashboard.widgets import clicks, figures, header, messages
from dashboard.widgets.links import anew


def show(chosen: Chosen, answers: st.delta_generator.DeltaGenerator) -> None:
    counted = {result.key: result for result in chosen.results if result.confusion}
    if not counted:
        sentence = "Confusion counts were not stored with these runs. New runs keep them."
        messages.empty(sentence, "Launch a comparison", "launch", **anew(chosen.runs))
        return
    if np.ndim(next(iter(next(iter(counted.values())).confusion.values()))) == 3:
        st.markdown(
            "These data have yes-or-no labels and so no confusion of classes. The view Classes "
            "shows each answer."
        )
        return
    above = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    with above:
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
        st.markdown("Choose a run other than Retrain, above.")
        return
    ordered = sorted(
        keys, key=lambda key: {"retrain": 0, "original": 2}.get(counted[key].spec["method"], 1)
    )
    left, right = st.columns(2, gap="small")
    with left:
        first = state.select(
            "Left", "left", keys, default=ordered[0], format_func=lambda key: chosen.titles[key]
        )
    with right:
        second = state.select(
            "Right",
            "right",
            keys,
            default=ordered[min(1, len(keys) - 1)],
            format_func=lambda key: chosen.titles[key],
        )
    with above:
        split = pick_split(sorted(set(counted[first].confusion) & set(counted[second].confusion)))
    pair = list(dict.fromkeys([first, second]))
    bases = [chosen.retrains[key] for key in pair]
    usable = [
        base.confusion[split] for base in bases if base is not None and split in base.confusion
    ]
    compared = difference and len(usable) == len(pair)
    if difference and not compared:
        st.caption("Shown without the difference: the Retrain of this training seed is missing.")
    panels = [(chosen.titles[key], counted[key].confusion[split]) for key in pair]
    info = confusion.confusion_info(panels, chosen.class_names, usable if compared else None)
    made = []
    for title, true, predicted, value in info.worst:
        head = f"{title}: {'farthest from Retrain' if compared else 'most confused'}"
        size = (
            f"{points(value)} points against Retrain"
            if compared
            else f"{value:.1f} % of class {true}"
        )
        made.append(Answer(head, f"{true} taken for {predicted}", size))
    with answers:
        header.answers(made)
    if not info.worst:
        st.markdown(
            "No sample is in the wrong column here."
            if not compared
            else "These runs confuse classes exactly as Retrain does."
        )
    st.caption(
        "Look for colour beside the diagonal: where a forgotten class goes. "
        + ("Blue is more often than Retrain, orange less. " if compared else "")
        + "Click a cell for its run."
    )
    figure = confusion.draw(info, dark=state.dark())
    clicks.heatmap(
        figure, "confusion", lambda panel, _, __: pair[panel], alt=confusion.alt_text(info)
    )
    frames = []
    for panel in info.panels:
        frame = pd.DataFrame(panel.cells, columns=list(info.names)).round(2)
        frame.insert(0, "True", list(info.true))
        frame.insert(0, "Run", panel.title)
        frames.append(frame)
    figures.numbers(pd.concat(frames), f"confusion-{split}", figure)
