"""The newest runs."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import access, data
from dashboard.text import labels, units
from dashboard.widgets import clicks, messages, run_filters
from dashboard.widgets.markdown import escape
from dashboard.widgets.provenance import local_time
from mucore import catalog, titles

NEWEST = 12


def show(source: data.Source, summaries: pd.DataFrame) -> None:
    st.subheader("Newest runs", anchor=False)
    if summaries.empty:
        messages.empty(
            "There are no results yet, and no demo either.",
            "Launch your first comparison",
            "launch",
        )
        return
    shown = summaries[~summaries["method"].isin(run_filters.hidden())]
    newest = shown.sort_values("finished", ascending=False).head(NEWEST)
    clicks.runs_table(
        newest,
        runs_frame(newest),
        "newest_runs",
        height="content",
        column_config={
            "Finished": st.column_config.DatetimeColumn(format="D MMM, HH:mm"),
            "Method": st.column_config.TextColumn(width=150),  # the longest title
            "Time": st.column_config.TextColumn(alignment="right"),
            "Status": st.column_config.TextColumn(
                help="ok; diverged: weights became infinite and the last finite state was "
                "kept; reverted: given back as it was; unsolved: a linear system was left "
                "above its tolerance, so the result is rough."
            ),
        },
    )
    st.caption(
        f"{units.count(len(summaries), 'result')} in all{on_one(newest)}. Click a line for "
        "its run. "
        + (
            "They are the demo's."
            if source.demo
            else f"They lie in {source.store.home}."
            if access.presents()
            else ""
        )
    )


def runs_frame(newest: pd.DataFrame) -> pd.DataFrame:
    """A line a run; without the data set where it is the same in all."""
    made = pd.DataFrame(
        {
            "Finished": local_time(newest["finished"]),
            "Method": [labels.method_names(name)[0] for name in newest["method"]],
            "Scenario": [
                catalog.scenario(name).title if isinstance(name, str) else "training"
                for name in newest["scenario"]
            ],
            "Data set": [titles.dataset(str(name)) for name in newest["dataset"]],
            "Time": [units.duration(seconds) for seconds in newest["seconds"]],
            "Status": newest["status"],
        }
    )
    return made if newest["dataset"].nunique() > 1 else made.drop(columns="Data set")


def on_one(newest: pd.DataFrame) -> str:
    """The data set that the newest runs share, for which their table has no column then."""
    names = list(dict.fromkeys(newest["dataset"]))
    return f", the newest on {escape(titles.dataset(str(names[0])))}" if len(names) == 1 else ""
