"""Depoisoning: how much of an attack on the training data is left after unlearning (MUBox, Figures
5, 6 and 7).
"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data, frames, state
from dashboard.frames import budget as budget_frames
from dashboard.frames import depoisoning as depoisoning_frames
from dashboard.sections.depoisoning import bars, examples
from dashboard.text import labels, units
from dashboard.widgets import figures, header, messages, run_drawer, run_filters
from dashboard.widgets.markdown import escape, metric_help
from dashboard.widgets.provenance import provenance
from mucore import catalog
from mucore.runs import REFERENCES

QUESTION = "Which method repairs a model trained on poisoned data?"
SCENARIOS = ("backdoor", "label_flip")
READING = {
    "label_flip": """A repaired model meets Retrain's dashed line in every panel: its accuracy
is back, and it no longer gives the flipped labels.""",
    "backdoor": """A repaired model meets Retrain's dashed line in every panel: the patch on an
image no longer decides.""",
}


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
    runs = run_filters.pick_runs(
        runs, scenarios=SCENARIOS, first=SCENARIOS, varying=budget_frames.AMOUNTS
    )
    if runs.empty:
        with top:
            messages.none_finished(QUESTION, source)
        return
    scenario = str(runs.iloc[0]["scenario"])
    with top:
        header.header(catalog.scenario(scenario).question, how_to_read(runs, scenario), source)
    methods = runs[~runs["method"].isin(REFERENCES)]
    if messages.none_chosen(runs, **budget_frames.launch_query(runs, ())):
        return
    answer = st.container()
    count = pick_size(methods["forget_count"])
    shown = runs[runs["forget_count"] == count]
    rows = rows_of(shown, scenario, source.name, source.change, data.chosen(shown))
    with answer:
        if said := depoisoning_frames.headline(rows):
            header.answer(said)
        header.verdict_bar(rows)
    figure = bars.show(rows, scenario)
    st.subheader("What the models say", anchor=False)
    pictures = st.container()
    run_drawer.run_drawer(budget_frames.beside(runs, state.param("run")))
    numbers = depoisoning_frames.numbers(rows, scenario)
    figures.numbers(numbers, f"depoisoning-{scenario}-{count}", figure)
    provenance(shown)
    # last, since the first images of a server take a second or two
    with pictures, messages.guarded():
        examples.show(rows, shown, scenario)


def pick_size(counts: pd.Series) -> int:
    """How many samples were poisoned: the most, unless the reader chooses fewer."""
    names = {str(count): units.count(count, "sample") for count in sorted({*counts}, reverse=True)}
    if len(names) < 2:
        return int(next(iter(names)))
    return int(
        state.segmented(
            "Poisoned",
            "size",
            list(names),
            format_func=names.__getitem__,
            label_visibility="collapsed",
        )
    )


@st.cache_data(show_spinner=False, max_entries=32)
def rows_of(
    _runs: pd.DataFrame, scenario: str, name: str, change: int, chosen: str
) -> list[frames.Row]:
    """The rows of one poison size; `name`, `change` and `chosen` say which runs, so that the frame
    needs no hashing.
    """
    values = data.metric_values(dataset=str(_runs.iloc[0]["dataset"]), scenario=scenario)
    metrics = depoisoning_frames.METRICS[scenario]
    rows = frames.metric_rows(_runs, values, metrics, judged=data.judged(_runs))
    return frames.nearest_first(rows)


def how_to_read(runs: pd.DataFrame, scenario: str) -> str:
    meaning = [metric_help(name) for name in depoisoning_frames.PANELS[scenario]]
    return "  \n".join([escape(labels.setup_text(runs.iloc[0])), READING[scenario], *meaning])


page()
