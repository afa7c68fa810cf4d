"""CKA scatter: every method by two measures of its features, beside its numbers and the paper's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import data, frames, state
from dashboard.charts import two_metrics
from dashboard.charts.two_metrics import Measures, Places
from dashboard.frames import representation as computed
from dashboard.widgets import clicks, columns, figures, header, messages
from mucore import titles

MEASURES: Final = {
    "cka": "CKA",
    "agreement": "AGL and AGR",
    "gap": "Accuracy and CKA",
    "sets": "Two data sets",
}
EMPTY: Final = (
    "No method of this selection has both numbers. New runs are measured; for those whose "
    "predictions were kept, `python -m mucore remeasure` adds them.",
    "No other data set has AGL of these methods with the same settings.",
)
LOOK: Final[Mapping[str, Any]] = {"label_visibility": "collapsed", "width": 190}


def show(rows: tuple[frames.Row, ...], everything: pd.DataFrame, dataset: str, split: str) -> None:
    answer = st.container()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        chosen = pick_measures()
        if chosen in ("cka", "gap"):
            samples = computed.samples_of(dataset)
            state.select(
                "Samples",
                "split",
                list(samples),
                default=computed.USUAL,
                format_func=samples.__getitem__,
                **LOOK,
            )
        place = st.container(width="content")
        paper = pick_paper()
    measures = measures_of(chosen, rows, split)
    places = two_metrics.places(rows, measures)
    if chosen == "sets":
        measures, places = two_sets(rows, everything, dataset, place)
    if not places:
        messages.empty(EMPTY[chosen == "sets"], "Launch a comparison", "launch")
        return
    left, right = st.columns([56, 44], gap="medium")
    with left:
        look: dict[str, Any] = {"dark": state.dark(), "selected": state.params("run")}
        figure = two_metrics.draw(rows, places, measures, **look)
        clicks.chart(figure, "cka_scatter", alt=two_metrics.alt_text(rows, places, measures))
    if chosen == "cka" and (sentence := computed.most_alike(rows, split)):
        with answer:
            header.answer(sentence)
    table = computed.table(rows, split, paper)
    numbers, three = table.select_dtypes("float"), st.column_config.NumberColumn(format="%.3f")
    with right, st.container(key="beside"):
        st.dataframe(
            table,
            hide_index=True,
            column_config=columns.aligned(table, dict.fromkeys(numbers, three)),
            height=480,
            key="measures",
        )
    figures.numbers(table, f"similarity-{split}", figure)


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


def measures_of(chosen: str, rows: Sequence[frames.Row], split: str) -> Measures:
    """Where no AGR was measured, CKA to Retrain stands in for it."""
    if chosen == "gap":
        return Measures(
            x=computed.gap_metric(rows),
            y=computed.RATIO,
            across="Average gap in accuracy",
            up="Ratio of both CKAs, Retrain is 1",
        )
    both = cka(split)
    if chosen != "agreement":
        return both
    measured = any(row.mean("agr") is not None for row in rows if not row.reference)
    y, up = ("agr", "AGR: features") if measured else (both.y, both.up)
    return Measures(x="agl", y=y, across="AGL: answers", up=up, equal=True)


def cka(split: str) -> Measures:
    """Both CKAs on the samples `split`, one of `computed.samples_of` a data set."""
    on = {"forget": "forgotten images", "retain": "retained images", "test": "test images"}
    where = on.get(split) or titles.dataset(split)
    return Measures(
        x=f"cka_original_{split}",
        y=f"cka_retrain_{split}",
        across=f"CKA to Original, {where}",
        up=f"CKA to Retrain, {where}",
        equal=True,
    )


def pick_paper() -> pd.DataFrame | None:
    """The paper's numbers, where the reader wants them beside these."""
    if not state.toggle("Paper's values", "paper", help="ImageNet-1K: other data than here."):
        return None
    named = computed.PAPER_SETS
    chosen = state.select(
        "The paper's forget set",
        "paper_set",
        list(named),
        format_func=lambda name: named[name].title,
        **LOOK,
    )
    return computed.paper_values(chosen)


def two_sets(
    rows: Sequence[frames.Row], everything: pd.DataFrame, dataset: str, place: DeltaGenerator
) -> tuple[Measures, Places]:
    """AGL here against AGL of the same methods and settings on another data set (Figure 5), which
    is chosen at `place`.
    """
    here = {
        (row.method, row.preset): (row.id, agl)
        for row in rows
        if not row.reference and (agl := row.mean("agl")) is not None
    }
    others = {
        name: agl
        for name in frames.setups(everything, "dataset")
        if name != dataset
        and here.keys() & (agl := agl_on(everything[everything["dataset"] == name], name)).keys()
    }
    if not others:
        return cka(computed.USUAL), {}
    with place:
        other = state.select("y", "y", list(others), format_func=titles.dataset, **LOOK)
    x, y = (f"AGL, {titles.dataset(name)}" for name in (dataset, other))
    there = others[other]
    return Measures(x="agl", y="agl", across=x, up=y, equal=True), {
        name: (agl, there[which]) for which, (name, agl) in here.items() if which in there
    }


def agl_on(runs: pd.DataFrame, dataset: str) -> dict[tuple[str, str], float]:
    return computed.elsewhere(runs, data.metric_values(dataset=dataset)).to_dict()
