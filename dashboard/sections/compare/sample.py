"""The card of one sample: its image, its true label, and what each run says of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import access, data, state
from dashboard.charts import instance
from dashboard.frames import compare as compare_frames
from dashboard.frames.compare import SPLIT_NAMES
from dashboard.sections.compare.selection import Chosen, kept, sample_id
from dashboard.widgets import figures
from dashboard.widgets.markdown import escape
from dashboard.widgets.pictures import enlarged
from mucore.errors import MucoreError
from mucore.store.records import Result

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
            true = compare_frames.true_classes(found.label, chosen.class_names)
            st.markdown(f"True label: **{escape(', '.join(true) or 'none')}**")
            places = " and ".join(
                sorted({SPLIT_NAMES.get(name, name).lower() for name in found.splits})
            )
            st.caption(f"In the {places} of these runs.")
            if file := data.sample_file(chosen.results[found.places[0]].spec, number):
                st.caption(f"File: {escape(file)}")
        with right:
            size = len(found.probabilities[0])
            names = [compare_frames.class_name(each, chosen.class_names) for each in range(size)]
            every = pd.DataFrame(np.transpose(found.probabilities), names, titles)
            percent = 100 * instance.likeliest(every, true)
            figure = instance.draw(percent, true, dark=state.dark())
            figures.chart(figure, "instance_chart", alt=instance.alt_text(percent, true))


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
