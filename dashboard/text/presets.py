"""Whose settings a run has: those of a preset as they are, or others that somebody chose. No
Streamlit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from mucore import catalog
from mucore.errors import UnknownName
from mucore.runs import Recipe, complete, method_parameters
from mucore.statistics.runs import distinct

OWN = "own"
# stored beside the parameters of a method where they are not the usual ones
EXPERIMENTS = ("scope", "gradient_noise")


def presets(runs: pd.DataFrame) -> pd.Series:
    """Of each run (rows of `data.summaries`): "authors", "tuned", "tuned_elsewhere" or "own"."""
    columns = ("method", "method_preset", "recipe", "scenario", "parameters")
    which, settings = distinct(runs, columns)
    found = [preset_of(*map(str, each)) for each in settings.itertuples(index=False, name=None)]
    return pd.Series(np.array(found, dtype=object)[which].tolist(), index=runs.index)


@lru_cache(maxsize=20_000)
def preset_of(method: str, preset: str, recipe: str, scenario: str, parameters: str) -> str:
    """The preset that a run is named after, or "own" where it has another value than the authors'
    on this recipe, noise on its gradients, or the classifier alone to change. Values of a tuned run
    are what its search found, which may have changed since.
    """
    if not is_plain(parameters):
        return OWN
    given: dict[str, Any] = json.loads(parameters)
    if preset != "authors":
        return preset
    try:
        card = catalog.method(method)
    except UnknownName:
        return preset
    usual = _as_stored(method_parameters(card, _recipe(recipe), {}, scenario=scenario))
    effective = _as_stored(complete(card, given))
    return (
        preset if all(usual.get(name, value) == value for name, value in effective.items()) else OWN
    )


def is_plain(parameters: str) -> bool:
    """Whether stored parameters are of a run on all layers and without noise: a method without an
    experiment on it.
    """
    return json.loads(parameters).keys().isdisjoint(EXPERIMENTS)


def has_values(method: str, parameters: str, values: Mapping[str, Any]) -> bool:
    """Whether a method's stored parameters have these values, on all layers and without noise."""
    if not is_plain(parameters):
        return False
    given: dict[str, Any] = json.loads(parameters)
    with suppress(UnknownName):  # a user's own method that is not there now
        given = _as_stored(complete(catalog.method(method), given))
    return all(given.get(name) == value for name, value in _as_stored(dict(values)).items())


def _as_stored(parameters: dict[str, Any]) -> dict[str, Any]:
    """With lists where the cards have tuples."""
    return json.loads(json.dumps(parameters))


@lru_cache(maxsize=256)
def _recipe(text: str) -> Recipe:
    return Recipe.model_validate_json(text)
