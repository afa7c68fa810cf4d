"""Last layer: each method against itself on the classifier alone, and below it what else that runs
of a method differ in changes.
"""

from __future__ import annotations

import pandas as pd

from dashboard import data, frames, state
from dashboard.charts import similarity_scatter
from dashboard.charts.similarity_scatter import Measures
from dashboard.frames import representation as computed
from dashboard.widgets import clicks, figures, messages

MEASURES = Measures(
    x="cka",
    y="gain",
    across="CKA of the two encoders, 1 is the same",
    up="AGL gained by changing all layers",
    equal=False,
)


def show(runs: pd.DataFrame, values: pd.DataFrame) -> None:
    twins = computed.twins(runs)
    # other settings of a method would only lengthen its name
    paired = runs[runs["key"].isin([whole for whole, _ in twins])]
    rows = frames.metric_rows(
        paired, values[values["key"].isin(paired["key"])], (), judged=data.judged(paired)
    )
    agreement, to_original = (_by_run(values, metric) for metric in ("agl", "cka_original_test"))
    gains = computed.gains(rows, twins, computed.twin_ckas(twins, to_original), agreement)
    if not gains:
        messages.empty(
            "No method ran both on all layers and on the classifier alone, with AGL and CKA.",
            "Launch a comparison",
            "launch",
            scenarios="class_wise",
            methods=["duck", "salun"],
            scopes=["all", "classifier"],
        )
        return
    dots = [similarity_scatter.dot(one.row.keys[0], one.row, one.cka, one.gain) for one in gains]
    found = similarity_scatter.SimilarityScatterInfo(measures=MEASURES, dots=tuple(dots))
    figure = similarity_scatter.draw(found, dark=state.dark(), selected=state.param("run"))
    clicks.chart(
        figure,
        "last_layer",
        alt=similarity_scatter.alt_text(found),
        known={dot.key for dot in dots},
    )
    table = pd.DataFrame(
        {
            "Method": one.row.title,
            "Verdict, all layers": frames.verdict_text(one.row),
            "CKA of both": one.cka,
            "AGL, all layers": one.agl,
            "AGL, classifier": one.agl_last,
            "Pairs": one.pairs,
        }
        for one in gains
    )
    figures.numbers(table, "last-layer", figure)


def _by_run(values: pd.DataFrame, metric: str) -> dict[str, float]:
    return (
        values[values["metric"] == metric]
        .dropna(subset="value")
        .set_index("key")["value"]
        .astype(float)
        .to_dict()
    )
