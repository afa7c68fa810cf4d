"""The runs themselves: which are compared, and the table of them."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.frames import compare as compare_frames
from dashboard.sections.compare.selection import Chosen
from dashboard.text import units
from dashboard.widgets import clicks, columns, run_filters
from dashboard.widgets.markdown import metric_help
from mucore.verdicts import nearest


def pick(
    runs: pd.DataFrame, every: pd.DataFrame, source: data.Source
) -> tuple[pd.DataFrame, list[str]]:
    """The runs on offer, and the keys of those to compare.

    On offer are `runs`, which the page's filters leave, and whatever the address names of `every`
    run on their data set: so a run stays chosen when the reader moves a filter to add others.
    """
    same = every[every["dataset"] == runs.iloc[0]["dataset"]]
    named = same[same["key"].isin(state.params("key")) & ~same["key"].isin(runs["key"])]
    offered = compare_frames.in_order(pd.concat([runs, named]))
    titles = compare_frames.labels(offered, full=True)
    options = list(offered["key"])
    default = usual(runs, source.name, source.change, tuple(runs["key"]))
    shown = offered[offered["key"].isin(state.upcoming_choices("key", options, default))]
    seeds = units.count(shown["training_seed"].nunique(), "seed")
    with run_filters.chip("runs", "Shown", f"{units.count(len(shown), 'run')} of {seeds}"):
        keys = state.multiselect(
            "Runs: method, scenario, seed",
            "key",
            options,
            default=default,
            format_func=lambda key: titles[key],
            help="Choose another scenario or other settings to add their runs.",
        )
    return offered, keys


@st.cache_data(show_spinner=False, max_entries=32)
def usual(_runs: pd.DataFrame, name: str, change: int, keys: tuple[str, ...]) -> list[str]:
    """`compare_frames.usual_keys`; `name`, `change` and `keys` say which runs."""
    lines = {line.keys: line for line in data.judged(_runs).values()}.values()
    others = sorted(
        (line for line in lines if line.distance is not None), key=lambda line: line.distance or 0.0
    )
    near = [key for line in (*nearest(lines), *others) for key in line.keys]
    return compare_frames.usual_keys(_runs, list(dict.fromkeys(near)))


def gathered(keys: Sequence[str], offered: pd.DataFrame, every: pd.DataFrame) -> Chosen | None:
    """What the sections need of the chosen runs, named as among those `offered`; None where none is
    left.
    """
    results = [result for key in keys if (result := data.result(key)) is not None]
    if not results:
        return None
    runs = every.set_index("key").loc[[result.key for result in results]].reset_index()
    among = every[(every["method"] == "retrain") | every["key"].isin(runs["key"])]
    retrains = {
        key: data.result(other) if (other := compare_frames.retrain_of(among, key)) else None
        for key in runs["key"]
    }
    judged = data.judged(compare_frames.alike(every, runs))
    return Chosen(
        runs,
        tuple(results),
        compare_frames.labels(runs, full=False, among=offered),
        retrains,
        judged,
    )


def show(chosen: Chosen) -> None:
    """The compared runs; a click on a line opens its run."""
    values = data.metric_values(keys=tuple(sorted(chosen.runs["key"])))
    frame = compare_frames.runs_frame(chosen.runs, values, chosen.titles, chosen.judged)
    help_of = {f"{name.upper()} (%)": metric_help(name) for name in ("ta", "ra", "fa")} | {
        "RTE": metric_help("rte"),
        "Work": metric_help("rte_work"),
    }
    help_of["Distance"] = (
        "To Retrain, in points: the mean over the metrics that decide, and over "
        "the seeds of the method."
    )
    settings = {name: st.column_config.Column(help=text) for name, text in help_of.items()}
    event = st.dataframe(
        frame,
        hide_index=True,
        column_config=columns.aligned(frame, settings),
        key="runs_table",
        on_select="rerun",
        selection_mode="single-row",
    )
    keys = [
        str(chosen.runs.iloc[place]["key"])
        for place in event["selection"]["rows"]
        if place < len(chosen.runs)
    ]
    clicks.open_new(keys, "runs_table")
