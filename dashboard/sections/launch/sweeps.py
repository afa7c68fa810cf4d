"""Launch: what results depend on: noise on gradients, which layers may change, and sweeps of
parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import state
from dashboard.sections.launch.dataset import Basis
from dashboard.text import labels, units
from dashboard.widgets import fields, forms
from mucore import catalog
from mucore.catalog.cards import MethodCard, Parameter
from mucore.runs import method_parameters

SCOPES = {"all": "Every layer", "classifier": "The classifier alone"}
NOISE = Parameter(
    name="noise", kind="float", default=0.0, low=0, high=100, help=catalog.term("noise").meaning
)


def choose_sensitivity(
    methods: Sequence[Mapping[str, Any]], basis: Basis, scenarios: Sequence[str]
) -> tuple[list[Mapping[str, Any]], dict[str, Any]]:
    """The methods once for each value that is swept, and the noises and scopes that all of them run
    with.
    """
    if any(state.params(name) for name in ("noise", "scopes", "sweep")):
        # once open, it stays so while its fields go back to what they were
        state.set_ticket("sensitivity", True)
    with st.expander(
        "Sensitivity: noise, classifier alone, sweeps", expanded=bool(state.ticket("sensitivity"))
    ):
        left, right = st.columns(2)
        with left:
            typed = state.text(
                "Noise on gradients, one or several",
                "noise",
                default="0",
                help=f"{forms.range_help(NOISE)} Several with commas: 0,0.001,0.01.",
            )
            noise = fields.checked(
                lambda: fields.parse_values(NOISE, typed, "Sensitivity"),
                [NOISE.default],
                "Write numbers such as 0,0.001,0.01.",
            )
        with right:
            scopes = state.multiselect(
                "What methods may change",
                "scopes",
                list(SCOPES),
                default=["all"],
                format_func=SCOPES.__getitem__,
                pills=True,
                help=catalog.term("scope").meaning,
            )
            if not scopes:
                fields.tell("Choose every layer, the classifier alone, or both.")
        return choose_sweeps(methods, basis, scenarios), {
            "noise": noise,
            "scopes": scopes or ["all"],
        }


def choose_sweeps(
    methods: Sequence[Mapping[str, Any]], basis: Basis, scenarios: Sequence[str]
) -> list[Mapping[str, Any]]:
    """The methods, with a list of values for what is swept: a grid has all combinations."""
    choices = {str(choice["id"]): choice for choice in methods}
    known = {
        f"{card.id}.{each.name}": (card, each)
        for card in map(catalog.method, choices)
        for each in card.parameters
        if each.kind != "file"
    }
    chosen = state.multiselect(
        "Parameters to sweep",
        "sweep",
        list(known),
        format_func=lambda name: sweep_title(*known[name]),
        placeholder="Such as a learning rate of a chosen method",
        help=catalog.term("sweep").meaning,
    )
    scenario = scenarios[0] if len(scenarios) == 1 else None
    values: dict[str, dict[str, list[Any]]] = {name: {} for name in choices}
    columns = [column for _ in chosen[:: fields.FIELDS] for column in st.columns(fields.FIELDS)]
    for column, name in zip(columns, chosen, strict=False):
        card, parameter = known[name]
        preset = choices[card.id]["preset"]
        start = method_parameters(
            card, basis.recipe, {}, preset=preset, scenario=scenario, paper=basis.preset
        )
        with column:
            values[card.id][parameter.name] = sweep_field(card, parameter, start[parameter.name])
    return [
        {**choice, "parameters": {**choice.get("parameters", {}), **values[name]}}
        for name, choice in choices.items()
    ]


def sweep_title(card: MethodCard, parameter: Parameter) -> str:
    return f"{labels.method_names(card.id)[0]}: {parameter.name.replace('_', ' ')}"


def sweep_field(card: MethodCard, parameter: Parameter, start: Any) -> list[Any]:
    """The values of one parameter, at first the one that it has anyway, which it keeps where they
    cannot be read, with the sentence told.
    """
    between = "semicolons" if parameter.kind in fields.LISTS else "commas"
    typed = state.text(
        sweep_title(card, parameter),
        f"sweep.{card.id}.{parameter.name}",
        default=units.plain(start),
        help=f"{forms.range_help(parameter)} Several with {between}.",
    )
    return fields.checked(
        lambda: fields.parse_values(parameter, typed, card.title),
        [start],
        f"Several values have {between} between them.",
    )
