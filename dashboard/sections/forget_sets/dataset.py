"""Forget sets: which data set the samples are of, and what is known about it."""

from __future__ import annotations

import streamlit as st

from dashboard import state
from dashboard.sections.forget_sets import working_set
from dashboard.sections.forget_sets.working_set import Working
from dashboard.text import units
from dashboard.widgets import messages, uploads
from dashboard.widgets.markdown import escape
from dashboard.widgets.training_set import Training, training_of
from mucore import catalog
from mucore.errors import MucoreError
from mucore.spec import FIRST


def choose_data() -> Training | None:
    """The data set, by parameters `dataset` and `path` of the address; None, with the reason on the
    page, where it cannot be read here.
    """
    cards = {
        card.id: card
        for card in sorted(
            catalog.datasets(), key=lambda card: not (card.embedded or card.takes_path)
        )
    }
    left, right = st.columns([4, 7], gap="large", vertical_alignment="bottom")
    with left:
        name = state.select(
            "Data set",
            "dataset",
            list(cards),
            default=FIRST.dataset,
            format_func=lambda each: cards[each].title,
            on_change=working_set.leave,
        )
    card = cards[name]
    with right:
        if card.takes_path:
            path = state.text(
                "File or folder",
                "path",
                help=f"A path on this machine. {card.where}",
                on_change=working_set.leave,
            ).strip()
            name = f"{name}:{path}"
        else:
            st.caption(f"{card.source}. Samples are named by their rows in it.")
    if card.takes_path:
        uploads.data_field(card)
    if name.endswith(":"):
        messages.problem(uploads.missing(card))
        return None
    try:
        return training_of(name)
    except MucoreError as failure:
        messages.error(escape(str(failure)), "Choose another data set.")
        return None


def show_source(training: Training, now: Working) -> None:
    """Where the samples come from, and how the set was made."""
    splits = training.splits
    with st.expander("Provenance", icon=":material/fingerprint:"):
        facts = {
            "Data set": training.dataset,
            "Content": splits.data_hash,
            "Training samples": (
                f"{units.count(len(training), 'sample')}, rows {training.ids.min()} to "
                f"{training.ids.max()}"
            ),
            "Forget set": f"{units.count(len(now.ids), 'sample')}, hash {now.hash or '–'}",
            "How it was made": " ".join(now.made) or "–",
        }
        st.markdown(
            "\n".join(f"- **{name}**: {escape(str(value))}" for name, value in facts.items())
        )
        for note in splits.notes:
            st.caption(escape(note))
