"""Launch: data set, model and recipe, or a paper's whole setting.

The preset comes first: fields that nobody touched follow it. What a person changed stays and is
marked, with a way back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

import streamlit as st

from dashboard import state
from dashboard.text import units
from dashboard.widgets import fields as parts
from dashboard.widgets import forms, own_files, uploads
from dashboard.widgets.markdown import escape
from mucore import catalog
from mucore.catalog.cards import DatasetCard, PresetCard
from mucore.errors import BadValue
from mucore.spec import FIRST, Recipe, fill, make_recipe

STANDARD = "standard"  # the preset that the page opens on
CHANGED = ":orange-badge[Changed] "


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
    st.caption(escape(" ".join(filter(None, [sentence(presets[preset].meaning), *about(card)]))))
    place = st.container()
    if presets[preset].open_points:
        with st.expander("What the paper leaves open"):
            st.markdown(presets[preset].open_points)
    if card.takes_path:
        dataset = path_field(card)
    # what is wrong with the files stands under their field, but depends on the recipe
    below = st.container()
    with st.expander("Change the recipe"):
        changes = recipe_form(preset)
    say_recipe(presets[preset], changes)
    facts = None
    with below:
        if not dataset.endswith(":"):
            facts = parts.checked(
                lambda: own_files.facts_of(dataset, make_recipe(preset, changes)), None
            )
        if facts is not None and card.takes_path:
            st.caption(escape(f"{uploads.title_of(dataset)}: {own_files.facts_text(facts)}"))
    with st.expander("Start from weights of your own", expanded=bool(state.param("original"))):
        original = state.text(
            "Weights of the original",
            "original",
            help="A path on the machine that runs the program. The original is then not trained; "
            "Retrain is, by the recipe.",
        ).strip()
        uploads.weights_field("original")
        if original:
            parts.checked(lambda: own_files.check_weights(original, model, facts), None)
    return Basis(dataset, model, preset, changes, original, facts), place


def take_settings(presets: list[str]) -> None:
    """Of a paper's preset that was just chosen also take the settings of methods, which are the
    authors' where it says nothing.
    """
    if catalog.preset(state.upcoming("preset", presets, STANDARD)).dataset:
        state.forget(["settings"])


def about(card: DatasetCard) -> list[str]:
    """Where a data set comes from, and where its files belong."""
    if card.takes_path:
        return []
    return [sentence(card.where) if not card.embedded else "", f"Data: {sentence(card.source)}"]


def path_field(card: DatasetCard) -> str:
    """A reader's own data as a grid names them, "npz:PATH"; without a path, with the sentence told,
    where none is given.
    """
    path = state.text(
        "File" if card.id == "npz" else "Folder",
        "path",
        help=f"A path on the machine that runs the program. {card.where}",
    )
    if card.id == "npz":
        uploads.arrays_field("path")
    if not path.strip():
        parts.tell(uploads.missing(card))
    return f"{card.id}:{path.strip()}"


# --- what differs from the preset
# --------------------------------------------------------------------------------------------------


def say_setting(place: st.delta_generator.DeltaGenerator, preset: PresetCard) -> None:
    """What of data set, model and scenarios a person chose otherwise than a paper's preset, and the
    way back; nothing where all is its.
    """
    changed = {
        name: values
        for name, values in setting(preset).items()
        if state.params(name) and state.params(name) != values
    }
    if not preset.dataset or not changed:
        return
    with place, st.container(horizontal=True, vertical_alignment="center"):
        found = [
            (
                f"{label(name)} {value_text(name, state.params(name))} (preset: "
                f"{value_text(name, was)})"
            )
            for name, was in changed.items()
        ]
        st.markdown(
            CHANGED + escape(f"Differs from the paper's setting: {'; '.join(found)}."),
            width="stretch",
        )
        st.button(
            "Take the paper's whole setting",
            key="take_setting",
            icon=":material/undo:",
            on_click=state.forget,
            args=(list(setting(preset)),),
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


def label(name: str) -> str:
    owner, _, key = name.rpartition(".")
    if not owner:
        return {"dataset": "data set"}.get(name, name)
    return f"{key.removesuffix('_id').replace('_', ' ')} of “{catalog.scenario(owner).title}”"


def value_text(name: str, values: list[str]) -> str:
    """Values of the address in words: titles for ids."""
    find = {"dataset": catalog.dataset, "model": catalog.model, "scenarios": catalog.scenario}.get(
        name
    )
    return (
        ", ".join(find(value).title for value in values if value) or "none"
        if find
        else ", ".join(values)
    )


def say_recipe(preset: PresetCard, changes: dict[str, Any]) -> None:
    """In which fields the recipe is not the preset's, and the way back."""
    if not changes:
        return
    base = make_recipe(preset.id)
    found = [
        f"{field_label(name)} {units.plain(value)} (preset: {units.plain(getattr(base, name))})"
        for name, value in changes.items()
    ]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            CHANGED + escape(f"Recipe differs from the preset: {'; '.join(found)}."),
            width="stretch",
        )
        st.button(
            f"Back to {preset.title}",
            key="reset_recipe",
            icon=":material/undo:",
            on_click=state.forget,
            args=([f"recipe.{name}" for name in Recipe.model_fields],),
        )


# --- the recipe
# --------------------------------------------------------------------------------------------------


def recipe_form(preset: str) -> dict[str, Any]:
    """A field for each field of the recipe; those that differ from the preset, which are marked."""
    base = make_recipe(preset)
    changes: dict[str, Any] = {}
    fields = list(Recipe.model_fields.items())
    for start in range(0, len(fields), 3):
        for column, (name, info) in zip(st.columns(3), fields[start : start + 3], strict=False):
            value = getattr(base, name)
            with column:
                typed: Any
                if options := [
                    str(option)
                    for option in get_args(info.annotation)
                    if get_origin(info.annotation) is Literal
                ]:
                    typed = state.select(
                        field_label(name), f"recipe.{name}", options, default=value
                    )
                elif isinstance(value, bool):
                    typed = state.toggle(field_label(name), f"recipe.{name}", default=value)
                else:
                    typed = state.text(
                        field_label(name), f"recipe.{name}", default=units.plain(value)
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


def sentence(text: str) -> str:
    return text if not text or text.endswith(".") else f"{text}."
