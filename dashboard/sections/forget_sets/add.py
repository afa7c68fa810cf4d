"""Forget sets: the ways to put samples together, by clicking images and by a list."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dashboard import state
from dashboard.sections.forget_sets import image_wall, working_set
from dashboard.sections.forget_sets.working_set import Working, checked
from dashboard.text import units
from dashboard.widgets import messages
from dashboard.widgets.training_set import Training
from mucore.errors import MucoreError
from mucore.forget_sets import lists

EVERY = "every"
MEGABYTES = 20
LISTS = (
    "A table with a column `id`, a number, range or file name a line, a forget set that was saved "
    "here, a JSON list, or an array (npy, npz, pt), which is read without pickles."
)


def offer(training: Training, now: Working, ids: np.ndarray, key: str) -> None:
    """Buttons that add found samples and take them away."""
    actions = (
        ("Add", "add", working_set.add, np.setdiff1d(ids, now.ids)),
        ("Take away", "remove", working_set.take, np.intersect1d(ids, now.ids)),
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for label, icon, action, moved in actions:
            st.button(
                f"{label} {len(moved):,}" if len(moved) else label,
                key=f"{key}:{action.__name__}",
                icon=f":material/{icon}:",
                type="primary" if action is working_set.add else "secondary",
                disabled=not len(moved),
                on_click=action,
                args=(training, ids),
            )
        st.caption(f"{units.count(len(ids), 'sample')} found.")


def by_images(training: Training, now: Working) -> None:
    """A wall of images, of all classes or of one, which can then be added as a whole."""
    names = training.class_names
    options = [EVERY, *(str(number) for number in range(len(names)))]
    left, right = st.columns([3, 2], vertical_alignment="bottom", gap="small")
    with left:
        chosen = state.select(
            "Attribute" if training.task == "attributes" else "Class",
            "class",
            options,
            format_func=lambda each: "All" if each == EVERY else names[int(each)],
        )
    ids = training.ids if chosen == EVERY else training.having(int(chosen))
    with right:
        page = image_wall.pick_page(len(ids), "gallery")
    if chosen != EVERY:
        offer(training, now, ids, "class")
    st.caption("Click an image to add or remove it. Orange: in the set.")
    image_wall.show(training, ids[page].tolist(), now.ids, "gallery")


def by_list(training: Training, now: Working) -> None:
    """Ids that are pasted or in a file, as a privacy engineer has them."""
    typed = st.text_area(
        "Samples",
        key="paste",
        placeholder="3, 17, 256-260",
        help="Row numbers, separated by commas or line breaks; 256-260 means five.",
        height=110,
    )
    file = st.file_uploader(
        "or a file with them",
        type=["csv", "txt", "json", "npy", "npz", "pt"],
        key="ids_file",
        max_upload_size=MEGABYTES,
        help=LISTS,
    )
    source = training.splits.train.source
    st.caption(
        f"A sample is named by its row in the training data, 0 to {source.total - 1}"
        + (f", or by its file, such as {source.files[0]}." if source.files else ".")
    )
    if typed.strip():
        _offered(training, now, typed.encode(), "the text", "typed")
    if file is not None:
        _offered(training, now, file.getvalue(), file.name, "file")


def _offered(training: Training, now: Working, content: bytes, name: str, key: str) -> None:
    try:
        ids = checked(training, lists.read_list(content, name=name))
    except MucoreError as failure:
        messages.problem(str(failure))
        return
    offer(training, now, ids, key)
