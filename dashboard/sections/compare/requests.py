"""Requests: what became of earlier requests when later ones came."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from dashboard import state
from dashboard.charts import request_matrix
from dashboard.sections.compare.selection import Chosen
from dashboard.text import labels, units
from dashboard.widgets import figures, messages
from dashboard.widgets.background_analysis import analysed
from dashboard.widgets.links import anew
from mucore import catalog
from mucore.runs import REFERENCES

SECONDS = 10.0  # that the analysis takes about


def show(chosen: Chosen) -> None:
    later = {
        result.key: result
        for result in chosen.results
        if result.spec.get("after") and result.spec["method"] not in REFERENCES
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
    requests = asked(later[key].spec, value["sizes"])
    columns = ["Original", *(f"after {place}" for place in range(1, len(requests) + 1))]
    before = np.full(len(requests), np.nan)
    mine, retrain = (
        pd.DataFrame(np.column_stack([first, each]), requests, columns)
        for first, each in ((value["original"], value["method"]), (before, value["retrain"]))
    )
    figure = request_matrix.draw(mine, retrain, dark=state.dark())
    figures.chart(figure, "requests", alt=request_matrix.alt_text(mine, retrain))
    figures.numbers(table(mine, retrain), "requests", figure)


def asked(spec: Mapping[str, Any], sizes: Any) -> list[str]:
    """What each request asked for: "1: Whole classes, class 0 (120 samples)"."""
    found = []
    for place, each in enumerate(labels.requests(spec)):
        what = labels.forget_set_text(each["scenario_parameters"], each["dataset"])
        title = catalog.scenario(each["scenario"]).title
        size = units.count(int(sizes[place]), "sample")
        found.append(f"{place + 1}: {title}, {what} ({size})")
    return found


def table(mine: pd.DataFrame, retrain: pd.DataFrame) -> pd.DataFrame:
    """A line a request and model."""
    known = 100 * mine.stack().dropna()
    lines = pd.DataFrame({"Accuracy, %": known, "Retrain, %": 100 * retrain.stack()})
    return lines.loc[known.index].rename_axis(["Request", "Model"]).reset_index()
