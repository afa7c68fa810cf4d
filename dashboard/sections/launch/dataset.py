"""Launch: data set, model and recipe, or a paper's whole setting.

The preset comes first: fields that nobody touched follow it. What a person changed stays and is
marked, with a way back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from dashboard import state
from dashboard.sections.launch import recipe
from dashboard.widgets import fields as parts
from dashboard.widgets import own_files, uploads
from dashboard.widgets.markdown import escape
from dashboard.widgets.training_set import training_of
from mucore import catalog
from mucore.runs import FIRST, Recipe, fill, make_recipe

STANDARD = "standard"  # the preset that the page opens on


@dataclass(frozen=True)
class Basis:
    """What the rest of the page rests on; `facts` are None where the data are not known yet, or not
    before a run.
    """

    dataset: str
    model: str
    preset: str
    changes: dict[str, Any]  # of the preset's recipe
    original: str
    facts: own_files.Facts | None

    @property
    def recipe(self) -> Recipe:
        return make_recipe(self.preset, self.changes)

    def content(self) -> dict[str, Any]:
        """The fields of a `Grid`."""
        return {
            "dataset": self.dataset,
            "model": self.model,
            "preset": self.preset,
            "recipe": self.changes,
            "original": self.original,
        }


def choose_data() -> tuple[Basis, st.delta_generator.DeltaGenerator]:
    """The basis, and the place where the page says what differs from a paper's setting once the
    scenarios are known.
    """
    st.subheader("Data, model and recipe", anchor=False)
    cards = {card.id: card for card in catalog.datasets()}
    models, presets = (
        {card.id: card for card in catalog.models()},
        {card.id: card for card in catalog.presets()},
    )
    preset = state.select(
        "Preset",
        "preset",
        list(presets),
        default=STANDARD,
        format_func=lambda name: presets[name].title,
        help="The recipe that the original and the retrained model are trained with; a paper's "
        "preset also brings its data set, model, scenarios and settings of methods. Fields "
        "that you change stay as you set them.",
        on_change=take_settings,
        args=(list(presets),),
    )
    usual = fill(preset, otherwise=FIRST)
    left, right = st.columns([11, 9])
    with left:
        dataset = state.select(
            "Data set",
            "dataset",
            list(cards),
            default=usual.dataset,
            format_func=lambda name: cards[name].title,
        )
    with right:
        model = state.select(
            "Model",
            "model",
            list(models),
            default=usual.model,
            format_func=lambda name: models[name].title,
        )
    card = cards[dataset]
    where = "" if card.embedded or card.takes_path else card.where
    st.caption(escape(f"{presets[preset].meaning} {where}"))
    place = st.container()
    if presets[preset].open_points:
        with st.expander("What the paper leaves open"):
            st.markdown(presets[preset].open_points)
    if card.takes_path:
        dataset = uploads.path_field(card)
    # what is wrong with the files stands under their field, but depends on the recipe
    below = st.container()
    with st.expander("Change the recipe"):
        changes = recipe.recipe_form(preset)
    facts = None
    with below:
        if not dataset.endswith(":"):
            facts = parts.checked(
                lambda: own_files.facts_of(dataset, make_recipe(preset, changes)), None
            )
        if facts is not None and card.takes_path:
            st.caption(escape(f"{uploads.title_of(dataset)}: {own_files.facts_text(facts)}"))
            for note in training_of(dataset).splits.notes:
                st.caption(escape(note))
    own = bool(state.param("original")) or "uploaded" in state.params("methods")
    with st.expander("Weights of your own", expanded=own):
        original = state.text(
            "Weights of the original",
            "original",
            help="A path on the machine that runs the program. The original is then not trained; "
            "Retrain is, by the recipe.",
        ).strip()
        uploads.weights_field("original")
        changes |= recipe.preprocess_field(preset)
        basis = Basis(dataset, model, preset, changes, original, facts)
        check_weights(original, basis)
    return basis, place


def check_weights(text: str, basis: Basis) -> None:
    """Say below a field with a file of weights why they do not fit."""
    facts = basis.facts
    if text and facts is not None:
        parts.checked(
            lambda: own_files.check_weights(
                text, basis.dataset, basis.model, basis.preset, basis.changes, facts
            ),
            None,
        )


def take_settings(presets: list[str]) -> None:
    """Of a paper's preset that was just chosen also take the settings of methods, which are the
    authors' where it says nothing.
    """
    if catalog.preset(state.upcoming("preset", presets, STANDARD)).dataset:
        state.forget(["settings"])
