"""Last layer: each method against itself on the classifier alone, and below it what else that runs
of a method differ in changes.
"""

from __future__ import annotations

from typing import Final

import pandas as pd

from dashboard import data, frames, state
from dashboard.charts import two_metrics
from dashboard.frames import representation as computed
from dashboard.widgets import clicks, figures, messages

MEASURES: Final = two_metrics.Measures(
    x="cka",
    y="gain",
    across="CKA of the two encoders (1: identical)",
    up="AGL gained by changing all layers",
)


def show(runs: pd.DataFrame, values: pd.DataFrame) -> None:
    pairs = computed.twins(runs, values)
    if pairs.empty:
        messages.empty(
            "No method ran both on all layers and on the classifier alone, with AGL and CKA.",
            "Launch a comparison",
            "launch",
            scenarios="class_wise",
            methods=["duck", "salun"],
            scopes=["all", "classifier"],
        )
        return
    # other settings of a method would only lengthen its name
    paired = runs[runs["key"].isin(pairs["all"])]
    mine = values[values["key"].isin(paired["key"])]
    rows = frames.metric_rows(paired, mine, (), judged=data.judged(paired))
    gains = computed.gains(rows, pairs)
    places = {str(name): (line["cka"], line["gain"]) for name, line in gains.iterrows()}
    figure = two_metrics.draw(
        rows, places, MEASURES, dark=state.dark(), selected=state.params("run")
    )
    clicks.chart(figure, "last_layer", alt=two_metrics.alt_text(rows, places, MEASURES))
    named = pd.DataFrame(
        {"Method": row.title, "Verdict, all layers": frames.verdict_text(row)} for row in rows
    )
    named.index = pd.Index([row.id for row in rows])
    heads = {"cka": "CKA of both", "agl": "AGL, all layers", "agl_classifier": "AGL, classifier"}
    table = named.join(gains.drop(columns="gain").rename(columns=heads), how="inner")
    figures.numbers(table, "last-layer", figure)
