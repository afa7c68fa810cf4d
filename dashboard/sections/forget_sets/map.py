"""Forget sets: samples by a lasso or a box on a stored t-SNE map of the data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from dashboard import data, state, theme
from dashboard.charts import embedding_map
from dashboard.sections.forget_sets.add import offer
from dashboard.sections.forget_sets.working_set import Working
from dashboard.text import units
from dashboard.text.labels import method_names, scenario_title
from dashboard.widgets import figures, maps
from dashboard.widgets.background_analysis import analysed
from dashboard.widgets.training_set import Training
from mucore import analysis
from mucore.analysis.samples import MOST, SHIPPED
from mucore.spec import Recipe, make_recipe

HEIGHT = 470
MOST_NAMED = 12  # classes
IMAGES = "images"  # the name of the map of the images themselves


@dataclass(frozen=True, eq=False)
class StoredMap:
    """Positions (n, 2) of samples under the runs of a map, by their keys; `ids` and `labels`
    (n,).
    """

    name: str
    ids: np.ndarray
    labels: np.ndarray
    points: Mapping[str, np.ndarray]


def by_map(training: Training, now: Working) -> None:
    found = {each.name: each for each in stored_maps(training)}
    images = map_of_images(training, offered=not found)
    if images is not None:
        found[images.name] = images
    if not found:
        return
    left, right = st.columns([3, 2], gap="small")
    with left:
        titles = map_titles(list(found.values()))
        chosen = found[state.select("Map", "map", list(found), format_func=titles.__getitem__)]
    with right:
        seen = {key: run_title(key) for key in chosen.points}
        key = state.select("As seen by", "seen", list(seen), format_func=seen.__getitem__)
    info = embedding_map.embedding_map_info(
        {seen[key]: chosen.points[key]},
        ids=chosen.ids,
        labels=chosen.labels,
        forgotten=np.isin(chosen.ids, now.ids),
        names=training.class_names if training.task == "classes" else (),
    )
    st.caption(
        "Draw a lasso or, with the other tool, a box around samples. Those of the set are orange; "
        "other classes are muted."
    )
    figure = embedding_map.draw(info, dark=state.dark())
    name_clusters(figure, info)
    figure.update_layout(height=HEIGHT, dragmode="lasso")
    # a set that changed takes the lasso with it: its samples have been dealt with
    event = figures.chart(
        figure,
        f"map:{chosen.name}:{key}:{now.hash}",
        alt=embedding_map.alt_text(info),
        selects=True,
        on_select="rerun",
        selection_mode=("points", "box", "lasso"),
    )
    ids = np.intersect1d(selected(event), chosen.ids)
    if len(ids):
        offer(training, now, ids, f"a lasso on the map of {seen[key]}", "map")
    share = f"{len(chosen.ids):,} of {len(training):,} training samples"
    st.caption(
        f"The map shows {share}; others cannot be reached here. Distances between far clusters "
        "mean nothing."
    )


def map_of_images(training: Training, *, offered: bool) -> StoredMap | None:
    """The map of the images themselves; None until it is computed, which is `offered` where there
    is no other.
    """
    parameters = {"dataset": training.dataset, "data_hash": training.data_hash, "samples": MOST}
    shipped = analysis.find(SHIPPED, "samples", parameters)
    if shipped is not None:
        value = shipped.value
    elif offered:
        st.markdown(
            "No run has drawn these samples yet. The images themselves can be put on a map: those "
            "that are alike lie together."
        )
        seconds = 5 + maps.SECONDS_A_POINT * min(MOST, len(training))
        value = analysed("samples", parameters, "Draw the map", seconds)
    else:
        value = data.analysis("samples", parameters).value
    if value is None:
        return None
    rows = training.rows_of(value["ids"])
    return StoredMap(IMAGES, rows, value["labels"], {IMAGES: value["points"]})


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
    told = [point.get("customdata") for point in points]
    first = [
        each[0] if isinstance(each, Sequence) and not isinstance(each, str) and each else each
        for each in told
    ]
    return np.unique(np.array([int(each) for each in first if str(each).isdecimal()], np.int64))


def stored_maps(training: Training) -> list[StoredMap]:
    """The maps on the disk that show training samples of this data set, those with most samples
    first.
    """
    found = []
    for name, value in maps.stored().items():
        runs = [(key, _spec(key)) for key in value["keys"]]
        fitting = [key for key, spec in runs if spec is not None and _fits(spec, training)]
        inside = np.isin(value["ids"], training.internal)
        if fitting and inside.any() and np.ndim(value["labels"]) == 1:
            points = {key: value[key][inside] for key in fitting}
            rows = training.ids[np.searchsorted(training.internal, value["ids"][inside])]
            found.append(StoredMap(name, rows, value["labels"][inside], points))
    return sorted(found, key=lambda each: (-len(each.ids), each.name))


def map_titles(found: Sequence[StoredMap]) -> dict[str, str]:
    """A title by name: the scenario and model of the runs, and how many samples; numbered where
    that is the same.
    """
    titles: dict[str, str] = {}
    for each in found:
        if each.name == IMAGES:
            titles[each.name] = f"The images alone, {units.count(len(each.ids), 'sample')}"
            continue
        spec = _spec(list(each.points)[-1]) or {}
        scenario = scenario_title(str(spec.get("scenario")))
        title = f"{scenario}, {spec.get('model')}, {units.count(len(each.ids), 'sample')}"
        number = sum(known.startswith(title) for known in titles.values())
        titles[each.name] = f"{title} ({number + 1})" if number else title
    return titles


def run_title(key: str) -> str:
    if key == IMAGES:
        return "The images"
    spec = _spec(key) or {}
    return f"{method_names(str(spec.get('method')))[0]}, seed {spec.get('training_seed')}"


def _spec(key: str) -> Mapping[str, Any] | None:
    found = data.result(key)
    return None if found is None else found.spec


def _fits(spec: Mapping[str, Any], training: Training) -> bool:
    """Whether a run saw the training samples under the ids that they have here."""
    same = spec["dataset"] == training.dataset and spec.get("data_hash", "") == training.data_hash
    return same and Recipe.model_validate(spec["recipe"]).cut() == make_recipe("standard").cut()
