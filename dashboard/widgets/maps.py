"""t-SNE maps of runs: which samples they show, the maps once they are computed, and how to read
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
import pandas as pd

from dashboard import data, state
from dashboard.charts import embedding_map
from dashboard.text import units
from dashboard.widgets.background_analysis import analysed
from mucore import catalog

PARTS = {"train": "Training set", "test": "Test set"}
OFTEN = ("25", "50", "100", "200")  # points a class in a map
MOST_CLASSES = 10  # in one map; with more, colours say nothing
SECONDS_A_POINT = 0.006  # of one map, measured with openTSNE on one core


def pick_part() -> None:
    state.segmented("Samples", "part", list(PARTS), format_func=lambda name: PARTS[name])


def chosen_part() -> Literal["train", "test"]:
    return "test" if state.param("part") == "test" else "train"


def class_names(runs: pd.DataFrame) -> tuple[str, ...]:
    """Names by label; none where a label stands for several attributes."""
    card = catalog.dataset(str(runs.iloc[0]["dataset"]))
    return () if card.task == "attributes" else tuple(card.class_names)


def pick_often() -> int:
    """At most how many samples a class are drawn: parameter `samples`."""
    return int(
        state.select(
            "Samples a class",
            "samples",
            list(OFTEN),
            default="50",
            help="At most this many of each class; forgotten ones are counted separately.",
        )
    )


def mapped(
    kept: Mapping[str, str], runs: pd.DataFrame, often: int, *, marked: int | None = None
) -> tuple[embedding_map.EmbeddingMapInfo, str] | None:
    """Maps of the runs `kept` (key by title, all of one data set) on the chosen part of it, and
    what the analysis notes of them.

    None, with a button or the progress on the page, until they are computed. Sample `marked` is
    ringed in each.
    """
    classes = map_classes(kept, runs)
    parameters = {
        "keys": list(kept.values()),
        "split": chosen_part(),
        "samples": often,
        "classes": classes,
        "seed": 0,
    }
    value = analysed("tsne", parameters, "Draw the map", map_seconds(runs, often, len(kept)))
    if value is None:
        return None
    points = {title: np.asarray(value[key]) for title, key in kept.items()}
    result = data.result(next(iter(kept.values())))
    info = embedding_map.embedding_map_info(
        points,
        ids=value["ids"] if result is None else data.numbered(result.spec, value["ids"]),
        labels=value["labels"],
        forgotten=value["forgotten"],
        names=class_names(runs),
        marked=marked,
    )
    return info, str(value["note"])


def reading(info: embedding_map.EmbeddingMapInfo, note: str) -> str:
    """How to read the maps: what is orange, what is muted, and what a distance does not say."""
    if info.forgotten.any():
        classes = ", ".join(info.forgotten_names[:6]) + (
            " and others" if len(info.forgotten_names) > 6 else ""
        )
        marked = (
            f"{units.count(int(info.forgotten.sum()), 'sample')} to forget in orange (class "
            f"{classes})"
        )
    else:
        marked = "no sample of this set was forgotten: the class stays, so look at the training set"
    return (
        f"{marked[0].upper()}{marked[1:]}; other classes are muted. {note} Distances between far "
        "clusters mean nothing."
    )


def map_frame(info: embedding_map.EmbeddingMapInfo) -> pd.DataFrame:
    """One line a sample: its class, whether it was to forget, and its position in each map."""
    table = pd.DataFrame(
        {
            "sample": info.ids,
            "class": [info.name(int(label)) for label in info.labels],
            "forgotten": info.forgotten,
        }
    )
    for panel in info.panels:
        table[f"{panel.title} x"], table[f"{panel.title} y"] = (
            panel.points[:, 0],
            panel.points[:, 1],
        )
    return table


def map_seconds(runs: pd.DataFrame, often: int, maps: int) -> float:
    points = often * min(MOST_CLASSES, max(len(class_names(runs)), 2))
    return 4 + maps * points * SECONDS_A_POINT


def map_classes(kept: Mapping[str, str], runs: pd.DataFrame) -> list[int] | None:
    """All classes where they are few; the forgotten ones and the first of the others elsewhere."""
    count = len(class_names(runs))
    if count <= MOST_CLASSES:
        return None
    outputs = next(
        (
            one
            for key in kept.values()
            if (one := data.outputs(key)) is not None and "forget" in one
        ),
        None,
    )
    gone = (
        []
        if outputs is None or outputs["forget"].labels.ndim > 1
        else np.unique(outputs["forget"].labels)[: MOST_CLASSES // 2].tolist()
    )
    others = [label for label in range(count) if label not in gone]
    return sorted([*gone, *others[: MOST_CLASSES - len(gone)]])
