"""What tells the runs of one method apart: short names for its sets of settings, the same on every
page and on the command line.

Settings are those of `runs.settings`: the method's parameters, and noise and scope where they are
not as usual.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mucore import catalog
from mucore.errors import UnknownName

USUAL: Mapping[str, Any] = {"gradient_noise": 0, "scope": "all"}  # of a run that does not say


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A method's settings, the preset that they came from, and what they were run on: names are
    told apart within one `place`.
    """

    settings: Mapping[str, Any]
    preset: str = ""
    place: Hashable = None


def names(method: str, variants: Sequence[Variant]) -> list[str]:
    """A short name for each variant of one method: its preset where that is enough, else the
    settings that are not the same in all.

    "" for all where no place has two. Variants of several places share a name if they differ in
    nothing that varies within a place: epochs that shrink with a recipe, or the authors' values for
    a scenario, do not make another variant.
    """
    usual = _usual(method)
    whole = [usual | dict(each.settings) for each in variants]
    # equal settings in one place are one variant, whatever presets they came from
    presets: dict[tuple[Hashable, str], str] = {}
    found = [
        (each.place, values_text(values)) for each, values in zip(variants, whole, strict=True)
    ]
    for place, each in zip(found, variants, strict=True):
        presets[place] = min(presets.get(place, each.preset), each.preset)
    if len(presets) == len({place for place, _ in presets}):
        return [""] * len(variants)
    of_preset: dict[str, dict[Hashable, list[Mapping[str, Any]]]] = {}
    for place, values in zip(found, whole, strict=True):
        of_preset.setdefault(presets[place], {}).setdefault(place[0], []).append(values)
    varying = {
        preset: dict.fromkeys(n for each in places.values() for n in _varying(each))
        for preset, places in of_preset.items()
    }
    made = []
    for place, values in zip(found, whole, strict=True):
        preset = presets[place]
        text = values_text({name: values.get(name, "default") for name in varying[preset]})
        whose = preset.replace("_", " ") if len(of_preset) > 1 else ""
        made.append(", ".join(part for part in (whose, text) if part))
    return made


def differing(method: str, settings: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Of each set of settings of a method those that are not the same in all; one that is left out
    has its usual value, or "default".
    """
    usual = _usual(method)
    whole = [usual | dict(each) for each in settings]
    return [{name: each.get(name, "default") for name in _varying(whole)} for each in whole]


def values_text(values: Mapping[str, Any]) -> str:
    """Settings as a line, "lr 0.01, scope classifier"."""
    return ", ".join(f"{name.replace('_', ' ')} {_text(value)}" for name, value in values.items())


def _varying(whole: Sequence[Mapping[str, Any]]) -> list[str]:
    every = dict.fromkeys([*(name for each in whole for name in each if name not in USUAL), *USUAL])
    return [
        name
        for name in every
        if any(each.get(name, "default") != whole[0].get(name, "default") for each in whole)
    ]


def _usual(method: str) -> dict[str, Any]:
    """What settings that a run does not name have: noise and scope, and parameters that came after
    results existed.
    """
    try:
        omitted = {
            p.name: list(p.default) if isinstance(p.default, tuple) else p.default
            for p in catalog.method(method).parameters
            if p.omitted_when_default
        }
    except UnknownName:  # a method that was somebody's own
        omitted = {}
    return omitted | dict(USUAL)


def _text(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        # short where nothing is lost
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return " ".join(map(_text, value)) if isinstance(value, list | tuple) else str(value)
