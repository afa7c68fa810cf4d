"""Last layer: each method against itself on the classifier alone."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data, frames, state
from dashboard.charts import last_layer
from dashboard.frames import representation as computed
from dashboard.sections.representation.shared import PAPER, say
from dashboard.widgets import clicks, figures, messages


def show(runs: pd.DataFrame, values: pd.DataFrame) -> None:
    st.markdown(
        "**Does a method do more than change the last layer?** Each method ran twice, once on the "
        "classifier alone. At the lower right both came to the same thing: the encoder was left "
        f"as it was. ({PAPER} Figure 4b)"
    )
    twins = computed.twins(runs)
    if not twins:
        first = runs.iloc[0]
        command = (
            f"--dataset {first['dataset']} --model {first['model']} --scenario class_wise "
            "--methods duck,salun --scope all,classifier"
        )
        messages.empty(
            "No method of this selection ran on the classifier alone as well, which is what this "
            f"figure compares it with: `python -m mucore run {command}`.",
            "Launch a comparison",
            "launch",
            scenarios="class_wise",
            methods=["duck", "salun"],
            scopes=["all", "classifier"],
        )
        return
    # other settings of a method would only lengthen its name
    paired = runs[runs["key"].isin([whole for whole, _ in twins])]
    rows = frames.metric_rows(
        paired, values[values["key"].isin(paired["key"])], (), judged=data.judged(paired)
    )
    agreement, to_original = (_by_run(values, metric) for metric in ("agl", "cka_original_test"))
    ckas = computed.twin_ckas(twins, to_original)
    info = last_layer.last_layer_info(rows, twins, ckas, agreement)
    if not info.marks:
        messages.empty(
            "These pairs have no AGL or no CKA to the original. AGL needs a scenario that forgets "
            "whole classes.",
            "Launch a comparison",
            "launch",
        )
        return
    figure = last_layer.draw(info, dark=state.dark(), selected=state.param("run"))
    clicks.chart(
        figure, "last_layer", alt=last_layer.alt_text(info), known={mark.key for mark in info.marks}
    )
    notes = [info.note] if info.note else []
    notes += (
        [f"Not drawn, because AGL or CKA is missing: {', '.join(info.missing)}."]
        if info.missing
        else []
    )
    say(notes)
    table = pd.DataFrame(
        {
            "Method": mark.title,
            "Verdict, all layers": mark.said,
            "CKA of both": mark.cka,
            "AGL, all layers": mark.agl,
            "AGL, classifier": mark.agl_last,
            "Pairs": mark.pairs,
        }
        for mark in info.marks
    )
    figures.numbers(table, "last-layer", figure)


def _by_run(values: pd.DataFrame, metric: str) -> dict[str, float]:
    return (
        values[values["metric"] == metric]
        .dropna(subset="value")
        .set_index("key")["value"]
        .astype(float)
        .to_dict()
    )
