"""Forget sets: what a reader may do with samples that some way has found, and the ways by scenario,
by class and by clicking images.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from dashboard import state
from dashboard.sections.forget_sets import by_loss, image_wall, working_set
from dashboard.sections.forget_sets.links import to_launch
from dashboard.sections.forget_sets.working_set import Working
from dashboard.text import labels, units
from dashboard.widgets import fields, messages
from dashboard.widgets.markdown import escape
from dashboard.widgets.scenario_form import scenario_form
from dashboard.widgets.training_set import Training
from mucore import catalog
from mucore.catalog.cards import ScenarioCard
from mucore.errors import MucoreError
from mucore.scenarios import select

EVERY = "every"


def offer(training: Training, now: Working, ids: np.ndarray, what: str, key: str) -> None:
    """Buttons that add found samples, take them away, or make them the whole set; `what` they are,
    in words for the record.
    """
    new, there = np.setdiff1d(ids, now.ids), np.intersect1d(ids, now.ids)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for label, icon, action, count in (
            ("Add", "add", working_set.add, len(new)),
            ("Take away", "remove", working_set.take, len(there)),
            (
                "Only these",
                "filter_alt",
                working_set.only,
                len(ids) if len(now.ids) and len(there) < max(len(ids), len(now.ids)) else 0,
            ),
        ):
            st.button(
                label if label == "Only these" or not count else f"{label} {count:,}",
                key=f"{key}:{action.__name__}",
                icon=f":material/{icon}:",
                type="primary" if action is working_set.add else "secondary",
                disabled=not count,
                on_click=action,
                args=(training, ids, what),
            )
    known = (
        f", {units.count(len(there), 'of them', 'of them')} in the set already"
        if len(there)
        else ""
    )
    st.caption(f"{units.count(len(ids), 'sample')} found{known}.")


def by_scenario(training: Training, now: Working) -> None:
    cards = {
        card.id: card
        for card in catalog.scenarios()
        if training.task in card.tasks and card.id != "ids"
    }
    first = "one_class" if "one_class" in cards else "all_classes"
    name = state.select(
        "Scenario", "by", list(cards), default=first, format_func=lambda each: cards[each].title
    )
    card = cards[name]
    st.caption(card.meaning)
    if reason := refusal(card, training):
        st.markdown(escape(reason))
        to_launch(training.dataset, "Choose it on the Launch page", scenarios=[card.id])
        return
    known = by_loss.pick(training, card.id) if "losses" in card.needs else None
    if "losses" in card.needs and known is None:
        return
    chosen = scenario_form(card, training.class_names, training.dataset, label="budget")
    if fields.problems():
        return
    if len(chosen) != 1:
        messages.problem("Give one budget: a forget set is one set.")
        return
    try:
        ids = select.select(
            card.id,
            chosen[0]["parameters"],
            labels=training.labels,
            ids=training.ids,
            classes=len(training.class_names),
            losses=None if known is None else known.values,
            identities=training.identities,
            elsewhere=training.elsewhere,
        )
    except MucoreError as failure:
        messages.problem(str(failure))
        return
    settings = labels.forget_set_text(chosen[0]["parameters"], training.dataset)
    offer(
        training,
        now,
        ids,
        f"{card.title} ({settings})"
        + ("" if known is None else f", by the losses of {known.title}"),
        "scenario",
    )


def refusal(card: ScenarioCard, training: Training) -> str:
    """Why a scenario cannot be turned into a list of samples here, "" where it can."""
    if card.poisons:
        return (
            "This scenario changes images or labels before the original is trained. A list of "
            "samples cannot express that, so it is chosen where runs are launched."
        )
    if "downstream" in card.needs:
        return (
            "This scenario compares classes by the features of the trained original, so its "
            "samples are known once that is trained."
        )
    if "identities" in card.needs and training.identities is None:
        return "This scenario forgets persons, but this data set does not say who is on its images."
    return ""


def by_class(training: Training, now: Working) -> None:
    names, counts = training.class_names, training.counts()
    of = "Attributes" if training.task == "attributes" else "Classes"
    options = [str(number) for number in range(len(names))]
    chosen = state.multiselect(
        of,
        "classes",
        options,
        format_func=lambda each: f"{names[int(each)]} ({counts[int(each)]:,})",
    )
    if not chosen:
        st.caption(
            f"Choose {of.lower()}: all of their training samples are offered. For part of a class, "
            "choose the way “Scenario”."
        )
        return
    ids = np.unique(np.concatenate([training.having(int(each)) for each in chosen]))
    offer(
        training,
        now,
        ids,
        f"{of.lower()} {', '.join(names[int(each)] for each in chosen)}",
        "class",
    )


def by_images(training: Training, now: Working) -> None:
    left, right = st.columns([3, 2], vertical_alignment="bottom", gap="small")
    with left:
        number = pick_class(training, "class")
    ids = training.ids if number is None else training.having(number)
    with right:
        page = image_wall.pick_page(len(ids), "gallery")
    st.caption(
        "Click an image to add it or take it out; those in the set are framed in orange. Sample "
        "numbers show on hover."
    )
    if not len(ids):
        st.markdown("No training sample has this.")
        return
    image_wall.show(
        training,
        ids[page].tolist(),
        now.ids,
        "gallery",
        lambda clicked: working_set.toggle(training, clicked),
    )


def pick_class(training: Training, name: str, **look: Any) -> int | None:
    """A class or attribute by parameter `name` of the address, None for every sample."""
    names = training.class_names
    options = [EVERY, *(str(number) for number in range(len(names)))]
    title = "Attribute" if training.task == "attributes" else "Class"
    chosen = state.select(
        title,
        name,
        options,
        format_func=lambda each: "All" if each == EVERY else names[int(each)],
        **look,
    )
    return None if chosen == EVERY else int(chosen)
