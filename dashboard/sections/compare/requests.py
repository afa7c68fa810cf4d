"""Requests: what became of earlier requests when later ones came."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import state
from dashboard.charts import request_matrix
from dashboard.charts.request_matrix import RequestMatrixInfo
from dashboard.frames import Answer
from dashboard.sections.compare.selection import Chosen
from dashboard.text import labels, units
from dashboard.text.labels import MISSING, number
from dashboard.widgets import figures, header, messages
from dashboard.widgets.background_analysis import analysed
from dashboard.widgets.links import anew
from mucore import catalog

SECONDS = 10.0  # that the analysis takes about
KNOWN = 0.05  # more of a request's samples than Retrain names right: the model knows it


def show(chosen: Chosen, answers: st.delta_generator.DeltaGenerator) -> None:
    later = {
        result.key: result
        for result in chosen.results
        if result.spec.get("after") and result.spec["method"] not in ("original", "retrain")
    }
    if not later:
        sentence = (
            "None of the chosen runs came after an earlier request. On Launch, “One after another” "
            "makes the scenarios of a comparison requests that follow each other."
        )
        messages.empty(sentence, "Launch a comparison", "launch", **anew(chosen.runs))
        return
    key = state.select(
        "Run, of the last request",
        "request",
        list(later),
        format_func=lambda each: chosen.titles[each],
    )
    value = analysed("requests", {"key": key}, "Look at the earlier requests", SECONDS)
    if value is None:
        st.caption(
            "This loads the model after each request and asks it about the samples of all "
            "requests so far. The weights must still be there."
        )
        return
    info = request_matrix.request_matrix_info(
        chosen.titles[key],
        asked(later[key].spec, value["sizes"]),
        method=value["method"],
        retrain=value["retrain"],
        original=value["original"],
    )
    with answers:
        header.answers(said(info))
    st.caption(
        "Read a line from left to right: the samples of one request, before it, after it, and "
        "after each request that followed. Nearer to Retrain, in brackets, is better; no colour "
        "means the same as Retrain. One run."
    )
    figure = request_matrix.draw(info, dark=state.dark())
    figures.chart(figure, "requests", alt=request_matrix.alt_text(info))
    figures.numbers(table(info), "requests", figure)


def asked(spec: Mapping[str, Any], sizes: Any) -> list[str]:
    """What each request asked for: "1: Whole classes, class 0 (120 samples)"."""
    found = []
    for place, each in enumerate(labels.requests(spec)):
        what = labels.forget_set_text(each["scenario_parameters"], each["dataset"])
        title = catalog.scenario(each["scenario"]).title
        size = units.count(int(sizes[place]), "sample")
        found.append(f"{place + 1}: {title}, {what} ({size})")
    return found


def said(info: RequestMatrixInfo) -> list[Answer]:
    """How many earlier requests the model still knows, or knows again, after the last one, and the
    largest return.
    """
    ends, back = [], []
    earlier = list(zip(info.requests, info.method, info.retrain, strict=True))[:-1]
    for place, (name, ours, theirs) in enumerate(earlier):
        after, last, retrain = ours[place + 1], ours[-1], theirs[-1]
        if after is not None and last is not None:
            back.append((last - after, name))
            if retrain is not None:
                ends.append(last - retrain)
    most, name = max(back, default=(0.0, ""))
    return [
        Answer(
            "Earlier requests that it knows",
            f"{sum(gap > KNOWN for gap in ends)} of {len(ends)}" if ends else MISSING,
            f"named right at the end more than {number(KNOWN, 'percent')} points more often than "
            "by Retrain"
            if ends
            else "the weights of Retrain are gone",
        ),
        Answer(
            "Largest return",
            f"{number(max(most, 0.0), 'percent', signed=True)} points",
            f"after later requests: {name}" if most > 0 else "no request's accuracy rose later",
        ),
    ]


def table(info: RequestMatrixInfo) -> pd.DataFrame:
    """A line a request and model."""
    return pd.DataFrame(
        [
            {
                "Request": request,
                "Model": model,
                "Accuracy, %": None if mine is None else 100 * mine,
                "Retrain, %": None if other is None else 100 * other,
            }
            for request, ours, theirs in zip(info.requests, info.method, info.retrain, strict=True)
            for model, mine, other in zip(info.columns, ours, theirs, strict=True)
            if mine is not None
        ]
    )
