"""Map: t-SNE maps of the features of several runs over the same samples."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import data, frames, state
from dashboard.charts import embedding_map
from dashboard.frames import representation as computed
from dashboard.sections.representation.shared import (
    PAPER,
    has_outputs,
    key_of,
    no_predictions,
    pick_seed,
    say,
)
from dashboard.text import verdicts
from dashboard.widgets import figures, maps

MOST_MAPS = 6


def show(rows: tuple[frames.Row, ...], runs: pd.DataFrame) -> None:
    st.markdown(
        "**Do the forgotten samples still form a cluster of their own?** Retrain's map shows how "
        f"they lie when a model never learned from them. ({PAPER} Figures 3 and 12)"
    )
    methods = {row.id: row for row in rows if not row.reference}
    predicted = data.predicted()
    first, second, third = st.columns([6, 2, 2], vertical_alignment="bottom", gap="small")
    with second:
        seed = pick_seed(runs)
    with third:
        often = maps.pick_often()
    with first:
        chosen = state.multiselect(
            f"Methods, at most {MOST_MAPS}",
            "maps",
            list(methods),
            default=telling(
                [row for row in methods.values() if key_of(row, runs, seed) in predicted]
                or list(methods.values())
            ),
            format_func=lambda name: methods[name].title,
        )
    wanted = [row for row in rows if row.method in ("original", "retrain")] + [
        methods[name] for name in chosen[:MOST_MAPS]
    ]
    found = {row.title: key for row in wanted if (key := key_of(row, runs, seed)) is not None}
    kept = {title: key for title, key in found.items() if has_outputs(key)}
    lost = [row.title for row in wanted if row.title not in kept]
    if not kept:
        no_predictions()
        return
    if lost:
        say([f"No map of {', '.join(lost)}: no run with kept predictions on training seed {seed}."])
    drawn = maps.mapped(kept, runs, often)
    if drawn is None:
        return
    info, note = drawn
    figure = embedding_map.draw(info, dark=state.dark())
    figures.chart(figure, "embedding_map", alt=embedding_map.alt_text(info))
    judged = [
        (row.title, row.verdict)
        for row in wanted
        if row.title in kept and not row.reference and row.verdict is not None
    ]
    say([maps.reading(info, note), *([f"Verdicts: {verdicts.told(judged)}."] if judged else [])])
    figures.numbers(maps.map_frame(info), "map", figure)


def telling(methods: Sequence[frames.Row]) -> list[str]:
    """Up to four methods: the two nearest to Retrain in features and the two farthest, as far as
    that is known.
    """
    split = state.choice("split", list(computed.SPLITS), "test")
    known = sorted(
        (row for row in methods if computed.mean(row, f"cka_retrain_{split}") is not None),
        key=lambda row: nearness(row, split),
    )
    ends = [*known[-2:][::-1], *known[:2]] or list(methods[:4])
    return list(dict.fromkeys(row.id for row in ends))


def nearness(row: frames.Row, split: str) -> float:
    return computed.mean(row, f"cka_retrain_{split}") or 0.0
