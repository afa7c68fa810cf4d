"""Requests: what became of earlier requests when later ones came."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from dashboard import state
from dashboard.charts import request_matrix
from dashboard.charts.request_matrix import RequestMatrixInfo
from dashboard.sections.compare.selection import Chosen
from dashboard.text import labels, units
from dashboard.widgets import figures, messages
from dashboard.widgets.background_analysis import analysed
from dashboard.widgets.links import anew
from mucore import catalog

SECONDS = 10.0  # that the analysis takes about


def show(chosen: Chosen) -> None:
    later = {
        result.key: result
        for result in chosen.results
        if result.spec.get("after") and result.spec["method"] not in ("original", "retrain")
    }
    if not later:
        sentence = (
            "None of these runs followed an earlier request: on Launch, “One after another” makes "
            "such runs."
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
        return
    info = request_matrix.request_matrix_info(
        chosen.titles[key],
        asked(later[key].spec, value["sizes"]),
        method=value["method"],
        retrain=value["retrain"],
        original=value["original"],
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
