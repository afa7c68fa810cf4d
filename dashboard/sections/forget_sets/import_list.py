"""Forget sets: samples by a list, pasted or in a file, as a privacy engineer has it."""

from __future__ import annotations

import streamlit as st

from dashboard.sections.forget_sets.add import offer
from dashboard.sections.forget_sets.working_set import Working
from dashboard.widgets import messages
from dashboard.widgets.markdown import escape
from dashboard.widgets.training_set import Training
from mucore import forget_sets
from mucore.errors import MucoreError

MEGABYTES = 20


def by_list(training: Training, now: Working) -> None:
    typed = st.text_area(
        "Sample ids",
        key="paste",
        placeholder="3, 17, 256-260",
        help="With commas, spaces or one a line; 256-260 stands for five ids.",
        height=110,
    )
    file = st.file_uploader(
        "or a file with them",
        type=["csv", "txt", "json", "npz"],
        key="ids_file",
        max_upload_size=MEGABYTES,
        help=_FORMS,
    )
    st.caption(
        f"Training samples of this data set have the ids {training.ids.min()} to "
        f"{training.ids.max()}."
    )
    if typed.strip():
        _offered(training, now, typed.encode(), "the text", "typed")
    if file is not None:
        _offered(training, now, file.getvalue(), file.name, "file")


def _offered(training: Training, now: Working, content: bytes, name: str, key: str) -> None:
    try:
        if content.lstrip().startswith(b"{"):
            forget_sets.check_fits(
                forget_sets.parse(content, name=name), training.dataset, training.data_hash
            )
        found = forget_sets.read_list(content, name=name)
        sifted = forget_sets.sift(found.numbers, training.ids)
    except MucoreError as failure:
        messages.problem(str(failure))
        return
    if sentences := [*found.sentences, *sifted.sentences]:
        st.warning(escape("  \n".join(sentences)), icon=":material/rule:")
    if len(sifted.ids):
        offer(
            training,
            now,
            sifted.ids,
            "a pasted list" if key == "typed" else f"the file {name}",
            key,
        )
    else:
        messages.problem(f"None of the ids in {name} is a training sample of this data set.")


_FORMS = (
    "A table with a column `id`, numbers and ranges in any arrangement, a forget set that was "
    "saved here (JSON), or an npz file with an array `ids`, which is read without pickles."
)
