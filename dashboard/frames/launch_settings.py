"""What Launch's address says of the settings that runs had. No Streamlit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd

from dashboard.text import units
from dashboard.text.presets import OWN, is_plain, presets
from mucore import catalog
from mucore.catalog import MethodCard
from mucore.spec import FILE_VERSION, Recipe, complete, method_parameters


def launch_settings(summaries: pd.DataFrame, paper: str) -> dict[str, str | list[str]]:
    """The parameters of Launch's address for the settings of these runs under the preset `paper`:
    none for the authors', that they are tuned, or the values that somebody chose.

    Launch takes one setting a method. Of a method that ran with several the tuned one stands for
    all, or else that of most runs; `one_of` names these methods, so that Launch can say so.
    """
    known = {card.id: card for card in catalog.methods() if card.family != "reference"}
    runs = summaries[summaries["method"].isin(known) & summaries["parameters"].map(is_plain)]
    runs = runs.assign(preset=presets(runs))
    runs["untuned"] = runs["preset"].isin([OWN, "authors"])
    runs["count"] = runs.groupby(["method", "parameters"])["recipe"].transform("size")
    kinds = runs.sort_values(
        ["untuned", "count"], ascending=[True, False], kind="stable"
    ).drop_duplicates(["method", "parameters"])
    query: dict[str, str | list[str]] = {}
    if OWN in set(kinds["preset"]):
        settings: dict[str, list[dict[str, str]]] = {}
        for line in kinds.to_dict("records"):
            changed = _changed(line, known[line["method"]], paper)
            mine = settings.setdefault(line["method"], [])
            mine += [changed] if changed not in mine else []
        several = {method for method, each in settings.items() if len(each) > 1}
        query["settings"] = "own"
        for each in settings.values():
            query |= each[0]
    elif kinds["untuned"].all():
        return {}
    else:  # the values of a preset may follow the scenario, and are one setting all the same
        found = kinds.groupby("method")["preset"].nunique()
        several = set(found.index[found > 1])
        query["settings"] = "tuned"
    one_of = [method for method in known if method in several]
    return query | ({"one_of": one_of} if one_of else {})


def _changed(line: Mapping[str, Any], card: MethodCard, paper: str) -> dict[str, str]:
    """The parameters of a method that had other values than Launch opens on."""
    recipe, given = Recipe.model_validate_json(line["recipe"]), json.loads(line["parameters"])
    usual = method_parameters(card, recipe, {}, scenario=line["scenario"], paper=paper)
    given.pop(FILE_VERSION, None)  # Launch runs the file as it is now
    return {
        f"{card.id}.{name}": typed(value)
        for name, value in complete(card, given).items()
        if name in usual and json.dumps(usual[name]) != json.dumps(value)
    }


def typed(value: Any) -> str:
    """A value as Launch's fields read it from the address."""
    return str(int(value)) if isinstance(value, bool) else units.plain(value)
