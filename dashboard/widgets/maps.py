"""t-SNE maps of runs: those that are stored, and a way to the missing ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.charts import embedding_map
from dashboard.widgets.background_analysis import analysed
from mucore import analysis, catalog

SAMPLES: Final = 50  # at most, of a class
MOST_CLASSES: Final = 10  # in one map; with more, colours say nothing
SECONDS_A_POINT: Final = 0.006  # of one map, measured with openTSNE on one core


def class_names(runs: pd.DataFrame) -> tuple[str, ...]:
    """Names by label; none where a label stands for several attributes."""
    card = catalog.dataset(str(runs.iloc[0]["dataset"]))
    return () if card.task == "attributes" else tuple(card.class_names)


def stored() -> Mapping[str, Mapping[str, Any]]:
    """The t-SNE maps on the disk by the name of the first file: those of the same samples that
    begin with the same run, and so can be compared, are one.
    """
    found: dict[str, dict[str, Any]] = {}
    alike: dict[tuple[str, bytes], str] = {}
    for home in data.analysis_homes():
        for name, value in sorted(_read(str(home), _stamp(home)).items()):
            first = alike.setdefault((value["keys"][0], value["ids"].tobytes()), name)
            mine = found.setdefault(first, {**value, "keys": [], "files": {}})
            mine["files"][name] = tuple(value["keys"])
            new = [key for key in value["keys"] if key not in mine["keys"]]
            mine["keys"] += new
            mine |= {key: value[key] for key in new}
    return found


def mapped(keys: Sequence[str], runs: pd.DataFrame) -> Mapping[str, Any] | None:
    """Positions (n, 2) of the same training samples under the runs `keys`, all of one data set,
    with `ids`, `labels` and `forgotten` (n,).

    None, with a button or the progress on the page, until they are computed.
    """
    classes = map_classes(keys, runs)
    asked = {"split": "train", "samples": SAMPLES, "classes": classes, "seed": 0}
    for value in stored().values():
        fits = any(
            analysis.key("tsne", asked | {"keys": list(its)}) == name
            for name, its in value["files"].items()
        )
        if fits and value["keys"][0] == keys[0] and {*keys} <= {*value["keys"]}:
            return value
    points = SAMPLES * min(MOST_CLASSES, max(len(class_names(runs)), 2))
    seconds = 4 + len(keys) * points * SECONDS_A_POINT
    return analysed("tsne", asked | {"keys": list(keys)}, "Draw the maps", seconds)


def map_classes(keys: Sequence[str], runs: pd.DataFrame) -> list[int] | None:
    """All classes where they are few; the forgotten ones and the first of the others elsewhere."""
    count = len(class_names(runs))
    if count <= MOST_CLASSES:
        return None
    outputs = next(
        (one for key in keys if (one := data.outputs(key)) is not None and "forget" in one), None
    )
    gone = (
        []
        if outputs is None or outputs["forget"].labels.ndim > 1
        else np.unique(outputs["forget"].labels)[: MOST_CLASSES // 2].tolist()
    )
    others = [label for label in range(count) if label not in gone]
    return sorted([*gone, *others[: MOST_CLASSES - len(gone)]])


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


@st.cache_data(show_spinner=False, max_entries=4)
def _read(home: str, stamp: int) -> dict[str, Mapping[str, Any]]:
    """The t-SNE maps under a home, by their names."""
    return {
        found.key: found.value
        for found in analysis.stored(Path(home))
        if {"keys", "ids", "labels", "forgotten"} <= found.value.keys()
    }


def _stamp(home: Path) -> int:
    """Moves when a file comes or goes."""
    try:
        return analysis.folder(home).stat().st_mtime_ns
    except OSError:
        return 0
