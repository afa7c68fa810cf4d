"""Forget sets: which data set the samples are of, and what is known about it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import streamlit as st

from dashboard import state
from dashboard.sections.forget_sets import working_set
from dashboard.sections.forget_sets.working_set import Working
from dashboard.text import units
from dashboard.widgets import messages, uploads
from dashboard.widgets.markdown import escape
from dashboard.widgets.training_set import Training, training_of
from mucore import catalog
from mucore.errors import BadFile, MucoreError
from mucore.spec import FIRST

# What lies in the data folder once torchvision has fetched a set. Looked for first, so that no page
# begins a download.
_FETCHED: Final = {
    "cifar10": ("cifar-10-batches-py", "cifar-10-python.tar.gz"),
    "cifar100": ("cifar-100-python", "cifar-100-python.tar.gz"),
    "svhn": ("train_32x32.mat",),
    "mnist": ("MNIST/raw",),
    "fashion-mnist": (
        "FashionMNIST/raw",
        "train-images-idx3-ubyte.gz",
        "/usr/share/datasets/fashion-mnist",
    ),
}


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
            st.caption(f"{card.source}. Samples are numbered from 0 as runs number them.")
    if card.id == "npz":
        uploads.arrays_field("path")
    if name.endswith(":"):
        messages.problem(uploads.missing(card))
        return None
    try:
        check_there(card.id)
        return training_of(name)
    except MucoreError as failure:
        messages.error(escape(str(failure)), "Choose another data set.")
        return None


def check_there(dataset: str) -> None:
    """Raise `BadFile` where a data set would have to be fetched first."""
    if dataset not in _FETCHED:
        return
    from mucore.datasets import default_root

    root = default_root()
    if not any((root / Path(place)).exists() for place in _FETCHED[dataset]):
        card = catalog.dataset(dataset)
        raise BadFile(
            f"{card.title} is not on this machine yet, and a page fetches nothing. A run on it "
            f"does. {card.where}"
        )


def show_source(training: Training, now: Working) -> None:
    """Where the samples come from, and how the set was made."""
    splits = training.splits
    with st.expander("Provenance", icon=":material/fingerprint:"):
        facts = {
            "Data set": training.dataset,
            "Content": splits.data_hash,
            "Training samples": (
                f"{units.count(len(training), 'sample')}, ids {training.ids.min()} to "
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
        st.caption(
            "Recipes that divide the data otherwise (validation from the test set, a few images a "
            "class) number samples anew: there a list of ids means other images."
        )
