"""Launch: data set, model and recipe, or a paper's whole setting."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

import streamlit as st

from dashboard import state, words
from dashboard.launching import parts, uploads
from mucore import catalog, given
from mucore.catalog.cards import PresetCard
from mucore.errors import BadValue
from mucore.spec import Recipe, make_recipe

FIRST = {"dataset": "fashion-mnist-10k", "model": "resnet9-small"}  # what works at once on any machine


def choose_data() -> dict[str, Any]:
    """The fields dataset, model, preset, recipe and original of a `Grid`."""
    st.subheader("Data, model and recipe", anchor=False)
    cards = {card.id: card for card in catalog.datasets()}
    models, presets = {card.id: card for card in catalog.models()}, {card.id: card for card in catalog.presets()}
    columns = st.columns([4, 3, 3])
    with columns[0]:
        dataset = state.select("Data set", "dataset", list(cards), default=FIRST["dataset"], format_func=lambda name: cards[name].title)
    with columns[1]:
        model = state.select("Model", "model", list(models), default=FIRST["model"], format_func=lambda name: models[name].title)
    with columns[2]:
        preset = state.select("Preset", "preset", list(presets), default="standard", format_func=lambda name: presets[name].title)
    card = cards[dataset]
    st.caption(" ".join([sentence(presets[preset].meaning), sentence(card.where) if not card.embedded else "", f"Source: {card.source}"]))
    if presets[preset].open_points:
        with st.expander("What the paper leaves open"):
            st.markdown(presets[preset].open_points)
    if presets[preset].dataset and not has_setting(presets[preset]):
        names = ", ".join(catalog.scenario(name).title.lower() for name in presets[preset].scenarios)
        st.button(
            f"Take the paper's whole setting: {cards[presets[preset].dataset].title}, {models[presets[preset].model].title}, {names}",
            key="take_setting",
            on_click=take_setting,
            args=(presets[preset],),
        )
    if card.takes_path:
        path = state.text("File or folder", "path", help=f"A path on this machine; it becomes {dataset}:PATH. {card.where}")
        if dataset == "npz":
            uploads.arrays_field("path")
        if not path.strip():
            parts.tell(f"{card.title} needs the path of your data.")
        dataset = f"{dataset}:{path.strip()}"
    with st.expander("Change the recipe"):
        changes = recipe_form(preset)
    with st.expander("Start from weights of your own", expanded=bool(state.param("original"))):
        original = state.text(
            "Weights of the original",
            "original",
            help="A path on the machine of the program. The original is then not trained; Retrain is, by the recipe.",
        ).strip()
        uploads.weights_field("original")
        if original:
            parts.checked(lambda: given.file_hash(original, what="An original that was trained elsewhere"), "")
    return {"dataset": dataset, "model": model, "preset": preset, "recipe": changes, "original": original}


def setting(preset: PresetCard) -> dict[str, str]:
    """What the fields of this page say when data set, model and the scenarios' parameters are those of a paper's preset."""
    values = {f"{scenario}.{name}": words.plain(it) for scenario, chosen in preset.scenarios.items() for name, it in chosen.items()}
    return {"dataset": preset.dataset, "model": preset.model, **values}


def has_setting(preset: PresetCard) -> bool:
    defaults = {f"{card.id}.{each.name}": words.plain(each.default) for card in catalog.scenarios() for each in card.parameters}
    chosen = all(state.param(name, {**FIRST, **defaults}[name]) == value for name, value in setting(preset).items())
    return chosen and state.params("scenarios") == list(preset.scenarios)


def take_setting(preset: PresetCard) -> None:
    for name, value in setting(preset).items():
        state.set_param(name, value)
    state.set_param("scenarios", list(preset.scenarios))


def recipe_form(preset: str) -> dict[str, Any]:
    base = make_recipe(preset)
    changes: dict[str, Any] = {}
    fields = list(Recipe.model_fields.items())
    for start in range(0, len(fields), 3):
        for column, (name, info) in zip(st.columns(3), fields[start : start + 3], strict=False):
            value = getattr(base, name)
            with column:
                typed: Any
                if options := [str(option) for option in get_args(info.annotation) if get_origin(info.annotation) is Literal]:
                    typed = state.select(name.replace("_", " "), f"recipe.{name}", options, default=value)
                elif isinstance(value, bool):
                    typed = state.toggle(name.replace("_", " "), f"recipe.{name}", default=value)
                else:
                    typed = state.text(name.replace("_", " "), f"recipe.{name}", default=words.plain(value))
                if typed == value or typed == words.plain(value):
                    continue
                try:
                    make_recipe(preset, {name: typed})
                    changes[name] = typed
                except BadValue as failure:
                    parts.tell(str(failure))
    return make_recipe(preset, changes).model_dump(include=set(changes))


def sentence(text: str) -> str:
    return text if not text or text.endswith(".") else f"{text}."
