"""Forget sets: what the set in hand comes to, before anybody trains on it."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dashboard import state
from dashboard.charts import set_classes
from dashboard.sections.forget_sets import image_wall, working_set
from dashboard.sections.forget_sets.save import to_launch
from dashboard.sections.forget_sets.working_set import Working
from dashboard.text import units
from dashboard.widgets import figures
from dashboard.widgets.markdown import escape
from dashboard.widgets.training_set import Training
from mucore.forget_sets.identity import twins

FEW = 10  # samples below which an attack on the forget set has too little data


def show(training: Training, now: Working) -> None:
    """Size and hash, what goes of each class, and what to beware of."""
    share = 100 * len(now.ids) / len(training)
    with st.container(horizontal=True, gap="medium"):
        st.metric(
            "Samples to forget",
            f"{len(now.ids):,}",
            help=f"{share:.3g} % of {units.count(len(training), 'training sample')}",
            width="content",
        )
        st.metric(
            "Hash",
            now.hash or "–",
            help="names these samples, here and in every result on them",
            width="content",
        )
    info = set_classes.set_classes_info(
        training.class_names, training.counts(), training.counts(now.ids)
    )
    figures.chart(
        set_classes.draw(info, dark=state.dark()), "set_classes", alt=set_classes.alt_text(info)
    )
    if sentence := warning(training, now):
        st.warning(sentence, icon=":material/warning:")
    whole_classes(training, now)
    if training.digests is not None:
        offer_twins(training, twins(training.digests, training.ids, now.ids))


def warning(training: Training, now: Working) -> str:
    """What to beware of in a set that is too small or too large to say much, "" for others."""
    if len(now.ids) == len(training):
        return "This is the whole training set, and at least one sample must stay. Take some away."
    if 0 < len(now.ids) < FEW:
        return f"With fewer than {FEW} samples, membership attacks have too little data."
    return ""


def whole_classes(training: Training, now: Working) -> None:
    """The way to the scenario of whole classes, where the set is nothing else."""
    if training.task != "classes":
        return
    counts, gone = training.counts(), training.counts(now.ids)
    whole = np.flatnonzero((gone == counts) & (counts > 0))
    if not len(whole) or not gone[whole].sum() == len(now.ids) < len(training):
        return
    names = ", ".join(training.class_names[number] for number in whole)
    st.info(
        escape(f"Whole classes: {names}. Metrics of class forgetting come with that scenario."),
        icon=":material/info:",
    )
    to_launch(
        training.dataset,
        "Launch it as whole classes",
        scenarios=["class_wise"],
        **{"class_wise.class_ids": [str(number) for number in whole]},
    )


def offer_twins(training: Training, found: np.ndarray) -> None:
    """Identical images that stay, with a button that forgets them, too."""
    if not len(found):
        return
    st.warning(
        f"Identical images that stay: {len(found)}. A model that trains on a twin keeps what it "
        "knows of the image.",
        icon=":material/content_copy:",
    )
    st.button(
        "Forget the twins, too",
        key="twins",
        icon=":material/add:",
        on_click=working_set.add,
        args=(training, found),
    )


def show_images(training: Training, now: Working) -> None:
    """The images of the set, a page at a time; a click takes one out."""
    page = image_wall.pick_page(len(now.ids), "sheet")
    st.caption("Images in the set. Click one to remove it.")
    image_wall.show(training, now.ids[page].tolist(), now.ids, "chosen")
