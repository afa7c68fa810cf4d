"""One run under one attack, sample by sample: scores, ROC curves and the most exposed samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.charts import histograms, roc
from dashboard.charts.parts import score_axis
from dashboard.frames import attacks
from dashboard.frames import membership as membership_frames
from dashboard.frames.membership import Scored
from dashboard.frames.rows import references
from dashboard.text.labels import method_names, preset_title
from dashboard.widgets import figures, messages, run_facts
from dashboard.widgets.markdown import escape
from dashboard.widgets.pictures import class_name, picture_url, thumbnails
from mucore.errors import MucoreError
from mucore.metrics.mia import ATTACKS
from mucore.metrics.sanity import blind_attacks
from mucore.runs import REFERENCES
from mucore.verdicts import Judged, nearest

BINS: Final = 40
EXPOSED: Final = 8  # lines with an image
AXES: Final = {
    "correctness": "Prediction",
    "confidence": "Probability of the true class (log-odds scale)",
    "entropy": "Entropy of the prediction in nats (log scale)",
    "m_entropy": "Modified entropy in nats (log scale)",
    "prob": "Decision value of the attack",
}


def show(runs: pd.DataFrame, judged: Mapping[str, Judged]) -> None:
    """Behind a head that opens it, and open where the address names a run or an attack."""
    asked = bool(state.param("run") or state.param("attack"))
    box = st.expander(
        "One run, sample by sample: ROC, scores, most exposed samples",
        expanded=asked,
        icon=":material/person_search:",
        key=f"one-run-{asked}",
        on_change="rerun",
    )
    if box.open:
        with box:
            _inside(runs, judged)


def _inside(runs: pd.DataFrame, judged: Mapping[str, Judged]) -> None:
    lines = runs[runs["key"].isin(data.predicted())].set_index("key")
    if lines.empty:
        messages.empty(
            "The predictions of these runs were not kept. Run the comparison again to see them.",
            "Launch a comparison",
            "launch",
        )
        return
    label = {name: run_label(lines.loc[name]) for name in lines.index}
    key = state.select(
        "Run",
        "run",
        list(lines.index),
        default=first_run(lines, judged),
        format_func=label.__getitem__,
    )
    if state.param("run") not in ("", key):
        st.caption("The predictions of the run you clicked were not kept; this is another.")
    attack = state.segmented(
        "Attack", "attack", list(ATTACKS), default=ATTACKS[1], format_func=attacks.title
    )
    try:
        twins = references(lines, key).items()
        run = score(key, attack)
        others = {name: score(one, attack) for name, one in twins if one != key}
    except MucoreError as failure:
        messages.error(escape(str(failure)), "Choose another run or attack.")
        return
    draw(key, lines.loc[key], run, others)
    if "Retrain" in others:
        show_exposed(key, run, others["Retrain"], others.get("Original"))


def first_run(lines: pd.DataFrame, judged: Mapping[str, Judged]) -> str:
    """The key of the run to open on: of the method that forgot the nearest to Retrain, else of any,
    else of a reference.
    """
    best = nearest({line.keys: line for line in judged.values()}.values())
    forgot = [key for line in best for key in line.keys if key in lines.index]
    methods = lines.index[~lines["method"].isin(REFERENCES)]
    return str([*forgot, *methods, *lines.index][0])


def run_label(line: pd.Series) -> str:
    preset = str(line["method_preset"])
    whose = "" if preset == "authors" else f" ({preset_title(preset).lower()})"
    return f"{method_names(str(line['method']))[0]}{whose}, {run_facts.seeds(line)}"


@data.kept(64)
def score(_: data.Source, key: str, attack: str) -> Scored:
    outputs, result = data.outputs(key), data.result(key)
    if outputs is None or result is None:
        raise MucoreError("The predictions of this run were removed a moment ago.")
    return membership_frames.score_run(attack, outputs, result)


def draw(key: str, line: pd.Series, run: Scored, others: Mapping[str, Scored]) -> None:
    result, (title, family) = data.result(key), method_names(str(line["method"]))
    if result is not None and run.attack in blind_attacks(result.notes):
        st.warning("On this model the attack only guesses: no evidence.", icon=":material/help:")
    if run.reversed:
        st.caption("Test samples score higher than retained ones: the cut points the wrong way.")
    left, right = st.columns(2, gap="medium")
    with left:
        sets = {name.capitalize(): values for name, values in run.positions.items()}
        bins = histograms.bins({"": sets}, edges(run))
        low, high = bins["low"].min(), bins["high"].max()
        axis = AXES[run.attack]
        figure = histograms.draw(
            bins,
            axis=axis,
            up="Share of the set, %",
            dark=state.dark(),
            cuts={run.cut: "seen to the right"},
            ticks=score_axis.ticks(run.attack, low, high),
        )
        figures.chart(figure, "scores", alt=histograms.alt_text(bins, axis))
    with right:
        curves = [roc.curve(name, each) for name, each in ({title: run} | dict(others)).items()]
        figure = roc.draw(curves, family=family, dark=state.dark())
        figures.chart(figure, "roc", alt=roc.alt_text(curves))


def edges(run: Scored) -> np.ndarray:
    """Of the bins: two for right and wrong, else of equal width over all scores."""
    values = np.concatenate(list(run.positions.values()))
    if run.attack == "correctness" and np.isin(values, (0, 1)).all():
        return np.array([-0.5, 0.5, 1.5])
    return np.linspace(values.min() - 1e-6, values.max() + 1e-6, BINS + 1)


def show_exposed(key: str, run: Scored, retrain: Scored, original: Scored | None) -> None:
    """The samples that look more like training samples here than to Retrain, the first ones with
    their images.
    """
    result = data.result(key)
    if result is None:
        return
    frame = membership_frames.vulnerable(run, retrain=retrain, original=original)
    ids = frame["id"].tolist()
    table = pd.DataFrame(
        {
            "Sample": data.numbered(result.spec, ids),
            "Label": [class_name(result, label) for label in frame["label"]],
            **{
                head: membership_frames.natural(run.attack, frame[column].to_numpy(float))
                for column, head in {
                    "run": "Here",
                    "retrain": "Retrain",
                    "original": "Original",
                }.items()
            },
        }
    )
    pictures = thumbnails(result, ids[:EXPOSED])
    top = table.head(EXPOSED)
    if pictures:
        top.insert(0, "Image", [picture_url(pictures.get(each)) for each in ids[:EXPOSED]])
    config = dict.fromkeys(
        ("Here", "Retrain", "Original"), st.column_config.NumberColumn(format="%.4g")
    )
    st.markdown(
        f"**Most exposed against Retrain**, by {AXES[run.attack].partition(' (')[0].lower()}"
    )
    st.dataframe(
        top,
        hide_index=True,
        row_height=44,
        height=44 * len(top) + 37,  # its rows and its head
        column_config={"Image": st.column_config.ImageColumn("Image", width="small"), **config},
    )
    figures.numbers(table, f"exposure-{run.attack}-{key}", of="all forgotten samples")
