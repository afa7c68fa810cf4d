"""CKA scatter: every method by two measures of its features, beside its numbers and the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import data, frames, state
from dashboard.charts import similarity_scatter
from dashboard.charts.similarity_scatter import Measures
from dashboard.frames import representation as computed
from dashboard.sections.representation.shared import PAPER, cka, missing, pick_samples, selected_row
from dashboard.text import verdicts
from dashboard.widgets import clicks, columns, figures, messages
from mucore import titles
from mucore.statistics import SETTING

MEASURES = {
    "cka": "CKA",
    "agreement": "AGL and AGR",
    "gap": "Accuracy and CKA",
    "sets": "Two data sets",
}


def pick_measures() -> str:
    """What the scatter shows; earlier addresses said it as `view` and `sets`."""
    old = "sets" if state.param("sets") == "two" else state.param("view")
    return state.segmented(
        "Measures",
        "measures",
        list(MEASURES),
        default=old if old in MEASURES else None,
        format_func=MEASURES.__getitem__,
        label_visibility="collapsed",
    )


def show(
    rows: tuple[frames.Row, ...],
    runs: pd.DataFrame,
    everything: pd.DataFrame,
    place: st.delta_generator.DeltaGenerator,
    split: str,
) -> pd.DataFrame:
    """Gives the runs that it shows; the choices stand at `place`."""
    with place, st.container(horizontal=True, vertical_alignment="center", gap="small"):
        chosen = pick_measures()
        if chosen == "sets":
            return show_sets(runs, everything)
        if chosen in ("cka", "gap"):
            pick_samples(computed.samples_of(str(runs.iloc[0]["dataset"])), computed.USUAL)
        paper = _paper()
    measures = measures_of(chosen, rows, split)
    found = similarity_scatter.similarity_scatter_info(rows, measures, key=lambda row: row.keys[0])
    if not found.dots:
        missing(rows, "No method of this selection has both numbers yet.", measures.y)
        return runs
    table = computed.measures_frame(rows, split, paper)
    left, right = st.columns([56, 44], gap="medium")
    with left:
        figure = similarity_scatter.draw(found, dark=state.dark(), selected=selected_row(rows))
        clicks.chart(
            figure,
            "cka_scatter",
            alt=similarity_scatter.alt_text(found),
            known={dot.key for dot in found.dots},
        )
    with right, st.container(key="beside"):
        st.dataframe(
            table, hide_index=True, column_config=columns.aligned(table), height=480, key="measures"
        )
    figures.numbers(computed.similarity_frame(rows, split), f"similarity-{split}", figure)
    return runs


def measures_of(chosen: str, rows: Sequence[frames.Row], split: str) -> Measures:
    """Where no AGR was measured, CKA to Retrain stands in for it."""
    if chosen == "gap":
        return Measures(
            x=computed.gap_metric(rows),
            y=computed.RATIO,
            across="Average gap in accuracy",
            up="Ratio of both CKAs, Retrain is 1",
            equal=False,
        )
    if chosen != "agreement":
        return cka(split)
    if any(computed.mean(row, "agr") is not None for row in rows if not row.reference):
        return Measures(x="agl", y="agr", across="AGL: answers", up="AGR: features")
    return Measures(x="agl", y=cka(split).y, across="AGL: answers", up=cka(split).up)


def _paper() -> tuple[computed.Paper, ...]:
    """The paper's numbers, where the reader wants them beside these."""
    wanted = state.toggle(
        "Paper's values", "paper", help=f"{PAPER}: ImageNet-1K, other data than here."
    )
    if not wanted:
        return ()
    named = computed.PAPER_SETS
    chosen = state.select(
        "The paper's forget set",
        "paper_set",
        list(named),
        format_func=lambda name: named[name].title,
        label_visibility="collapsed",
        width=230,
    )
    return computed.paper_values(chosen)


def show_sets(runs: pd.DataFrame, everything: pd.DataFrame) -> pd.DataFrame:
    """AGL of the same methods on two data sets (Figure 5)."""
    every = computed.whole_classes(everything, runs)
    able = [name for name in frames.setups(every, "dataset") if _has_agl(every, name)]
    if len(able) < 2:
        messages.empty(
            "This needs AGL on two data sets, from the same methods.",
            "Forget whole classes",
            "launch",
            scenarios="class_wise",
        )
        return every
    picked = str(runs.iloc[0]["dataset"])
    look: dict[str, Any] = {
        "format_func": titles.dataset,
        "label_visibility": "collapsed",
        "width": 220,
    }
    x = state.select("x", "x", able, default=picked if picked in able else None, **look)
    y = state.select("y", "y", [name for name in able if name != x], **look)
    sides = [_one_set(every, name, runs, everything) for name in (x, y)]
    values = pd.concat([data.metric_values(dataset=name) for name in (x, y)])
    shown = pd.concat(sides)
    pairs = computed.two_sets(sides[0], sides[1], values, data.judged(shown))
    measures = Measures(
        x="agl", y="agl", across=f"AGL, {titles.dataset(x)}", up=f"AGL, {titles.dataset(y)}"
    )
    dots = [similarity_scatter.dot(row.keys[0], row, one, other) for row, one, other in pairs]
    found = similarity_scatter.SimilarityScatterInfo(measures=measures, dots=tuple(dots))
    with st.container():
        figure = similarity_scatter.draw(found, dark=state.dark(), selected=state.param("run"))
        clicks.chart(
            figure,
            "two_sets",
            alt=similarity_scatter.alt_text(found),
            known={dot.key for dot in dots},
        )
        table = pd.DataFrame(
            {
                "Method": row.title,
                "Verdict on x": "" if row.verdict is None else verdicts.text(row.verdict),
                measures.across: one,
                measures.up: other,
            }
            for row, one, other in pairs
        )
        figures.numbers(table, "two-data-sets", figure)
    return shown


def _has_agl(runs: pd.DataFrame, dataset: str) -> bool:
    values = data.metric_values(dataset=dataset)
    methods = runs[~runs["method"].isin(["original", "retrain"])]
    measured = values["metric"].eq("agl") & values["value"].notna()
    return bool((measured & values["key"].isin(methods["key"])).any())


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
