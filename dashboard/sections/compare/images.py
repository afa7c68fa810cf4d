"""Images: the samples on which the models differ most, and what each says about them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.frames import compare as compare_frames
from dashboard.sections.compare.sample import large, load_images
from dashboard.sections.compare.selection import Chosen, pick_common
from dashboard.widgets import figures
from dashboard.widgets.markdown import escape

IMAGES = 6
ACROSS = 6


def show(chosen: Chosen) -> None:
    chosen, found, split = pick_common(chosen)
    if found is None:
        return
    titles = chosen.names
    everywhere = compare_frames.most_disputed(found, len(found.ids))
    numbers = data.numbered(chosen.results[0].spec, found.ids)
    if not len(everywhere):
        st.markdown("These runs predict the same on every sample here.")
        return
    shown = everywhere[:IMAGES]
    pictures = load_images(chosen.results[0], [int(found.ids[place]) for place in shown])
    frame = compare_frames.disputed_frame(found, shown, titles, chosen.class_names, numbers)
    for start in range(0, len(shown), ACROSS):
        for column, place in zip(
            st.columns(ACROSS, gap="small"),
            range(start, min(start + ACROSS, len(shown))),
            strict=False,
        ):
            with column, st.container(border=True, gap="small"):
                show_card(frame.iloc[place], titles, None if pictures is None else pictures[place])
    everything = compare_frames.disputed_frame(
        found, everywhere[:1000], titles, chosen.class_names, numbers
    )
    figures.numbers(everything, f"disputed-{split}")


def show_card(line: pd.Series, titles: Sequence[str], picture: np.ndarray | None) -> None:
    if picture is not None:
        st.image(large(picture), width="stretch")
    true = str(line["True label"])
    said = [f"True: **{escape(true)}**"]
    for title in titles:
        text = escape(str(line[title]))
        right = str(line[title]).rpartition(", ")[0] == true or str(line[title]) == true
        said.append(
            f"{escape(title)}: {text}" if right else f"{escape(title)}: :orange[**{text}**]"
        )
    st.caption("  \n".join(said))
    sample = str(line["Sample"])
    if st.button(f"Sample {sample}", key=f"sample:{sample}", width="stretch"):
        state.set_param("sample", sample)
        st.rerun()
