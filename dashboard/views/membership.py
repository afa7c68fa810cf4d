"""Membership: five attacks that look for the forgotten samples, and what one of them sees in one
run, sample by sample.
"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data, frames, state
from dashboard.frames import budget as budget_frames
from dashboard.frames import membership as membership_frames
from dashboard.sections.membership import attacks, one_run
from dashboard.text import units
from dashboard.text.labels import THIN, forget_set_text, setup_text
from dashboard.widgets import figures, header, messages, run_drawer, run_filters
from dashboard.widgets.markdown import escape
from dashboard.widgets.provenance import provenance
from mucore.store import Store

QUESTION = "Can an attacker still tell which samples were forgotten?"


def page() -> None:
    source = data.source()
    top = st.container()
    runs = data.unlearning_runs()
    if runs.empty:
        messages.no_results(
            QUESTION,
            "Five attacks guess from a model's predictions whether it was trained on a sample.",
        )
        return
    runs = run_filters.pick_runs(runs, first=run_filters.OPENS_ON)
    if runs.empty:
        with top:
            messages.none_finished(QUESTION, source)
        return
    scenario, dataset = str(runs.iloc[0]["scenario"]), str(runs.iloc[0]["dataset"])
    values = data.metric_values(dataset=dataset, scenario=scenario)
    judged = data.judged(runs)
    table = frames.results_table(
        runs, values[values["key"].isin(runs["key"])], view="value", judged=judged
    )
    kept = kept_runs(source.store, source.name, source.change, tuple(runs["key"]))
    guesses = membership_frames.mistrusted(table, values)
    everyone = pick_view()
    alone = messages.none_chosen(runs, **budget_frames.launch_query(runs, ()))
    with top:
        header.header(QUESTION, caption(runs), source)
        if not alone:
            header.statement(membership_frames.sentence(table), membership_frames.beside(table))
        header.answers(membership_frames.answers(table, guesses))
    paper = attacks.printed_attacks(runs.iloc[0])
    figure = None if alone else attacks.show(table, guesses, paper, everyone)
    one_run.show(runs[runs["key"].isin(kept)], runs, source, judged)
    run_drawer.run_drawer(runs)
    numbers = membership_frames.attacks_frame(table, guesses, paper)
    figures.numbers(numbers, f"membership-{scenario}", figure)
    provenance(runs)


def pick_view() -> bool:
    """Whether every method competes."""
    with st.container(horizontal=True, gap="medium"):
        everyone = state.toggle(
            "Let every line compete",
            "compete",
            help="Otherwise only methods that forgot are compared and in colour: one that did "
            "nothing or broke the model is not private.",
        )
        state.toggle("The paper's numbers", "paper")
    return everyone


def caption(runs: pd.DataFrame) -> str:
    first = runs.iloc[0]
    chosen = forget_set_text(str(first["scenario_parameters"]), str(first["dataset"]))
    forgotten = units.count(int(runs["forget_count"].median()), "sample")
    seeds = units.count(runs["training_seed"].nunique(), "training seed")
    said = (
        f"{setup_text(first)}. {forgotten} to forget ({chosen}), {seeds}. Good is "
        f"Retrain's value, not 100{THIN}%."
    )
    return escape(said)


@st.cache_data(show_spinner=False, max_entries=32)
def kept_runs(_store: Store, name: str, change: int, keys: tuple[str, ...]) -> frozenset[str]:
    """The runs whose predictions are still there; `name` and `change` say which store, and when it
    was read.
    """
    return frozenset(
        result.key
        for result in _store.results(metrics=False, brief=True, keys=keys)
        if result.outputs is not None and _store.artifacts.exists(result.outputs)
    )


page()
