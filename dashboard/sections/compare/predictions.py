"""Predictions: the share of samples on which two models say the same."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import state
from dashboard.charts import agreement
from dashboard.frames import Answer
from dashboard.frames import compare as compare_frames
from dashboard.frames.compare import SPLIT_NAMES
from dashboard.sections.compare.selection import Chosen, pick_common
from dashboard.text import units
from dashboard.widgets import clicks, figures, header


def show(chosen: Chosen, answers: st.delta_generator.DeltaGenerator) -> None:
    chosen, found, split = pick_common(chosen)
    if found is None:
        return
    titles = chosen.names
    shares = compare_frames.shared_predictions(found)
    info = agreement.agreement_info(titles, shares, what="same predictions, %", signed=False)
    made = []
    if info.least is not None:
        one, other, share = info.least
        made.append(Answer("Agree least", f"{100 * share:.1f} %", f"{one} and {other}"))
    retrain = next(
        (
            place
            for place, result in enumerate(chosen.results)
            if result.spec["method"] == "retrain"
        ),
        None,
    )
    if retrain is not None:
        share, near = max(
            (shares[retrain, place], title)
            for place, title in enumerate(titles)
            if place != retrain
        )
        made.append(
            Answer(
                "Most like Retrain",
                near,
                f"the same prediction on {100 * share:.1f} % of "
                f"{units.count(len(found.ids), 'sample')}",
            )
        )
    best, title = max(zip(compare_frames.accuracies(found), titles, strict=True))
    made.append(
        Answer("Most often right", title, f"{100 * best:.1f} % of {SPLIT_NAMES[split].lower()}")
    )
    with answers:
        header.answers(made)
    st.caption(
        "Look for a pale row: a model that goes its own way. Two models of equal accuracy may be "
        "right on different samples. Click a cell for the run of its row."
    )
    figure = agreement.draw(info, dark=state.dark())
    clicks.heatmap(
        figure,
        "predictions",
        lambda _, row, __: chosen.results[row].key,
        alt=agreement.alt_text(info),
    )
    frame = pd.DataFrame((100 * shares).round(2), columns=titles)
    frame.insert(0, "Run", titles)
    figures.numbers(frame, f"same-predictions-{split}", figure)
