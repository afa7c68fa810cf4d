"""AGL and AGR of the same methods on every forget set of a data set, and AGL on two data sets."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data, frames, state, widgets
from dashboard.charts import across_sets, two_sets
from dashboard.frames import representation as computed
from dashboard.sections.representation.shared import PAPER, REMEASURE, say
from dashboard.text import units
from dashboard.widgets import columns, run_drawer
from mucore import titles

FIRST = ("pseudo_labels", "salun", "duck", "contrastive")  # those of the paper's figure


def show_every(runs: pd.DataFrame, everything: pd.DataFrame, count: int | None) -> pd.DataFrame:
    """Figure 7, with the paper's values of `count` classes unless that is None; gives the runs that
    it shows.
    """
    first = runs.iloc[0]
    here = computed.whole_classes(everything, runs)
    for column in ("dataset", "model", "recipe"):
        here = here[here[column] == first[column]]
    sets, lines = computed.across_sets(
        here, data.metric_values(dataset=str(first["dataset"])), data.judged(here)
    )
    if not lines:
        widgets.empty(
            "No method of this selection has AGL or AGR on any forget set of whole classes of "
            f"{widgets.escape(titles.dataset(str(first['dataset'])))}. "
            f"{REMEASURE}",
            "Forget whole classes",
            "launch",
        )
        return here
    st.markdown(
        "**Does a method agree with Retrain on every forget set?** Each line is a method over "
        f"the forget sets of whole classes of this data set. ({PAPER} Figure 7)"
    )
    by_id = {line.id: line for line in lines}
    usual = [line.id for line in lines if line.method in FIRST] or list(by_id)
    drawn = state.multiselect(
        "Methods in the figure",
        "drawn",
        list(by_id),
        default=usual[: across_sets.MOST],
        format_func=lambda name: by_id[name].title,
    )
    chosen = [by_id[name] for name in drawn][: across_sets.MOST]
    if not chosen:
        st.markdown("No method is chosen.")
        return here
    paper = {} if count is None else _paper(count)
    info = across_sets.across_info(sets, chosen, paper, printed_as=_over_ghosts(count))
    widgets.answers(every_answers(info))
    figure = across_sets.draw(info, dark=state.dark(), selected=state.param("run"))
    run_drawer.chart(figure, "across_sets", alt=across_sets.alt_text(info), known=set(here["key"]))
    notes = (
        [f"Of the chosen methods the first {across_sets.MOST} are drawn."]
        if len(drawn) > across_sets.MOST
        else []
    )
    notes += (
        ["One forget set alone: a second one, at random or near a downstream set, makes lines."]
        if len(sets) < 2
        else []
    )
    notes += (
        ["No downstream set was measured here, so there is no AGR."]
        if "agr" not in info.measures
        else []
    )
    if count is not None:
        notes.append(paper_words(count) if info.ghosts else "The paper has none of these methods.")
    say(notes)
    widgets.numbers(every_frame(info), "every-forget-set", figure)
    return here


def _paper(count: int) -> dict[str, tuple[computed.Paper, ...]]:
    return {
        title: computed.paper_values(computed.set_of(name, count))
        for name, title in computed.PAPER_SERIES.items()
    }


def _over_ghosts(count: int | None) -> str:
    return (
        f"the paper, {count} classes of "
        f"ImageNet-1K{'' if count == computed.PAPER_COUNTS[0] else ', computed from its tables'}"
    )


def paper_words(count: int) -> str:
    """Which of the paper's values these are."""
    if count == computed.PAPER_COUNTS[0]:
        return (
            f"The paper's values are those that it prints for {count} classes (Table 15). Other "
            "data than yours: compare the pattern."
        )
    return (
        f"The paper prints no AGL and AGR for {count} classes: these are computed from its "
        "printed accuracies (Tables 9 to 12), k-NN accuracies and CKAs (Tables 13 and 14). Other "
        "data than yours: compare the pattern."
    )


def every_answers(info: across_sets.AcrossInfo) -> tuple[frames.Answer, ...]:
    """Who moves most and least from one forget set to another, by AGR where it was measured."""
    measure = info.measures[-1]
    name = across_sets.TITLES[measure]
    spans = []
    for line in info.lines:
        found = [
            (value, title)
            for title, point in line.points.items()
            if (value := getattr(point, measure)) is not None
        ]
        if len(found) > 1:
            spans.append((max(found)[0] - min(found)[0], line.title, min(found), max(found)))
    if len(spans) < 2:
        return ()
    most, least = max(spans), min(spans)
    return tuple(
        frames.Answer(
            label,
            title,
            f"{name} from {computed.similarity(low[0])} ({low[1]}) to "
            f"{computed.similarity(high[0])} ({high[1]})",
        )
        for label, (_, title, low, high) in (
            ("Moves most between forget sets", most),
            ("Moves least", least),
        )
    )


def every_frame(info: across_sets.AcrossInfo) -> pd.DataFrame:
    lines = [
        (line.title, title, point, "yours")
        for line in info.lines
        for title, point in line.points.items()
    ]
    lines += [
        (method, title, point, "the paper")
        for method, points in info.ghosts.items()
        for title, point in points.items()
    ]
    return pd.DataFrame(
        {
            "Method": method,
            "Forget set": title,
            "Verdict": p.said,
            "AGL": p.agl,
            "AGR": p.agr,
            "Of": of,
        }
        for method, title, p, of in lines
    )


def show_two(runs: pd.DataFrame, everything: pd.DataFrame) -> pd.DataFrame:
    """Figure 5; gives the runs that it shows."""
    all_runs = computed.whole_classes(everything, runs)
    able = [name for name in frames.setups(all_runs, "dataset") if _has_agl(all_runs, name)]
    st.markdown(
        "**Does a method that works on one data set work on another?** Below the diagonal it "
        f"does worse on y. ({PAPER} Figure 5)"
    )
    if len(able) < 2:
        widgets.empty(
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
        widgets.empty(
            "No method of this selection ran on both data sets.",
            "Forget whole classes",
            "launch",
            scenarios="class_wise",
        )
        return shown
    names = (titles.dataset(x), titles.dataset(y))
    info = two_sets.TwoSetsInfo(pairs, *names)
    widgets.answers(two_answers(info))
    figure = two_sets.draw(info, dark=state.dark(), selected=state.param("run"))
    run_drawer.chart(
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
    widgets.numbers(table, "two-data-sets", figure)
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
    for column in ("model", "recipe", "scenario", "scenario_parameters"):
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
