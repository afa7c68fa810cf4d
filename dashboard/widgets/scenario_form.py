"""The fields of one scenario: which classes, how many samples, or which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import data, state
from dashboard.text import units
from dashboard.widgets import fields, forms, saved_sets
from dashboard.widgets.links import link
from mucore.catalog.cards import Parameter, ScenarioCard
from mucore.forget_sets import identity, lists, persons, saved
from mucore.forget_sets.lists import Listed
from mucore.runs import check

SEVERAL = "budget, one or several"
CURVE = "0.02,0.05,0.1,0.2,0.5"
CLASSES = ("class_id", "class_ids", "target")  # parameters that name classes


def scenario_form(
    card: ScenarioCard, names: Sequence[str], dataset: str, preset: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The fields of one scenario; `names` are the class names where the data set's card knows them.
    Lists of samples are of `dataset`. Fields open on the values of `preset`, else on the card's.
    """
    values: dict[str, Any] = {}
    budgets: list[Any] = []
    rows = card.parameters[:: fields.FIELDS]
    across = min(len(card.parameters), fields.FIELDS)
    columns = [column for _ in rows for column in st.columns(across)]
    for column, parameter in zip(columns, card.parameters, strict=False):
        start = preset.get(parameter.name, parameter.default)
        with column:
            if parameter.kind == "budget":
                budgets = budget_field(parameter, card, start)
                _mark(budgets, [start], parameter.name in preset)
            elif parameter.kind == "ids":
                values[parameter.name] = ids_field(parameter, card, dataset)
            elif parameter.name == persons.PARAMETER:
                values[parameter.name] = persons_field(parameter, card, dataset, start)
                _mark(values[parameter.name], start, parameter.name in preset)
            elif names and parameter.name in CLASSES:
                values[parameter.name] = class_field(parameter, card.id, names, start)
                _mark(values[parameter.name], start, parameter.name in preset)
            else:
                form = forms.parameter_form(
                    [parameter], preset, card.id, columns=1, owner=card.title, preset=preset
                )
                fields.extend(form.problems)
                values |= form.values
            if values.get(parameter.name) == []:
                fields.tell(
                    f"{card.title} needs "
                    + (
                        "the ids of the samples, such as 3,17,256."
                        if parameter.kind == "ids"
                        else "at least one class."
                    )
                )
    if any(parameter.kind == "budget" for parameter in card.parameters):
        return [{"id": card.id, "parameters": {**values, "budget": value}} for value in budgets]
    return [{"id": card.id, "parameters": values}]


def _mark(value: Any, start: Any, preset: bool) -> None:
    """Say under a field that its value is the preset's, or what it was before a person changed
    it.
    """
    if (list(value) if isinstance(value, Sequence) else value) != (
        list(start) if isinstance(start, Sequence) else start
    ):
        forms.mark_changed("preset" if preset else "default", start)
    elif preset:
        forms.mark_preset()


def budget_field(budget: Parameter, card: ScenarioCard, start: Any) -> list[Any]:
    """One or several budgets; empty, with the sentence told, where they cannot be read."""
    rule = (
        "A share such as 0.2 or 20%, or a whole number of samples; several with commas: 0.1, "
        "0.2, 0.5."
    )
    name = f"{card.id}.{budget.name}"
    typed = state.text(SEVERAL, name, default=units.plain(start), help=f"{budget.help} {rule}")
    st.button(
        "2, 5, 10, 20, 50 %",
        key=f"curve:{card.id}",
        type="tertiary",
        on_click=state.set_param,
        args=(name, CURVE),
        help="The budgets of a curve",
    )
    return fields.checked(lambda: fields.parse_values(budget, typed, card.title), [])


def class_field(
    parameter: Parameter, owner: str, names: Sequence[str], start: Any
) -> int | list[int]:
    """A class, or several, by name."""
    options = [str(number) for number in range(len(names))]
    name, title = f"{owner}.{parameter.name}", lambda number: f"{number} · {names[int(number)]}"
    if parameter.kind == "int":
        label = "class" if parameter.name == "class_id" else parameter.name
        return int(
            state.select(
                label, name, options, default=str(start), format_func=title, help=parameter.help
            )
        )
    first = [str(number) for number in start]
    return [
        int(number)
        for number in state.multiselect(
            "classes", name, options, default=first, format_func=title, help=parameter.help
        )
    ]


def persons_field(parameter: Parameter, card: ScenarioCard, dataset: str, start: Any) -> Any:
    """Persons by number, or by the names that a folder's table has; None where they are drawn."""
    ways = "By name where a folder's table has names: anna, ben. Write none to have them drawn."
    name, default = f"{card.id}.{parameter.name}", units.plain(start)
    typed = state.text("persons", name, default=default, help=f"{parameter.help} {ways}")
    return fields.checked(
        lambda: check(parameter, persons.numbered(typed, dataset), owner=card.title), None
    )


def ids_field(parameter: Parameter, card: ScenarioCard, dataset: str) -> list[int]:
    """Sample ids: typed, or those of a saved forget set of the data set."""
    name = f"{card.id}.{parameter.name}"
    typed = state.text(
        "sample ids",
        name,
        help=f"{parameter.help} Or set:NAME for a saved forget set.",
        placeholder="3,17,256-260",
    )
    saved_field(name, dataset)
    if not typed.strip():
        return []
    return fields.checked(lambda: ids_of(typed, dataset), [0])


def saved_field(name: str, dataset: str) -> None:
    """The saved forget sets that mean samples of this data set, and the way to the page that makes
    them.
    """
    if fitting := saved_sets.sets_of(dataset):
        titles = {
            saved.SAVED + each.name: f"{each.name} ({units.count(len(each.ids), 'sample')})"
            for each in fitting
        }
        state.select_into("or a saved set", name, titles, placeholder="Choose a set")
    kind, _, path = dataset.partition(":")
    link(
        "forget_sets",
        "Build a set, or read a list",
        icon=":material/checklist:",
        dataset=kind,
        **({"path": path} if path else {}),
    )


def ids_of(text: str, dataset: str) -> list[int]:
    """The samples that a list, `set:NAME` or `kept:DIGITS` stands for. Raises a `MucoreError` where
    they are none of this data set.
    """
    if not saved.is_reference(text):
        listed = lists.read_list(text.encode(), name="the list")
        return identity.rows_of(listed, dataset)
    found = saved.resolve(data.own_store().home, text)
    rows = identity.rows_of(Listed(saved=found), dataset)
    st.caption(f"{units.count(len(rows), 'sample')}, hash {found.hash}.")
    return rows
