"""Attacked images, and what the models say of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import access, data, frames, state
from dashboard.charts import image_row
from dashboard.frames import depoisoning as depoisoning_frames
from dashboard.frames.rows import references
from dashboard.widgets import figures
from dashboard.widgets.markdown import escape
from mucore import catalog
from mucore.errors import MucoreError

MOST: Final = 10  # images


def show(rows: Sequence[frames.Row], runs: pd.DataFrame, scenario: str) -> None:
    """Attacked images with the answers of Original, Retrain and one method, all of one training
    seed.
    """
    lines = {row.id: row for row in rows if not row.reference}
    predicted = data.predicted()
    # the first of which there is something to see
    first = min(lines.values(), key=lambda row: row.keys[0] not in predicted)
    chosen = state.select(
        "Method",
        "method",
        list(lines),
        default=first.id,
        format_func=lambda name: lines[name].title,
        width=320,
    )
    key = lines[chosen].keys[0]
    twins = references(runs.set_index("key"), key)
    keys = {name: twins[name] for name in ("Original", "Retrain") if name in twins}
    split = depoisoning_frames.SPLIT[scenario]
    outputs = {name: data.outputs(key) for name, key in {**keys, lines[chosen].title: key}.items()}
    splits = {name: each[split] for name, each in outputs.items() if each and split in each}
    if len(splits) < 3:
        st.caption("The store no longer has the predictions that these images need.")
        return
    original = data.result(keys["Original"])
    assert original is not None
    found = depoisoning_frames.examples(splits, original.spec["poison"])
    places = np.linspace(0, len(found) - 1, min(MOST, len(found))).round().astype(int)
    told = found.iloc[places]
    try:
        with st.spinner("Loading the images"):
            pixels = data.images(
                original.spec, told.index.tolist(), triggered=scenario == "backdoor"
            )
    except MucoreError as failure:
        st.markdown(f"The images cannot be shown: {escape(access.shown(str(failure)))}")
        return
    told.index = data.numbered(original.spec, told.index.to_numpy())
    names = catalog.dataset(original.spec["dataset"]).class_names
    figure = image_row.draw(told, pixels, names, dark=state.dark())
    with st.container(key="sideways_images"):
        figures.chart(figure, "poisoned_images", alt=image_row.alt_text(told))
    st.caption(
        f"{len(told)} of {len(found)} attacked images. Bold and coloured: the attacker's label. "
        "Italic: another wrong label."
    )
