"""What the tables of ranks, agreement and tests share."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.frames import budget as budget_frames
from dashboard.frames import tradeoffs as tradeoffs_frames
from dashboard.widgets import messages
from dashboard.widgets.markdown import escape
from mucore.statistics import Statistics, label_runs


def values_of(runs: pd.DataFrame, chosen: str) -> pd.DataFrame:
    """The `metric_values` of runs of one data set; `chosen` is their `data.chosen`, which takes a
    hundredth of a second of ten thousand.
    """
    if runs.empty:
        return pd.DataFrame(columns=["key", "metric", "value", "gap", "error"])
    source = data.source()
    return _values_of(runs, source.name, source.change, chosen).copy(deep=False)


# kept as it is, as `data.metric_values` is: half a million rows take long to pick and to pickle
@st.cache_resource(show_spinner=False, max_entries=4)
def _values_of(_runs: pd.DataFrame, name: str, change: int, chosen: str) -> pd.DataFrame:
    dataset = str(_runs.iloc[0]["dataset"])
    values = data.metric_values(dataset=dataset)
    if (data.summaries()["dataset"] == dataset).sum() == len(_runs):
        return values  # to pick all of half a million rows takes as long as to read them
    return values[values["key"].isin(_runs["key"])]


def labelled(runs: pd.DataFrame, chosen: str) -> pd.DataFrame:
    """`statistics.label_runs` of the runs, once for all that is made of them; `chosen` as above."""
    source = data.source()
    return _labelled(runs, source.name, source.change, chosen).copy(deep=False)


@st.cache_resource(show_spinner=False, max_entries=4)
def _labelled(_runs: pd.DataFrame, name: str, change: int, chosen: str) -> pd.DataFrame:
    return label_runs(_runs)


@st.cache_data(show_spinner=False, max_entries=16)
def line_verdicts(
    _runs: pd.DataFrame, name: str, change: int, chosen: str
) -> dict[tuple[str, str], bool]:
    """`frames.tradeoffs.line_verdicts`; `name`, `change` and `chosen` say which runs."""
    return tradeoffs_frames.line_verdicts(labelled(_runs, chosen), data.judged_words(_runs))


def forgot_in(found: Statistics, runs: pd.DataFrame) -> dict[str, int]:
    source = data.source()
    return tradeoffs_frames.forgot_in(
        found, line_verdicts(runs, source.name, source.change, data.chosen(runs))
    )


def missing(found: Statistics, runs: pd.DataFrame, start: str, button: str) -> None:
    """The sentence of `notes` that says why a part is not there, and the way to Launch with what
    `runs` have.
    """
    notes = [note for note in found.notes if note.startswith((start, "No value", "No method"))]
    messages.empty(
        escape(" ".join(notes) or "Nothing can be compared yet."),
        button,
        "launch",
        **budget_frames.launch_query(runs, ()),
    )
