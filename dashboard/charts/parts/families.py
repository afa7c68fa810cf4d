"""Methods by family: which have marks in a figure, and what the legend calls them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

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


def title(family: str) -> str:
    return catalog.FAMILIES.get(family, "Other")
