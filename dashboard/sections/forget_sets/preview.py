"""Forget sets: what the set in hand comes to, before anybody trains on it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import state
from dashboard.charts import set_classes
from dashboard.sections.forget_sets import image_wall, working_set
from dashboard.sections.forget_sets.add import pick_class
from dashboard.sections.forget_sets.links import to_launch
from dashboard.sections.forget_sets.working_set import Working
from dashboard.text import units
from dashboard.widgets import figures
from dashboard.widgets import pictures as images
from dashboard.widgets.markdown import escape
from dashboard.widgets.training_set import Training, pictures
from mucore.forget_sets import Copies, find_copies

FEW = 10  # samples below which an attack on the forget set has too little data
GROUPS = 12  # images with a twin that are listed


class Fact(NamedTuple):
    label: str
    value: str
    detail: str


def facts(training: Training, now: Working, copies: Copies | None) -> list[Fact]:
    """The set in four figures."""
    share = 100 * len(now.ids) / len(training)
    counts = training.counts(now.ids)
    touched = int((counts > 0).sum())
    of = "attribute" if training.task == "attributes" else "class"
    spread = units.count(len(counts), of, f"{of}s" if of == "attribute" else "classes")
    most = (
        f"most of {of} {training.class_names[int(counts.argmax())]}: {int(counts.max())}"
        if touched
        else "nothing chosen yet"
    )
    if not len(now.ids):
        twins = Fact("Identical images that stay", "–", "nothing chosen yet")
    elif copies is None:
        twins = Fact(
            "Identical images that stay",
            "not known",
            "images are streamed from their files, so copies are not looked for",
        )
    else:
        of_how_many = f"of {units.count(len(copies.forgotten), 'forgotten image')}"
        which = of_how_many if len(copies.twins) else "no forgotten image has a copy that stays"
        twins = Fact("Identical images that stay", str(len(copies.twins)), which)
    return [
        Fact(
            "Samples to forget",
            units.count(len(now.ids), "sample"),
            f"{share:.3g} % of {units.count(len(training), 'training sample')}",
        ),
        Fact("Spread", f"{touched} of {spread}", most),
        twins,
        Fact("Hash", now.hash or "–", "names these samples, here and in every result on them"),
    ]


def copies_of(training: Training, now: Working) -> Copies | None:
    """Exact copies, None where nobody can look."""
    if training.digests is None:
        return None
    return _copies(training.splits.data_hash, now.hash, training.digests, training.ids, now.ids)


def show(training: Training, now: Working, copies: Copies | None) -> None:
    """Warnings, histogram, twins and images of the set."""
    for sentence in warnings(training, now):
        st.warning(escape(sentence), icon=":material/warning:")
    whole_classes(training, now)
    if copies is not None:
        show_copies(training, now, copies)
    info = classes_info(training, now)
    st.caption("What goes and what stays of each class; the number is what goes.")
    figures.chart(
        set_classes.draw(info, dark=state.dark()), "set_classes", alt=set_classes.alt_text(info)
    )
    show_images(training, now)


def classes_info(training: Training, now: Working) -> set_classes.SetClassesInfo:
    of = "Attribute" if training.task == "attributes" else "Class"
    return set_classes.set_classes_info(
        training.class_names, training.counts(), training.counts(now.ids), of=of
    )


def warnings(training: Training, now: Working) -> list[str]:
    """Sentences on a set that is too small or too large to say much."""
    count = len(now.ids)
    if count == len(training):
        return [
            "This is the whole training set, and at least one sample must stay. Take some away."
        ]
    if count > len(training) / 2:
        return [
            (
                "More than half of the training set goes. Retraining on what stays is then cheap, "
                "so a method has little to gain."
            )
        ]
    if count < FEW:
        return [
            (
                f"With fewer than {FEW} forgotten samples, membership attacks have too little "
                "data: their numbers hardly mean anything."
            )
        ]
    return []


def whole_classes(training: Training, now: Working) -> None:
    """Say where classes go as a whole, and where the metrics of class forgetting are to be had."""
    if training.task != "classes":
        return
    counts, gone = training.counts(), training.counts(now.ids)
    whole = np.flatnonzero((gone == counts) & (counts > 0))
    if not len(whole) or len(now.ids) == len(training):
        return
    names = ", ".join(training.class_names[number] for number in whole[:5]) + (
        " and others" if len(whole) > 5 else ""
    )
    which = f"Class {names} goes" if len(whole) == 1 else f"Classes {names} go"
    alone = int(gone[whole].sum()) == len(now.ids)
    st.info(
        escape(
            f"{which} as a whole. A list of samples does not count as forgetting a class: the "
            "metrics of forgotten and remaining classes, and the methods for whole classes, come "
            "with the scenario “Whole classes”"
            + (" alone." if alone else ", which forgets nothing else.")
        ),
        icon=":material/info:",
    )
    if alone:
        to_launch(
            training.dataset,
            "Launch it as whole classes",
            scenarios=["class_wise"],
            **{"class_wise.class_ids": [str(number) for number in whole]},
        )


def show_copies(training: Training, now: Working, copies: Copies) -> None:
    """Twins among what stays, with a button that forgets them, too; doubles within the set."""
    if len(copies.twins):
        many = len(copies.forgotten) != 1
        st.warning(
            f"{units.count(len(copies.forgotten), 'forgotten image')} {'have' if many else 'has'} "
            f"an identical twin that stays ({len(copies.twins)} in all). A model that keeps "
            "training on the twin keeps what it knows of the image.",
            icon=":material/content_copy:",
        )
        st.button(
            f"Forget the {'twin' if len(copies.twins) == 1 else 'twins'}, too",
            key="twins",
            icon=":material/add:",
            on_click=working_set.add,
            args=(training, copies.twins, "identical twins of samples in the set"),
        )
        with st.expander("Which images have a twin"):
            st.dataframe(
                twins_table(training, copies),
                hide_index=True,
                row_height=44,
                column_config={"Image": st.column_config.ImageColumn(width=56)},
            )
            if len(copies.groups) > GROUPS:
                st.caption(f"The first {GROUPS} of {len(copies.groups)}.")
    if len(copies.doubles):
        st.caption(
            f"{units.count(len(copies.doubles), 'sample')} of the set share an image with another "
            "one of it."
        )


def twins_table(training: Training, copies: Copies) -> pd.DataFrame:
    """One line an image that is on both sides."""
    groups = copies.groups[:GROUPS]
    found = pictures(training, [gone[0] for gone, _ in groups])
    factor = max(1, round(images.THUMBNAIL / found[0].shape[0])) if len(found) else 1
    return pd.DataFrame(
        {
            "Image": [images.picture_url(images.enlarged(each, factor)) for each in found],
            "To forget": [", ".join(map(str, gone)) for gone, _ in groups],
            "Class": [training.label_texts(gone[:1])[0] for gone, _ in groups],
            "Stays": [", ".join(map(str, left)) for _, left in groups],
            "Class of what stays": [
                ", ".join(dict.fromkeys(training.label_texts(left))) for _, left in groups
            ],
        }
    )


def show_images(training: Training, now: Working) -> None:
    """The images of the set, a page at a time; a click takes one out."""
    if not len(now.ids):
        return
    left, right = st.columns([3, 2], vertical_alignment="bottom", gap="small")
    with left:
        number = pick_class(training, "of")
    ids = now.ids if number is None else np.intersect1d(now.ids, training.having(number))
    with right:
        page = image_wall.pick_page(len(ids), "sheet")
    if not len(ids):
        st.caption("No sample of the set is of this class.")
        return
    st.caption("The images of the set. A click takes one out.")
    image_wall.show(
        training,
        ids[page].tolist(),
        now.ids,
        "chosen",
        lambda clicked: working_set.toggle(training, clicked),
    )


@st.cache_data(show_spinner=False, max_entries=32)
def _copies(
    content: str, forget_hash: str, _digests: np.ndarray, _ids: np.ndarray, _forget: np.ndarray
) -> Copies:
    return find_copies(_digests, _ids, _forget)
