"""Methods by family: which have marks in a figure, and what the legend calls them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, TypeVar

from dashboard import theme
from mucore import catalog

UNKNOWN = "unknown"  # the family of a method that the catalogue does not have


class OfFamily(Protocol):
    @property
    def family(self) -> str: ...


Mark = TypeVar("Mark", bound=OfFamily)


def groups(marks: Iterable[Mark], *, unknown: bool = False) -> dict[str, list[Mark]]:
    """The marks of each family that has one, in the order of the families; those of no family of
    the catalogue come last where `unknown` asks for them, and are left out otherwise.
    """
    found: dict[str, list[Mark]] = {}
    for mark in marks:
        found.setdefault(mark.family, []).append(mark)
    order = [*catalog.FAMILIES, *([UNKNOWN] if unknown else [])]
    return {family: found[family] for family in order if family in found}


def hollow(family: str) -> bool:
    """Whether its marks are always drawn hollow and its lines dotted: a baseline that cheats is no
    method.
    """
    return theme.family_style(family).symbol.endswith("-open") and family in catalog.FAMILIES


def bar(family: str, look: theme.Ground, dark: bool, ringed: Sequence[bool]) -> dict[str, Any]:
    """Plotly's marker of the bars of a family: filled with its colour, or hollow; the `ringed` ones
    have a frame.
    """
    color, empty = theme.family_style(family).color(dark), hollow(family)
    return {
        "color": "rgba(0,0,0,0)" if empty else color,
        "line": {
            "color": [look.text if ring else color for ring in ringed],
            "width": [2 if ring else 1.5 if empty else 0 for ring in ringed],
        },
    }


def dash(family: str) -> str:
    """Plotly's dash of a method's line."""
    return theme.family_style(family).dash if hollow(family) else "solid"


def title(family: str) -> str:
    return catalog.FAMILIES.get(family, "Other")
