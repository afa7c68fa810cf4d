"""What pixels become before a network sees them: the names that a recipe has for it, and the mean
and deviation that each stands for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mucore.errors import BadValue
from mucore.numbers import finite

USUAL: Final = "mucore"  # the training pixels' own mean and deviation
NAMED: Final = {"0..1": "0/1", "-1..1": "0.5/0.5"}  # mean and std of pixels in 0..1

Moments = tuple[tuple[float, ...], tuple[float, ...]]  # mean and std, one number a channel


def canonical(value: Any) -> str:
    """The one name of a choice: "mucore", "0..1", "-1..1", or numbers, also a pair of lists, as
    `written` has them. Raises `ValueError`, of which a recipe's validation makes a sentence.
    """
    if isinstance(value, tuple | list):
        parts = (part if hasattr(part, "__iter__") else [part] for part in value)
        value = "/".join(",".join(map(str, part)) for part in parts)
    text, named = str(value).strip(), f"{USUAL}, {', '.join(NAMED)}"
    try:
        return text if text == USUAL else written(*_numbers(text))
    except (BadValue, ValueError):
        raise ValueError(f"must be {named} or MEAN/STD of pixels in 0..1") from None


def written(mean: Sequence[float], std: Sequence[float]) -> str:
    """Mean and std a channel, of pixels in 0..1, as a recipe names them; one number where all
    channels have it, and by name where there is one.
    """
    parts = (each[:1] if len({*each}) == 1 else each for each in (mean, std))
    text = "/".join(",".join(f"{number:.9g}" for number in part) for part in parts)
    return {numbers: name for name, numbers in NAMED.items()}.get(text, text)


def moments(name: str, usual: Moments) -> Moments:
    """Mean and std a channel of a data set whose own are `usual`. Raises `BadValue` where numbers
    are given for another count of channels.
    """
    if name == USUAL:
        return usual
    channels = len(usual[0])
    mean, std = (each * channels if len(each) == 1 else each for each in _numbers(name))
    if {len(mean), len(std)} != {channels}:
        raise BadValue(f"preprocess needs {channels} means and deviations a channel, not {name}.")
    return mean, std


def _numbers(name: str) -> Moments:
    mean, std = (
        tuple(finite(each, "preprocess") for each in part.split(","))
        for part in NAMED.get(name, name).split("/")
    )
    if min(std) <= 0:
        raise ValueError("a deviation is above 0")
    return mean, std
