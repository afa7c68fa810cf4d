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
from mucore.runs import FILE_VERSION, Recipe, complete, method_parameters


def launch_settings(summaries: pd.DataFrame, paper: str) -> dict[str, str | list[str]]:
    """The parameters of Launch's address for the settings of these runs under the preset `paper`:
    none for the authors', that they are tuned, or the values that somebody chose.

    Launch takes one setting a method. Of a method that ran with several the tuned one stands for
    all, or else that of most runs.
    """
    known = {card.id: card for card in catalog.methods() if card.family != "reference"}
    runs = summaries[summaries["method"].isin(known) & summaries["parameters"].map(is_plain)]
    runs = runs.assign(preset=presets(runs))
    runs["untuned"] = runs["preset"].isin([OWN, "authors"])
    runs["count"] = runs.groupby(["method", "parameters"])["recipe"].transform("size")
    kinds = runs.sort_values(
        ["untuned", "count"], ascending=[True, False], kind="stable"
    ).drop_duplicates(["method", "parameters"])
    if OWN in set(kinds["preset"]):
        query: dict[str, str | list[str]] = {"settings": "own"}
        for line in kinds.drop_duplicates("method").to_dict("records"):
            query |= _changed(line, known[line["method"]], paper)
        return query
    return {} if kinds["untuned"].all() else {"settings": "tuned"}


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
