"""Forms from cards: one field a parameter, checked, and marked where a person changed it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from dashboard import state
from dashboard.text import units
from dashboard.widgets.markdown import escape
from dashboard.widgets.messages import problem
from mucore.catalog.cards import Parameter
from mucore.errors import MucoreError
from mucore.runs import check


@dataclass(frozen=True)
class Form:
    """What a reader typed: every checked value, those that differ from the start values, and what
    is wrong with the others.
    """

    values: dict[str, Any] = field(default_factory=dict)
    changed: dict[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


def mark_changed(origin: str, value: Any) -> None:
    """Under a field that a person changed: what it was, and whose value that is."""
    st.caption(f":orange-badge[Changed] {origin}: {escape(units.plain(value))}")


def mark_preset() -> None:
    """Under a field whose value the preset sets."""
    st.caption(":blue-badge[From the preset]")


def parameter_form(
    parameters: Sequence[Parameter],
    values: Mapping[str, Any],
    key: str,
    *,
    columns: int = 3,
    owner: str = "",
    origin: str = "default",
    preset: Collection[str] = (),
) -> Form:
    """One field a parameter, starting at `values`, bound to the URL parameters `<key>.<name>`; a
    bad value gets its sentence below it.

    The sentence opens with `owner`. Values that a person changed are marked with what they were,
    which is of `origin`, or for the names in `preset` of the preset.
    """
    checked: dict[str, Any] = {}
    changed: dict[str, Any] = {}
    problems: list[str] = []
    for start in range(0, len(parameters), columns):
        for column, parameter in zip(
            st.columns(columns), parameters[start : start + columns], strict=False
        ):
            with column:
                try:
                    value = _field(
                        parameter, values.get(parameter.name, parameter.default), key, owner or key
                    )
                except MucoreError as failure:
                    problem(str(failure))
                    problems.append(str(failure))
                    continue
                checked[parameter.name] = value
                start_value = values.get(parameter.name, parameter.default)
                if value != _json(start_value):
                    changed[parameter.name] = value
                    if parameter.kind != "file":
                        mark_changed("preset" if parameter.name in preset else origin, start_value)
                elif parameter.name in preset:
                    mark_preset()
    return Form(checked, changed, tuple(problems))


def _field(parameter: Parameter, start: Any, key: str, owner: str) -> Any:
    name = f"{key}.{parameter.name}"
    label = parameter.name.replace("_", " ") + (
        f" ({parameter.unit})" if parameter.unit not in ("", parameter.name) else ""
    )
    if parameter.kind == "choice":
        options = ("none", *parameter.choices) if parameter.optional else parameter.choices
        chosen = state.select(label, name, options, default=units.plain(start), help=parameter.help)
        return check(parameter, chosen, owner=owner) if parameter.optional else chosen
    if parameter.kind == "bool":
        return state.toggle(label, name, default=bool(start), help=parameter.help)
    typed = state.text(label, name, default=units.plain(start), help=range_help(parameter))
    value = check(parameter, typed, owner=owner)
    # the path, so that the file can be copied when the runs are launched
    return typed if parameter.kind == "file" else value


def range_help(parameter: Parameter) -> str:
    """What a parameter is, the range of its values, and whether it can be switched off."""
    parts = [parameter.help]
    if parameter.kind == "budget":
        parts.append("A share such as 0.2 or 20%, or a whole number of samples such as 200.")
    elif parameter.low is not None:
        parts.append(f"At least {parameter.low:g}.")
    if parameter.kind != "budget" and parameter.high is not None:
        parts.append(f"At most {parameter.high:g}.")
    if parameter.optional:
        parts.append("Write none to switch it off.")
    return " ".join(parts)


def _json(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
