"""Forget sets: put samples together, see what that comes to, and give it a name."""

from __future__ import annotations

import streamlit as st

from dashboard import state
from dashboard.sections.forget_sets import add, preview, save, working_set
from dashboard.sections.forget_sets import map as maps
from dashboard.widgets import messages, uploads
from dashboard.widgets.markdown import escape
from dashboard.widgets.training_set import Training, training_of
from mucore import catalog
from mucore.errors import MucoreError
from mucore.runs import FIRST

WAYS = {
    "images": ("Images", add.by_images),
    "map": ("Map", maps.by_map),
    "list": ("List", add.by_list),
}


def show() -> None:
    """The set on the left, in any order and as often as a reader likes; what it comes to, right."""
    training = choose_data()
    if training is not None:
        now = working_set.read(training)
        left, right = st.columns([11, 9], gap="large")
        with left:
            way = state.segmented(
                "Way",
                "way",
                list(WAYS),
                format_func=lambda name: WAYS[name][0],
                label_visibility="collapsed",
            )
            WAYS[way][1](training, now)
        with right:
            if now.problem:
                st.warning(escape(now.problem), icon=":material/rule:")
            preview.show(training, now)
            if len(now.ids):
                save.save_and_launch(training, now)
                preview.show_images(training, now)
    save.show_saved(training)


def choose_data() -> Training | None:
    """The data set, by parameters `dataset` and `path` of the address; None, with the reason on the
    page, where it cannot be read here.
    """
    cards = sorted(catalog.datasets(), key=lambda card: not (card.embedded or card.takes_path))
    titles = {card.id: card.title for card in cards}
    name = state.select(
        "Data set",
        "dataset",
        list(titles),
        default=FIRST.dataset,
        format_func=titles.__getitem__,
        on_change=working_set.leave,
        width=400,
    )
    card = catalog.dataset(name)
    if card.takes_path:
        name = uploads.path_field(card, on_change=working_set.leave)
        if name.endswith(":"):
            return None
    try:
        return training_of(name)
    except MucoreError as failure:
        messages.error(escape(str(failure)), "Choose another data set.")
        return None
