"""AGL and AGR of the same methods on every forget set of a data set."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data, frames, state
from dashboard.charts import across_sets
from dashboard.frames import representation as computed
from dashboard.sections.representation.shared import PAPER, REMEASURE, say
from dashboard.widgets import clicks, figures, header, messages
from dashboard.widgets.markdown import escape
from mucore import titles
from mucore.statistics import SETUP

FIRST = ("pseudo_labels", "salun", "duck", "contrastive")  # those of the paper's figure


def show(runs: pd.DataFrame, everything: pd.DataFrame, count: int | None) -> pd.DataFrame:
    """Figure 7, with the paper's values of `count` classes unless that is None; gives the runs that
    it shows.
    """
    first = runs.iloc[0]
    here = computed.whole_classes(everything, runs)
    for column in SETUP:
        here = here[here[column] == first[column]]
    sets, lines = computed.across_sets(
        here, data.metric_values(dataset=str(first["dataset"])), data.judged(here)
    )
    if not lines:
        messages.empty(
            "No method of this selection has AGL or AGR on any forget set of whole classes of "
            f"{escape(titles.dataset(str(first['dataset'])))}. "
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
    info = across_sets.across_sets_info(sets, chosen, paper, printed_as=_over_ghosts(count))
    header.answers(every_answers(info))
    figure = across_sets.draw(info, dark=state.dark(), selected=state.param("run"))
    clicks.chart(figure, "across_sets", alt=across_sets.alt_text(info), known=set(here["key"]))
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
    figures.numbers(every_frame(info), "every-forget-set", figure)
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
            "data than here: compare the pattern."
        )
    return (
        f"The paper prints no AGL and AGR for {count} classes: these are computed from its printed "
        "accuracies (Tables 9 to 12), k-NN accuracies and CKAs (Tables 13 and 14). Other data "
        "than here: compare the pattern."
    )


def every_answers(info: across_sets.AcrossSetsInfo) -> tuple[frames.Answer, ...]:
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


def every_frame(info: across_sets.AcrossSetsInfo) -> pd.DataFrame:
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
