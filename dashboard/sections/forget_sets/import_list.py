"""Forget sets: samples by a list, pasted or in a file, as a privacy engineer has it."""

from __future__ import annotations

import streamlit as st

from dashboard.sections.forget_sets.add import offer
from dashboard.sections.forget_sets.working_set import Working, checked
from dashboard.widgets import messages
from dashboard.widgets.training_set import Training
from mucore import forget_sets
from mucore.errors import MucoreError

MEGABYTES = 20


def by_list(training: Training, now: Working) -> None:
    typed = st.text_area(
        "Samples",
        key="paste",
        placeholder="3, 17, 256-260",
        help="Their rows in the data, in one line or one a line; 256-260 stands for five.",
        height=110,
    )
    file = st.file_uploader(
        "or a file with them",
        type=["csv", "txt", "json", "npy", "npz", "pt"],
        key="ids_file",
        max_upload_size=MEGABYTES,
        help=_FORMS,
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
        ids = checked(training, forget_sets.read_list(content, name=name))
    except MucoreError as failure:
        messages.problem(str(failure))
        return
    offer(training, now, ids, "a pasted list" if key == "typed" else f"the file {name}", key)


_FORMS = (
    "A table with a column `id`, a number, range or file name a line, a forget set that was saved "
    "here, a JSON list, or an array (npy, npz, pt), which is read without pickles."
)
