"""Neighbours: a query and the training images that each model's features put nearest to it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import access, data, frames, state
from dashboard.charts import neighbours
from dashboard.sections.representation.shared import (
    PAPER,
    class_name,
    has_outputs,
    key_of,
    no_predictions,
    pick_run,
    say,
)
from dashboard.widgets import figures, header
from dashboard.widgets.maps import chosen_part, class_names
from dashboard.widgets.markdown import escape
from mucore import catalog
from mucore.errors import MucoreError

QUERIES = 24


def show(rows: tuple[frames.Row, ...], runs: pd.DataFrame) -> None:
    st.markdown(
        "**Which images does the encoder find alike?** A query and the five training images "
        "nearest to it. If the method's line looks like the original's, the features were kept. "
        f"({PAPER} Figure 9)"
    )
    chosen = pick_run(rows, runs, data.predicted())
    if chosen is None:
        st.markdown("There is no method in this selection.")
        return
    title, key = chosen
    seed = int(runs.set_index("key").loc[key, "training_seed"])
    wanted = {
        row.title: key_of(row, runs, seed) for row in rows if row.method in ("original", "retrain")
    } | {title: key}
    kept = {name: each for name, each in wanted.items() if each is not None and has_outputs(each)}
    if key not in kept.values() or len(kept) < 2:
        no_predictions()
        return
    part = chosen_part()
    try:
        value = data.neighbours(list(kept.values()), split=part, count=QUERIES)
    except MucoreError as problem:
        st.info(escape(access.shown(str(problem))), icon=":material/info:")
        return
    names = class_names(runs)
    same = {
        each: (value[f"{each}/labels"] == value["labels"][:, None]).sum(axis=1)
        for each in kept.values()
    }
    baseline = next(
        (each for name, each in kept.items() if name == "Retrain"), next(iter(kept.values()))
    )
    order = np.argsort(-np.abs(same[key].astype(int) - same[baseline].astype(int)), kind="stable")
    result = data.result(key)
    spec = None if result is None else result.spec
    called = (lambda ids: ids) if spec is None else (lambda ids: data.numbered(spec, ids))
    samples = called(value["queries"])
    queries = {str(int(samples[number])): int(number) for number in order}
    labels = {
        name: class_name(names, int(value["labels"][number])) for name, number in queries.items()
    }
    # what the search draws its queries from
    forgotten = part == "train" or catalog.scenario(str(runs.iloc[0]["scenario"])).class_wise
    query = state.select(
        f"Query, one of {len(queries)} {'forgotten' if forgotten else 'test'} samples; first "
        "where the method and Retrain differ most",
        "query",
        list(queries),
        format_func=lambda name: f"sample {name}, class {labels[name]}",
    )
    number = queries[query]
    found = {
        name: (
            called(value[each][number]),
            value[f"{each}/labels"][number],
            value[f"{each}/forgotten"][number],
            value[f"{each}/cosines"][number],
        )
        for name, each in kept.items()
    }
    label = int(value["labels"][number])
    info = neighbours.neighbours_info(int(query), label, found, forgotten=forgotten, names=names)
    header.answers(
        tuple(
            frames.Answer(
                f"{name}: of the query's class",
                f"{count} of {len(tiles)}",
                f"{float(np.mean(same[each])):.1f} on average over {len(queries)} queries",
            )
            for (name, tiles), count, each in zip(
                info.rows, info.same_class, kept.values(), strict=True
            )
        )
    )
    figure = neighbours.draw(info, pictures(key, info.ids), dark=state.dark())
    figures.chart(figure, "neighbours", alt=neighbours.alt_text(info))
    say(
        [
            (
                f"Orange frames: to forget. {value['note']} Nearness is the cosine of the "
                "features before the last layer. One run."
            )
        ]
    )
    table = pd.DataFrame(
        {
            "Model": name,
            "Place": place,
            "Sample": tile.id,
            "Class": tile.name,
            "To forget": tile.forgotten,
            "Cosine": tile.cosine,
        }
        for name, tiles in info.rows
        for place, tile in enumerate(tiles, start=1)
    )
    figures.numbers(table, "neighbours", figure)


def pictures(key: str, ids: Sequence[int]) -> dict[int, np.ndarray]:
    """The images of sample ids; none where the data set is not on this machine, and a sentence says
    so.
    """
    result = data.result(key)
    if result is None:
        return {}
    try:
        inside = data.internal(result.spec, ids).tolist()
        return dict(zip(ids, data.images(result.spec, inside), strict=True))
    except MucoreError as problem:
        say([access.shown(f"No pictures: {problem}")])
        return {}
