"""Forget sets: samples by a lasso or a box on the t-SNE map of the data set's images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from dashboard import state, theme
from dashboard.charts import embedding_map
from dashboard.sections.forget_sets.add import offer
from dashboard.sections.forget_sets.working_set import Working
from dashboard.widgets import figures, maps
from dashboard.widgets.background_analysis import analysed
from dashboard.widgets.training_set import Training
from mucore import analysis
from mucore.analysis.samples import MOST, SHIPPED

HEIGHT = 470
MOST_NAMED = 12  # classes
TITLE = "Training images"


def by_map(training: Training, now: Working) -> None:
    value = map_of_images(training)
    if value is None:
        return
    ids = training.rows_of(value["ids"])
    info = embedding_map.embedding_map_info(
        {TITLE: value["points"]},
        ids=ids,
        labels=value["labels"],
        forgotten=np.isin(ids, now.ids),
        names=training.class_names if training.task == "classes" else (),
    )
    figure = embedding_map.draw(info, dark=state.dark())
    name_clusters(figure, info)
    figure.update_layout(height=HEIGHT, dragmode="lasso")
    # a set that changed takes the lasso with it: its samples have been dealt with
    event = figures.chart(
        figure,
        f"map:{now.hash}",
        alt=embedding_map.alt_text(info),
        selects=True,
        on_select="rerun",
        selection_mode=("points", "box", "lasso"),
    )
    found = np.intersect1d(selected(event), ids)
    if len(found):
        offer(training, now, found, "map")
    st.caption(
        f"Draw a lasso or a box. Orange: in the set. {len(ids):,} of {len(training):,} samples."
    )


def map_of_images(training: Training) -> Mapping[str, Any] | None:
    """`points`, `ids` and `labels` of the map; None, with the way to it on the page, until it is
    computed.
    """
    parameters = {"dataset": training.dataset, "data_hash": training.data_hash, "samples": MOST}
    shipped = analysis.find(SHIPPED, "samples", parameters)
    if shipped is not None:
        return shipped.value
    seconds = 5 + maps.SECONDS_A_POINT * min(MOST, len(training))
    return analysed("samples", parameters, "Draw the map", seconds)


def name_clusters(figure: go.Figure, info: embedding_map.EmbeddingMapInfo) -> None:
    """The name of each class above the middle of its samples, where they are few enough to be told
    apart.
    """
    present = np.unique(info.labels)
    if len(present) > MOST_NAMED:
        return
    look = theme.ground(state.dark())
    for label in present:
        points = info.panels[0].points[info.labels == label]
        x, y = np.median(points[:, 0]), np.quantile(points[:, 1], 0.9)
        look_of = {"font": {"size": 12, "color": look.text}, "showarrow": False, "yshift": 12}
        figure.add_annotation(x=float(x), y=float(y), text=info.name(int(label)), **look_of)


def selected(event: Any) -> np.ndarray:
    """The ids of the marks in a lasso, a box or under a click."""
    points = (event or {}).get("selection", {}).get("points", [])
    found = [point["customdata"][0] for point in points if point.get("customdata")]
    return np.unique(np.array([int(each) for each in found], np.int64))
