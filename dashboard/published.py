"""The paper's numbers in our units, to stand beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from dashboard.describe import number
from dashboard.frames import Column, View
from mucore import catalog


@dataclass(frozen=True)
class Published:
    """A published table beside ours: (method id, column id) -> value (fraction; MB in bytes), gaps likewise, and where it is from."""

    values: Mapping[tuple[str, str], float]
    gaps: Mapping[tuple[str, str], float]
    caption: str

    def text(self, method: str, column: Column, view: View, *, reference: bool) -> str:
        """What the paper's line shows in this cell; empty where the paper has no such row."""
        gap = view == "gap" and column.compared and not reference
        found = (self.gaps if gap else self.values).get((method, column.id))
        return "" if found is None else number(found, column.unit, signed=gap)


def published_table(tables: pd.DataFrame, cost: pd.DataFrame, *, scenario: str, dataset: str) -> Published | None:
    """MUBox's table of `scenario` (mubox_tables.csv, mubox_cost.csv) in our units; None where the paper has none.

    The paper's data set is ours if it has it, else CIFAR-10. FA is printed as the difference to Retrain for methods (kind `difference`);
    values and gaps are both derived from it here.
    """
    here = tables[tables["scenario"].str.replace("-", "_") == scenario]
    if here.empty:
        return None
    same = here[here["dataset"].map(_plain) == _plain(dataset)]
    here = same if not same.empty else here[here["dataset"] == "CIFAR-10"]
    if here.empty:
        return None
    retrain = here[here["method"] == "Retrain"].set_index("metric")["value"].astype(float).to_dict()
    values: dict[tuple[str, str], float] = {}
    gaps: dict[tuple[str, str], float] = {}
    for line in here.itertuples():
        method = _catalogued(str(line.method))
        if method is None or (method == "original" and line.group != "main"):  # other blocks print their own Original
            continue
        metric = str(line.metric)
        if metric == "l2":
            values[method, "l2_normalised"] = float(str(line.value))
            continue
        base = retrain.get(metric)
        printed = float(str(line.value))
        value = printed + base if line.kind == "difference" and base is not None else printed
        name = metric.lower().replace("-", "_", 1)
        values[method, name] = value / 100
        if base is not None:
            gaps[method, name] = (value - base) / 100
    for line in cost[(cost["scenario"].str.replace("-", "_") == scenario) & cost["dataset"].isin(here["dataset"])].itertuples():
        if (method := _catalogued(str(line.method))) is not None:
            values[method, "rte"] = float(str(line.rte_vs_retrain))
            values[method, "storage"] = float(str(line.extra_storage_gb)) * 1e9
    first = here.iloc[0]
    budget = f", {first['budget']}" if isinstance(first["budget"], str) and first["budget"] else ""
    other = "" if not same.empty else " Another data set and model than yours: compare the pattern, not the digits."
    caption = f"MUBox Table {first['table']}: {first['dataset']}, {first['model']}{budget}, 200 epochs.{other}"
    return Published(values, gaps, caption)


def _plain(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())


def _catalogued(name: str) -> str | None:
    plain = _plain(name)
    for card in (catalog.method("original"), *catalog.methods()):
        if plain in {_plain(card.id), _plain(card.title), *(_plain(alias) for alias in card.aliases)}:
            return card.id
    return None
