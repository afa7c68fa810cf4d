"""Launch: what results depend on: noise on gradients, which layers may change, and sweeps of
parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

import streamlit as st

from dashboard import state
from dashboard.sections.launch.dataset import Basis
from dashboard.text import labels, units
from dashboard.widgets import fields, forms
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape
from mucore import catalog
from mucore.catalog.cards import MethodCard, Parameter
from mucore.errors import BadValue
from mucore.runner.plan import MOST_RUNS
from mucore.spec import check, method_parameters, refuse_scope

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
        st.caption(
            "What does a result depend on? Every method runs with each combination; Original and "
            "Retrain stay as they are. The page Representation shows the results under "
            "Sensitivity and Last layer."
        )
        left, right = st.columns(2)
        with left:
            noise = noise_field()
        with right:
            scopes = scope_field()
        link("glossary", "What these words mean", icon=":material/menu_book:", kind="setting")
        choices = choose_sweeps(methods, basis, scenarios)
        if "classifier" in scopes:
            with right:
                say_confined(choices, basis, scenarios)
        return choices, {"noise": noise, "scopes": scopes}


def noise_field() -> list[float]:
    help_text = f"{term_help('noise')} From 0 to 100; several with commas: 0,0.001,0.01."
    typed = state.text("Noise on gradients, one or several", "noise", default="0", help=help_text)
    return fields.checked(
        lambda: fields.parse_values(NOISE, typed, "Sensitivity"),
        [NOISE.default],
        "Write numbers such as 0,0.001,0.01.",
    )


def scope_field() -> list[str]:
    scopes = state.multiselect(
        "What methods may change",
        "scopes",
        list(SCOPES),
        default=["all"],
        format_func=SCOPES.__getitem__,
        pills=True,
        help=term_help("scope"),
    )
    if not scopes:
        fields.tell(
            "Methods need something to change. Choose every layer, the classifier alone, or both."
        )
    return scopes or ["all"]


def say_confined(
    methods: Sequence[Mapping[str, Any]], basis: Basis, scenarios: Sequence[str]
) -> None:
    """Name the methods that a plan leaves out on the classifier, which gives their reasons, and
    those of which that is not known.
    """
    scenario = scenarios[0] if len(scenarios) == 1 else None
    left_out, unknown = {}, {}
    for choice in methods:
        card = catalog.method(str(choice["id"]))
        changed = choice.get("parameters", {})
        values = method_parameters(
            card,
            basis.recipe,
            changed,
            preset=choice["preset"],
            scenario=scenario,
            paper=basis.preset,
        )
        try:
            refuse_scope(card, values, "classifier")
        except BadValue:
            left_out[labels.method_names(card.id)[0]] = None
        if card.family == "own" and not card.not_confinable:
            unknown[labels.method_names(card.id)[0]] = None
    if left_out:
        st.caption(
            escape(
                f"Left out on the classifier alone: {', '.join(left_out)}. The reasons stand "
                "under “What this comes to”."
            )
        )
    if unknown:
        st.caption(
            escape(
                f"Your own {', '.join(unknown)} fails on the classifier if it changes another "
                "layer."
            )
        )


def term_help(name: str) -> str:
    """What the glossary says of a word."""
    card = catalog.term(name)
    return f"**{card.title}.** {card.meaning} Source: {card.source}."


def choose_sweeps(
    methods: Sequence[Mapping[str, Any]], basis: Basis, scenarios: Sequence[str]
) -> list[Mapping[str, Any]]:
    """The methods, those of which something is swept once for each combination of its values."""
    choices = {str(choice["id"]): choice for choice in methods}
    cards = [catalog.method(name) for name in choices]
    known = {
        f"{card.id}.{each.name}": (card, each)
        for card in cards
        for each in card.parameters
        if each.kind != "file"
    }
    chosen = state.multiselect(
        "Parameters to sweep",
        "sweep",
        list(known),
        format_func=lambda name: sweep_title(*known[name]),
        placeholder="Such as a learning rate of a chosen method",
        help=term_help("sweep"),
    )
    values: dict[str, dict[str, list[Any]]] = {name: {} for name in choices}
    columns = [column for _ in chosen[:: fields.FIELDS] for column in st.columns(fields.FIELDS)]
    for column, name in zip(columns, chosen, strict=False):
        card, parameter = known[name]
        choice = choices[card.id]
        scenario = scenarios[0] if len(scenarios) == 1 else None
        start = method_parameters(
            card, basis.recipe, {}, preset=choice["preset"], scenario=scenario, paper=basis.preset
        )
        with column:
            found = sweep_field(card, parameter, start[parameter.name])
            if parameter.name in choice.get("parameters", {}):
                fields.tell(
                    f"{sweep_title(card, parameter)} is swept and changed above. Name all its "
                    "values here, and reset the field above."
                )
            elif found:
                values[card.id][parameter.name] = found
    runs = sum(prod(map(len, each.values())) for each in values.values())
    if runs > MOST_RUNS:
        fields.tell(
            f"These sweeps have {units.count(runs, 'combination')}, but at most "
            f"{units.count(MOST_RUNS, 'run')} fit. Choose fewer values."
        )
        return list(methods)
    return [
        {
            **choice,
            "parameters": {
                **choice.get("parameters", {}),
                **dict(zip(values[name], each, strict=True)),
            },
        }
        for name, choice in choices.items()
        for each in product(*values[name].values())
    ]


def sweep_title(card: MethodCard, parameter: Parameter) -> str:
    return f"{labels.method_names(card.id)[0]}: {parameter.name.replace('_', ' ')}"


def sweep_field(card: MethodCard, parameter: Parameter, start: Any) -> list[Any]:
    """The values of one parameter, at first the one that it has anyway; empty, with the sentence
    told, where they cannot be read.
    """
    name, title = f"sweep.{card.id}.{parameter.name}", sweep_title(card, parameter)
    options = ("true", "false") if parameter.kind == "bool" else parameter.choices
    if options:
        options = (*options, "none") if parameter.optional else options
        ticked = state.multiselect(
            title, name, options, default=[units.plain(start)], help=parameter.help
        )
        if not ticked:
            fields.tell(
                f"{title} needs a value to run with. Choose one, or leave it out of the sweep."
            )
        return [check(parameter, each, owner=card.title) for each in ticked]
    between = (
        "semicolons, because a value has commas: 1,2; 3,4"
        if parameter.kind in fields.LISTS
        else "commas"
    )
    typed = state.text(
        title,
        name,
        default=units.plain(start),
        help=f"{forms.range_help(parameter)} Several with {between}.",
    )
    return fields.checked(
        lambda: fields.parse_values(parameter, typed, card.title),
        [],
        f"Several values have {between.partition(',')[0]} between them.",
    )
