"""Persons by what people call them: of a folder the names in its table, of other data numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mucore.errors import BadValue, UnknownName
from mucore.forget_sets import identity
from mucore.numbers import whole_numbers
from mucore.userfiles import datasets

if TYPE_CHECKING:
    from mucore.datasets import Splits

PARAMETER: Final = "persons"  # of a scenario
MOST: Final = 100_000


def numbered(value: Any, dataset: str) -> Any:
    """The numbers of persons that a text (with commas) or a list names, where a table of the data
    names persons; else the value, such as "none". Raises `UnknownName`.
    """
    names = datasets.person_names(dataset)
    if not names or not isinstance(value, str | list | tuple) or value in ("", "none"):
        return value
    wanted = [each.strip() for each in value.split(",")] if isinstance(value, str) else [*value]
    number = {name: place for place, name in enumerate(names)}
    if unknown := [each for each in wanted if isinstance(each, str) and each not in number]:
        raise UnknownName("person", unknown[0], names)
    return [number[each] if isinstance(each, str) else each for each in wanted]


def rows(text: str, dataset: str) -> list[int]:
    """Every sample of the persons that a text names, in any split, as `identity.numbers` has it.
    Raises `UnknownName`, `BadValue`.
    """
    from mucore.datasets import load

    splits = load(dataset)
    shown = by_id(splits)
    if shown is None:
        raise BadValue(f"{dataset} does not say who is on its images. Name samples with --ids.")
    named = numbered(text, dataset)
    wanted = whole_numbers(named, "--persons", MOST) if isinstance(named, str) else named
    if missing := {*wanted} - {*shown.tolist()}:
        raise BadValue(
            f"{dataset} shows persons {shown.min()} to {shown.max()}, but nobody is {min(missing)}."
        )
    return identity.numbers(splits)[np.isin(shown, wanted)].tolist()


def by_id(splits: Splits) -> np.ndarray | None:
    """Who each sample shows, (n,) by internal id; None where a split does not say it."""
    shown = [part.identities for part in identity.parts(splits)]
    known = [np.asarray(each) for each in shown if each is not None]
    return np.concatenate(known) if len(known) == len(shown) else None


def called(dataset: str, numbers: Sequence[int]) -> list[str]:
    """What persons are called, by their numbers."""
    names = datasets.person_names(dataset)
    return [names[each] if names else str(each) for each in numbers]
