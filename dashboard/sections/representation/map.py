"""Map: t-SNE maps of the features of several runs over the same samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import data, frames, state, widgets
from dashboard.charts import embedding_map
from dashboard.frames import representation as computed
from dashboard.sections.representation.shared import PAPER, chosen_part, class_names, has_outputs, key_of, no_predictions, pick_seed, say
from dashboard.text import units, verdicts
from dashboard.widgets.background_analysis import analysed

OFTEN = ("25", "50", "100", "200")  # points a class in a map
MOST_MAPS = 6
MOST_CLASSES = 10  # in one map; with more, colours say nothing
SECONDS_A_POINT = 0.006  # of one map, measured with openTSNE on one core


def show(rows: tuple[frames.Row, ...], runs: pd.DataFrame) -> None:
    st.markdown(
        f"**Do the forgotten samples still form a cluster of their own?** In Retrain's map you see how they lie when nobody taught them. "
        f"({PAPER} Figures 3 and 12)"
    )
    methods = {row.id: row for row in rows if not row.reference}
    predicted = data.predicted()
    first, second, third = st.columns([6, 2, 2], vertical_alignment="bottom", gap="small")
    with second:
        seed = pick_seed(runs)
    with third:
        often = pick_often()
    with first:
        chosen = state.multiselect(
            f"Methods, at most {MOST_MAPS}",
            "maps",
            list(methods),
            default=telling([row for row in methods.values() if key_of(row, runs, seed) in predicted] or list(methods.values())),
            format_func=lambda name: methods[name].title,
        )
    wanted = [row for row in rows if row.method in ("original", "retrain")] + [methods[name] for name in chosen[:MOST_MAPS]]
    found = {row.title: key for row in wanted if (key := key_of(row, runs, seed)) is not None}
    kept = {title: key for title, key in found.items() if has_outputs(key)}
    lost = [row.title for row in wanted if row.title not in kept]
    if not kept:
        no_predictions()
        return
    if lost:
        say([f"No map of {', '.join(lost)}: no run with kept predictions on training seed {seed}."])
    drawn = mapped(kept, runs, often)
    if drawn is None:
        return
    info, note = drawn
    figure = embedding_map.draw(info, dark=state.dark())
    widgets.chart(figure, "embedding_map", alt=embedding_map.alt_text(info))
    judged = [(row.title, row.verdict) for row in wanted if row.title in kept and not row.reference and row.verdict is not None]
    say([reading(info, note), *([f"Verdicts: {verdicts.told(judged)}."] if judged else [])])
    widgets.numbers(map_frame(info), "map", figure)


def pick_often() -> int:
    """At most how many samples a class are drawn: parameter `samples`."""
    return int(state.select("Samples a class", "samples", list(OFTEN), default="50", help="At most so many; forgotten ones count apart."))


def mapped(
    kept: Mapping[str, str], runs: pd.DataFrame, often: int, *, marked: int | None = None
) -> tuple[embedding_map.EmbeddingMapInfo, str] | None:
    """Maps of the runs `kept` (key by title, all of one data set) on the chosen part of it, and what the analysis notes of them.

    None, with a button or the progress on the page, until they are computed. Sample `marked` is ringed in each.
    """
    classes = map_classes(kept, runs)
    parameters = {"keys": list(kept.values()), "split": chosen_part(), "samples": often, "classes": classes, "seed": 0}
    value = analysed("tsne", parameters, "Draw the map", map_seconds(runs, often, len(kept)))
    if value is None:
        return None
    points = {title: np.asarray(value[key]) for title, key in kept.items()}
    info = embedding_map.embedding_map_info(
        points, ids=value["ids"], labels=value["labels"], forgotten=value["forgotten"], names=class_names(runs), marked=marked
    )
    return info, str(value["note"])


def reading(info: embedding_map.EmbeddingMapInfo, note: str) -> str:
    """How to read the maps: what is orange, what is muted, and what a distance does not say."""
    if info.forgotten.any():
        classes = ", ".join(info.forgotten_names[:6]) + (" and others" if len(info.forgotten_names) > 6 else "")
        marked = f"{units.count(int(info.forgotten.sum()), 'sample')} to forget in orange (class {classes})"
    else:
        marked = "no sample of this set was forgotten: the class stays, so look at the training set"
    return f"{marked[0].upper()}{marked[1:]}; other classes are muted. {note} Distances between far clusters mean nothing."


def map_frame(info: embedding_map.EmbeddingMapInfo) -> pd.DataFrame:
    """One line a sample: its class, whether it was to forget, and its position in each map."""
    table = pd.DataFrame({"sample": info.ids, "class": [info.name(int(label)) for label in info.labels], "forgotten": info.forgotten})
    for panel in info.panels:
        table[f"{panel.title} x"], table[f"{panel.title} y"] = panel.points[:, 0], panel.points[:, 1]
    return table


def telling(methods: Sequence[frames.Row]) -> list[str]:
    """Up to four methods: the two nearest to Retrain in features and the two farthest, as far as that is known."""
    split = state.choice("split", list(computed.SPLITS), "test")
    known = sorted((row for row in methods if computed.mean(row, f"cka_retrain_{split}") is not None), key=lambda row: nearness(row, split))
    ends = [*known[-2:][::-1], *known[:2]] or list(methods[:4])
    return list(dict.fromkeys(row.id for row in ends))


def nearness(row: frames.Row, split: str) -> float:
    return computed.mean(row, f"cka_retrain_{split}") or 0.0


def map_seconds(runs: pd.DataFrame, often: int, maps: int) -> float:
    points = often * min(MOST_CLASSES, max(len(class_names(runs)), 2))
    return 4 + maps * points * SECONDS_A_POINT


def map_classes(kept: Mapping[str, str], runs: pd.DataFrame) -> list[int] | None:
    """All classes where they are few; the forgotten ones and the first of the others elsewhere."""
    count = len(class_names(runs))
    if count <= MOST_CLASSES:
        return None
    outputs = next((one for key in kept.values() if (one := data.outputs(key)) is not None and "forget" in one), None)
    gone = [] if outputs is None or outputs["forget"].labels.ndim > 1 else np.unique(outputs["forget"].labels)[: MOST_CLASSES // 2].tolist()
    others = [label for label in range(count) if label not in gone]
    return sorted([*gone, *others[: MOST_CLASSES - len(gone)]])
