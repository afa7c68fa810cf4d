"""Depoisoning: how much of an attack on the training data is left after unlearning (MUBox, Figures
5, 6 and 7).
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.frames import budget as budget_frames
from dashboard.frames import depoisoning as depoisoning_frames
from dashboard.sections.depoisoning import bars, examples
from dashboard.text import labels, units
from dashboard.widgets import figures, header, messages, run_drawer, run_filters
from dashboard.widgets.markdown import escape, metric_help
from dashboard.widgets.provenance import provenance
from mucore import catalog
from mucore.verdicts import Judged

QUESTION = "Which method heals a model that was trained on poisoned data?"
SCENARIOS = ("label_flip", "backdoor")
READING = {
    "label_flip": """A healed model meets Retrain's dashed line in every panel: its accuracy is
back, and it no longer gives the flipped labels.""",
    "backdoor": """A healed model meets Retrain's dashed line in every panel: the patch on an image
no longer decides.""",
}
ALL = "all"


def page() -> None:
    source = data.source()
    top = st.container()
    runs = data.summaries()
    runs = runs[runs["scenario"].isin(SCENARIOS)]
    if runs.empty:
        with top:
            header.header(QUESTION, READING["backdoor"], source)
        messages.empty(
            "No run has poisoned training data.",
            "Launch both attacks",
            "launch",
            scenarios=list(SCENARIOS),
        )
        return
    runs = run_filters.pick_runs(runs, scenarios=SCENARIOS, varying=budget_frames.AMOUNTS)
    if runs.empty:
        with top:
            messages.none_finished(QUESTION, source)
        return
    scenario = str(runs.iloc[0]["scenario"])
    there = runs[~runs["method"].isin(data.REFERENCES)]["forget_count"]
    runs = runs[runs["forget_count"].isin(there)] if len(there) else runs
    values = data.metric_values(dataset=str(runs.iloc[0]["dataset"]), scenario=scenario)
    judged = data.judged(runs)
    found = curves(
        runs,
        values,
        judged,
        source.name,
        source.change,
        tuple(runs["key"]),
        depoisoning_frames.METRICS[scenario],
    )
    with top:
        header.header(catalog.scenario(scenario).question, how_to_read(runs, scenario), source)
    answer = st.container()
    sizes = pick_size(found)
    with answer:
        rows = depoisoning_frames.rows(found, sizes[0])
        if said := depoisoning_frames.headline(rows):
            header.answer(said)
        header.verdict_bar(rows)
    below: list[str] = []
    drawn = {
        count: bars.show(found, runs, scenario, count, alone=len(sizes) == 1, said=below)
        for count in sizes
    }
    st.subheader("What the models say", anchor=False)
    pictures = st.container()
    run_drawer.run_drawer(budget_frames.beside(runs, state.param("run")))
    for count, figure in drawn.items():
        of = units.count(count, "poisoned sample") if len(drawn) > 1 else ""
        table = budget_frames.numbers(depoisoning_frames.ordered(found, count))
        figures.numbers(
            table[table["Samples"] == count], f"depoisoning-{scenario}-{count}", figure, of=of
        )
    provenance(runs)
    # last, since the first images of a server take a second or two
    with pictures, messages.guarded():
        examples.show(found, runs, scenario, sizes[0])


def pick_size(found: budget_frames.Curves) -> list[int]:
    """The poison sizes to draw, largest first."""
    sizes = sorted(found.sizes, reverse=True)
    names = {ALL: "All", **{str(count): units.count(count, "sample") for count in sizes}}
    chosen = (
        state.segmented(
            "Poisoned",
            "size",
            list(names),
            format_func=names.__getitem__,
            label_visibility="collapsed",
        )
        if len(sizes) > 1
        else ALL
    )
    return sizes if chosen == ALL else [int(chosen)]


@st.cache_data(show_spinner=False, max_entries=32)
def curves(
    _runs: pd.DataFrame,
    _values: pd.DataFrame,
    _judged: Mapping[str, Judged],
    name: str,
    change: int,
    keys: tuple[str, ...],
    metrics: tuple[str, ...],
) -> budget_frames.Curves:
    """`budget_frames.curves`; `name`, `change` and `keys` say which runs, so that the frames need
    no hashing.
    """
    return budget_frames.curves(_runs, _values, metrics, judged=_judged)


def how_to_read(runs: pd.DataFrame, scenario: str) -> str:
    meaning = [metric_help(name) for name in depoisoning_frames.PANELS[scenario]]
    return "  \n".join([escape(labels.setup_text(runs.iloc[0])), READING[scenario], *meaning])


page()
