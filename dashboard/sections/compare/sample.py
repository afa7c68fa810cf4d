"""The card of one sample: its image, its true label, and what each run says of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from dashboard import access, data, state
from dashboard.charts import instance
from dashboard.frames import compare as compare_frames
from dashboard.frames.compare import SPLIT_NAMES
from dashboard.sections.compare.selection import Chosen, kept, sample_id
from dashboard.text import units
from dashboard.widgets import figures
from dashboard.widgets.markdown import escape
from dashboard.widgets.pictures import enlarged
from mucore.errors import MucoreError
from mucore.store.rows import Result

# pixels: small images are enlarged to this by whole pixels, so that a browser does not blur them
SIDE = 96
NUMBERS = (
    "The row of a training sample in its data. Other samples are numbered from where these end."
)


def show(chosen: Chosen) -> None:
    """The card of the sample that parameter `sample` names: its image, true label, and
    probabilities under each run.
    """
    with st.container(border=True, key="instance"):
        head, close = st.columns([7, 1], vertical_alignment="bottom")
        with head:
            typed = state.text("Sample", "sample", width=220, help=NUMBERS)
        if close.button("Close", icon=":material/close:", key="close_instance"):
            state.set_param("sample", None)
            st.rerun()
        chosen, outputs = kept(chosen)
        number = sample_id(typed)
        if number is not None and chosen.results:
            number = int(data.internal(chosen.results[0].spec, number))
        found = None if number is None else compare_frames.instance(outputs, number)
        if number is None or found is None:
            st.markdown(
                "None of these runs kept a prediction for this sample. Choose one under Images, or "
                "type another id."
            )
            return
        titles = [chosen.names[place] for place in found.places]
        left, right = st.columns([1, 4], gap="medium")
        with left:
            pictures = load_images(chosen.results[found.places[0]], [number])
            if pictures is not None:
                st.image(large(pictures[0]), width=160)
            st.markdown(
                "True label: "
                f"**{escape(compare_frames.label_text(found.label, chosen.class_names))}**"
            )
            places = " and ".join(
                sorted({SPLIT_NAMES.get(name, name).lower() for name in found.splits})
            )
            st.caption(f"In the {places} of these runs.")
            if file := data.sample_file(chosen.results[found.places[0]].spec, number):
                st.caption(f"File: {escape(file)}")
        with right:
            info = instance.instance_info(
                titles, found.probabilities, found.label, chosen.class_names
            )
            figures.chart(
                instance.draw(info, dark=state.dark()),
                "instance_chart",
                alt=instance.alt_text(info),
            )
            if info.left_out:
                st.caption(
                    f"{units.count(info.left_out, 'class', 'classes')} with less probability "
                    "under every run not shown."
                )


def load_images(result: Result, ids: Sequence[int]) -> np.ndarray | None:
    """Images (n, h, w, c) uint8 of a run's data; None, with a sentence on the page, where the data
    set is not on this machine.
    """
    try:
        return data.images(result.spec, ids)
    except MucoreError as failure:
        st.caption(escape(access.shown(f"No images: {failure}")))
        return None


def large(picture: np.ndarray) -> np.ndarray:
    """(h, w, c) uint8, `SIDE` high or more."""
    return enlarged(picture, max(1, -(-SIDE // picture.shape[0])))
