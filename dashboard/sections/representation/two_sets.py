"""AGL of the same methods on two data sets."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data, frames, state
from dashboard.charts import two_sets
from dashboard.frames import representation as computed
from dashboard.sections.representation.shared import PAPER, say
from dashboard.text import units
from dashboard.widgets import clicks, columns, figures, header, messages
from mucore import titles
from mucore.statistics import SETTING


def show(runs: pd.DataFrame, everything: pd.DataFrame) -> pd.DataFrame:
    """Figure 5; gives the runs that it shows."""
    all_runs = computed.whole_classes(everything, runs)
    able = [name for name in frames.setups(all_runs, "dataset") if _has_agl(all_runs, name)]
    st.markdown(
        "**Does a method that works on one data set work on another?** Below the diagonal it "
        f"does worse on y. ({PAPER} Figure 5)"
    )
    if len(able) < 2:
        messages.empty(
            "Needs AGL on two data sets, from the same methods on forget sets of whole classes; "
            f"there {'is one' if able else 'is none'} so far.",
            "Forget whole classes",
            "launch",
            scenarios="class_wise",
        )
        return all_runs
    picked = str(runs.iloc[0]["dataset"])
    left, right = st.columns(2, gap="small")
    with left:
        x = state.select(
            "Data set on x",
            "x",
            able,
            default=picked if picked in able else None,
            format_func=titles.dataset,
        )
    with right:
        y = state.select(
            "Data set on y", "y", [name for name in able if name != x], format_func=titles.dataset
        )
    sides = [_one_set(all_runs, name, runs, everything) for name in (x, y)]
    values = pd.concat([data.metric_values(dataset=name) for name in (x, y)])
    shown = pd.concat(sides)
    pairs, alone = computed.two_sets(sides[0], sides[1], values, data.judged(shown))
    if not pairs:
        messages.empty(
            "No method of this selection ran on both data sets.",
            "Forget whole classes",
            "launch",
            scenarios="class_wise",
        )
        return shown
    names = (titles.dataset(x), titles.dataset(y))
    info = two_sets.two_sets_info(pairs, *names)
    header.answers(two_answers(info))
    figure = two_sets.draw(info, dark=state.dark(), selected=state.param("run"))
    clicks.chart(
        figure, "two_sets", alt=two_sets.alt_text(info), known={pair.key for pair in pairs}
    )
    table = pd.DataFrame(
        {"Method": pair.title}
        | {f"AGL, {name}": value for name, value in zip(names, (pair.x, pair.y), strict=True)}
        | {f"Verdict, {name}": said for name, said in zip(names, pair.said, strict=True)}
        for pair in pairs
    )
    listed = table.assign(
        **{f"AGL, {name}": table[f"AGL, {name}"].map(computed.similarity) for name in names}
    )
    # titles would not fit a narrow window
    listed.columns = ["Method", "AGL on x", "AGL on y", "Verdict on x", "Verdict on y"]
    st.dataframe(
        listed,
        hide_index=True,
        column_config=columns.aligned(listed),
        height="content",
        key="two_sets_table",
    )
    notes = [f"{name}: {_setting(side)}." for name, side in zip(names, sides, strict=True)]
    notes += [info.note] if info.note else []
    notes += (
        [f"Not drawn: {units.count(len(alone), 'method')} with AGL on one of the two alone."]
        if alone
        else []
    )
    notes.append(
        "The paper draws CIFAR-10 against ImageNet-1K and prints the numbers of ImageNet-1K "
        "alone, so none of its points stand here."
    )
    say(notes)
    figures.numbers(table, "two-data-sets", figure)
    return shown


def _has_agl(runs: pd.DataFrame, dataset: str) -> bool:
    values = data.metric_values(dataset=dataset)
    methods = runs[~runs["method"].isin(["original", "retrain"])]
    return bool(
        (
            values["metric"].eq("agl")
            & values["value"].notna()
            & values["key"].isin(methods["key"])
        ).any()
    )


def _one_set(
    runs: pd.DataFrame, dataset: str, picked: pd.DataFrame, everything: pd.DataFrame
) -> pd.DataFrame:
    """The runs of one forget set of a data set: the one that the reader looks at, or else that with
    most methods and runs of any kind.
    """
    here = runs[runs["dataset"] == dataset]
    mine = here[here["key"].isin(picked["key"])]
    here = here if mine.empty else mine
    for column in SETTING[1:]:  # of one data set already
        everything = everything[
            everything["dataset"].eq(dataset) & everything[column].isin(here[column])
        ]
        everything = everything[everything[column] == frames.setups(everything, column)[0]]
        here = here[here[column] == everything.iloc[0][column]]
    return here


def _setting(runs: pd.DataFrame) -> str:
    first = runs.iloc[0]
    return (
        f"{titles.model(str(first['model']))}, "
        f"{computed.set_title(str(first['scenario']), str(first['scenario_parameters']))}"
    )


def two_answers(info: two_sets.TwoSetsInfo) -> tuple[frames.Answer, ...]:
    below = sum(pair.y < pair.x for pair in info.pairs)
    made = [
        frames.Answer(
            f"Worse on {info.y}",
            f"{below} of {len(info.pairs)}",
            f"methods have a lower AGL there than on {info.x}",
        )
    ]
    falls = info.pairs[0]
    if falls.y < falls.x:
        made.append(
            frames.Answer(
                "Falls most",
                falls.title,
                f"AGL from {computed.similarity(falls.x)} to {computed.similarity(falls.y)}",
            )
        )
    return tuple(made)
