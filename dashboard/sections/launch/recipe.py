"""The recipe: its settings, those of a preset, and what they come to."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

import streamlit as st

from dashboard import state
from dashboard.text import units
from dashboard.widgets import fields as parts
from dashboard.widgets import forms
from dashboard.widgets.markdown import escape
from mucore.catalog.cards import PresetCard
from mucore.errors import BadValue
from mucore.runs import FIRST, Recipe, fill, make_recipe

# Of fields whose name does not say it; what they do stands at `Recipe`.
HELP = {
    "nesterov": "Nesterov's momentum. It only takes effect with sgd.",
    "milestones": "Of the schedule “step”: epochs after which it divides the learning rate by ten, "
    "as in 100, 150. Left empty: half and three quarters of all epochs.",
    "validation_from": "test: training has every published training image, as in some papers, and "
    "validation is taken out of the test set.",
    "per_class": "Only this many training images of each class, the first ones; 0 takes all.",
    "greyscale": "Images without colour.",
    "class_weights": "The training loss gives samples of rare classes more weight.",
    "augment": "Random crops and flips where the data set allows them, in every training and "
    "method.",
    "pretrained": (
        "Start from pretrained weights where they fit; the last layer starts from random weights."
    ),
    "preprocess": "What pixels become for every network: mucore (normalised by the data set's mean "
    "and deviation), 0..1, -1..1, or MEAN/STD, one number a channel.",
    "revision": "Training code: 2 is faster than 1, with possible differences in the last digits. "
    "Use 1 to continue comparisons from mucore 0.2.",
}


def say_changes(
    place: st.delta_generator.DeltaGenerator, preset: PresetCard, changes: dict[str, Any]
) -> None:
    """What a person chose otherwise than the preset, and the way back; nothing where all is its."""
    whole, recipe = setting(preset) if preset.dataset else {}, make_recipe(preset.id)
    names = [name for name, values in whole.items() if state.params(name) not in ([], values)]
    found = [name.rpartition(".")[2].removesuffix("_id") for name in names] + [
        field_label(name) for name, value in changes.items() if value != getattr(recipe, name)
    ]
    if not found:
        return
    with place, st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f":orange-badge[Changed] {escape(', '.join(found))}", width="stretch")
        st.button(
            f"Back to {preset.title}",
            key="take_setting",
            icon=":material/undo:",
            on_click=state.forget,
            args=([*whole, *(f"recipe.{name}" for name in Recipe.model_fields)],),
        )


def setting(preset: PresetCard) -> dict[str, list[str]]:
    """What the address would say of data set, model and scenarios if it spelled out those of a
    preset.
    """
    whole = fill(preset.id, otherwise=FIRST)
    values = {
        f"{name}.{key}": [units.plain(it)]
        for name, chosen in whole.scenarios.items()
        for key, it in chosen.items()
    }
    return {
        "dataset": [whole.dataset],
        "model": [whole.model],
        "scenarios": list(whole.scenarios),
        **values,
    }


def preprocess_field(preset: str) -> dict[str, Any]:
    """What pixels become, where a person says it; empty leaves it to their files of weights."""
    typed = state.text(
        "preprocess",
        "recipe.preprocess",
        help=HELP["preprocess"],
        placeholder="from the weights file, else mucore",
    ).strip()
    if not typed:
        return {}
    made = parts.checked(lambda: make_recipe(preset, {"preprocess": typed}), None)
    return {} if made is None else {"preprocess": made.preprocess}


def recipe_form(preset: str) -> dict[str, Any]:
    """A field for each field of the recipe but how pixels are preprocessed; those that differ from
    the preset, which are marked.
    """
    base = make_recipe(preset)
    changes: dict[str, Any] = {}
    fields = [each for each in Recipe.model_fields.items() if each[0] != "preprocess"]
    for start in range(0, len(fields), 3):
        for column, (name, info) in zip(st.columns(3), fields[start : start + 3], strict=False):
            value, told = getattr(base, name), HELP.get(name)
            with column:
                typed: Any
                if options := [
                    str(option)
                    for option in get_args(info.annotation)
                    if get_origin(info.annotation) is Literal
                ]:
                    typed = state.select(
                        field_label(name), f"recipe.{name}", options, default=value, help=told
                    )
                elif isinstance(value, bool):
                    typed = state.toggle(
                        field_label(name), f"recipe.{name}", default=value, help=told
                    )
                else:
                    typed = state.text(
                        field_label(name), f"recipe.{name}", default=units.plain(value), help=told
                    )
                if typed == value or typed == units.plain(value):
                    continue
                forms.mark_changed("preset", value)
                try:
                    made = getattr(make_recipe(preset, {name: typed}), name)
                except BadValue as failure:
                    parts.tell(str(failure))
                else:
                    changes |= {name: made} if made != value else {}
    return changes


def field_label(name: str) -> str:
    return name.replace("_", " ").replace("lr", "learning rate")
