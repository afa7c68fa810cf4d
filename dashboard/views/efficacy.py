"""Efficacy: how much information about the forgotten samples is left in the weights, over seeds,
forget sets and methods.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.frames import efficacy as efficacy_frames
from dashboard.sections.efficacy import against_membership, paper, rank, spread
from dashboard.text import units
from dashboard.text.labels import setup_text
from dashboard.widgets import figures, header, messages, run_drawer, run_filters
from dashboard.widgets.markdown import escape
from dashboard.widgets.provenance import provenance
from mucore.metrics.membership import ATTACKS

QUESTION = "How much do the weights still hold about the forgotten samples?"


def page() -> None:
    source = data.source()
    top = st.container()
    runs = data.unlearning_runs()
    if runs.empty:
        messages.no_results(
            QUESTION,
            "Efficacy: one over the information that the weights hold about the forget set.",
        )
        return
    runs = run_filters.pick_runs(runs, first=["class_fraction"], sets=False, extra=pick_view)
    if runs.empty:
        with top:
            messages.none_finished(QUESTION, source)
        return
    scenario = str(runs.iloc[0]["scenario"])
    values = data.metric_values(dataset=str(runs.iloc[0]["dataset"]), scenario=scenario)
    frame = run_frame(runs, values, source.name, source.change, data.chosen(runs))
    sets = efficacy_frames.sets(frame)
    if not sets:
        with top:
            header.header(
                QUESTION,
                "Efficacy: one over the information that the weights hold about the forget set.",
                source,
            )
        show_unmeasured(runs, values)
        return
    labels = efficacy_frames.set_labels(sets, str(runs.iloc[0]["dataset"]))
    figure = spread.show(frame, labels, (source.name, source.change, data.chosen(runs)))
    left, right = st.columns(2, gap="medium")
    with left:
        shown = rank.show(frame, sets, labels)
    attack = state.upcoming("attack", list(ATTACKS), ATTACKS[1])
    with right:
        asked = against_membership.with_probability(frame, attack)
        paper.show_findings(asked, attack)
    against_membership.show(asked, sets, labels)
    paper.show_printed(frame)
    with top:  # last, because the choices below decide what the answers speak of
        header.header(QUESTION, caption(runs, sets), source)
        if said := efficacy_frames.sentence(frame, shown, labels[shown]):
            header.statement(said)
        header.answers(efficacy_frames.answers(frame, shown))
    run_drawer.run_drawer(runs)
    figures.numbers(numbers(frame, labels, attack), f"efficacy-{scenario}", figure)
    provenance(runs)


def pick_view() -> None:
    state.toggle("The paper's numbers", "paper")


@st.cache_data(show_spinner=False, max_entries=16)
def run_frame(
    _runs: pd.DataFrame, _values: pd.DataFrame, name: str, change: int, chosen: str
) -> pd.DataFrame:
    """`efficacy_frames.run_frame`; `name`, `change` and `chosen` say which runs, so that the frames
    need no hashing.
    """
    return efficacy_frames.run_frame(_runs, _values, data.judged(_runs))


def caption(runs: pd.DataFrame, sets: Sequence[str]) -> str:
    first = runs.iloc[0]
    seeds = units.count(runs["training_seed"].nunique(), "training seed")
    return escape(
        f"{setup_text(first)}, {units.count(len(sets), 'forget set')}, {seeds}. "
        "Low is less exposed; Retrain's is the aim (Becker & Liebig)."
    )


def show_unmeasured(runs: pd.DataFrame, values: pd.DataFrame) -> None:
    """No run has an efficacy: the reason that the runs give, or that they are older than the
    metric.
    """
    here = values[
        values["key"].isin(runs["key"])
        & values["metric"].isin(efficacy_frames.METRICS)
        & values["error"].notna()
    ]
    if here.empty:
        text = (
            "These results were made before efficacy was measured, or by a program that does "
            "not. `python -m mucore remeasure` adds it "
        )
        text += "where weights were kept; a new comparison has it at once."
    else:
        reasons = here["error"].value_counts()
        text = (
            "No run of this choice has an efficacy. The reason they give: "
            f"{escape(str(reasons.index[0]))}"
        )
    messages.empty(text, "Launch a comparison", "launch")
    provenance(runs)


def numbers(frame: pd.DataFrame, labels: dict[str, str], attack: str) -> pd.DataFrame:
    """One line a run, powers of ten and percent, full precision."""
    named = frame.assign(
        set=[labels.get(name, name) for name in frame["set"]], seen=100 * frame[f"seen_{attack}"]
    )
    columns = {
        "title": "Method",
        "set": "Forget set",
        "said": "Verdict",
        "training_seed": "Training seed",
        "efficacy": "Efficacy (log10)",
        "efficacy_bound": "Bound (log10)",
        "seen": f"Called seen by {attack} (%)",
        "key": "Run",
    }
    return named[list(columns)].rename(columns=columns)


page()
