"""Runs of a comparison as settings and lines, their means over seeds, and what makes a value
good.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from mucore import catalog
from mucore.runs import REFERENCES, variants
from mucore.runs.spec import REVISION
from mucore.runs.variants import Variant

if TYPE_CHECKING:
    from mucore.catalog.cards import MetricCard

SETUP = ("dataset", "hashes", "model", "recipe")  # what was trained, and on what
# Columns of `Store.summaries` in which runs are alike that can be compared or averaged: only these
# are other seeds, methods or settings of one experiment. Nothing may group by fewer.
SETTING = (*SETUP, "scenario", "scenario_parameters")
_LINE = ("method", "method_preset", "parameters", "setting")


def label_runs(summaries: pd.DataFrame) -> pd.DataFrame:
    """The runs that forget something, with `setting` and `line`, short unique names, and
    `reference`: "original", "retrain", "baseline" of one that cheats, or "": those are no rivals.
    """
    runs = summaries[summaries["scenario"].notna()].copy()
    where, settings = distinct(runs, SETTING)
    which, lines = distinct(runs.assign(setting=where), _LINE)
    runs["setting"] = np.array(_setting_names(settings), dtype=object)[where].tolist()
    runs["line"] = np.array(_line_names(lines), dtype=object)[which].tolist()
    usual = {p.name: p.default for p in catalog.method("retrain").parameters}
    cheating = {card.id for card in catalog.METHODS if card.cheats}
    references = [
        method
        if method == "original" or (method == "retrain" and usual | json.loads(parameters) == usual)
        else "baseline"
        if method in cheating
        else ""
        for method, parameters in zip(lines["method"], lines["parameters"], strict=True)
    ]
    runs["reference"] = np.array(references, dtype=object)[which].tolist()
    return runs


def distinct(runs: pd.DataFrame, columns: Sequence[str]) -> tuple[np.ndarray, pd.DataFrame]:
    """Which of the distinct choices of `columns` each run has (n,), and these choices, numbered
    from 0.
    """
    numbers = runs.groupby(list(columns), sort=False, dropna=False).ngroup().to_numpy()
    _, first = np.unique(numbers, return_index=True)
    return numbers, runs.iloc[first][list(columns)]


def _setting_names(settings: pd.DataFrame) -> list[str]:
    """Of each distinct setting the scenario, and whatever else tells settings apart."""
    several = [name for name in ("dataset", "model", "recipe") if settings[name].nunique() > 1]
    sets = settings.groupby("scenario")["scenario_parameters"].nunique()
    names = []
    for each in settings.itertuples(index=False, name=None):
        found = dict(zip(SETTING, each, strict=True))
        parts = [str(found["scenario"])]
        if sets[found["scenario"]] > 1:
            parts.append(_set(parts[0], json.loads(str(found["scenario_parameters"]))))
        parts += [
            f"recipe {_short(str(found[name]))}" if name == "recipe" else str(found[name])
            for name in several
        ]
        names.append(" · ".join(parts))
    return told_apart(names, settings["hashes"].tolist())


def told_apart(names: Sequence[str], hashes: Sequence[str]) -> list[str]:
    """The names of settings, of which those that are equal get what differs in their `hashes`:
    "random · original 9c1b5e".
    """
    parts = [dict(part.split("=") for part in text.split()) for text in hashes]
    alike: dict[str, list[dict[str, str]]] = {}
    for name, mine in zip(names, parts, strict=True):
        alike.setdefault(name, []).append(mine)
    return [
        " · ".join(
            [
                name,
                *(
                    f"{what} {value[:6]}"
                    for what, value in mine.items()
                    if any(other.get(what) != value for other in alike[name])
                ),
            ]
        )
        for name, mine in zip(names, parts, strict=True)
    ]


def _line_names(lines: pd.DataFrame) -> list[str]:
    """Of each distinct line the method, and its preset or the settings that differ where one
    setting has it with several.
    """
    kinds: dict[str, dict[int, Variant]] = {}
    for number, (method, preset, values, setting) in enumerate(
        lines.itertuples(index=False, name=None)
    ):
        kinds.setdefault(method, {})[number] = Variant(
            settings=json.loads(values), preset=preset, place=setting
        )
    names = {}
    for method, mine in kinds.items():
        found = zip(mine, variants.names(method, list(mine.values())), strict=True)
        names |= {number: f"{method} ({name})" if name else method for number, name in found}
    return [names[number] for number in range(len(lines))]


def _set(scenario: str, values: dict[str, Any]) -> str:
    """A forget set in words: what a revision of its scenario means, not its number."""
    now = {card.id: card.revision for card in catalog.scenarios()}
    before = values.pop(REVISION, 1) != now.get(scenario, 1)
    said = [f"{name} {value}" for name, value in values.items()] or ["defaults"]
    return ", ".join(said + ["of an earlier version"] * before)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:6]


def beside_methods(runs: pd.DataFrame) -> np.ndarray:
    """Which runs count (n,): all of methods, and references of the training seeds that a method of
    the `setting` ran on, or all where none did: no gap then compares different seeds.
    """
    where = pd.MultiIndex.from_frame(runs[["setting", "training_seed"]])
    reference = runs["method"].isin(REFERENCES).to_numpy()
    alone = ~runs["setting"].isin(runs["setting"][~reference]).to_numpy()
    return ~reference | where.isin(where[~reference]) | alone


def seed_means(runs: pd.DataFrame, values: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """One row a metric, setting, line and training seed: value, gap (NaN where there is none) and
    what the runs are.
    """
    long = values[values["metric"].isin(list(metrics)) & values["value"].notna()]
    # by numbers, not by the texts that they stand for: of 23 metrics there are 200,000 values
    which, groups = distinct(runs, ("setting", "line", "training_seed", "reference"))
    each, keys = pd.factorize(long["key"])
    run = pd.Index(runs["key"]).get_indexer(pd.Index(keys))[each]
    metric, names = pd.factorize(long["metric"])
    mine = run >= 0
    numbers = pd.DataFrame(
        {
            "metric": metric[mine],
            "group": which[run[mine]],
            "value": long["value"].to_numpy(float)[mine],
            "gap": long["gap"].to_numpy(float)[mine],
        }
    )
    means = numbers.groupby(["metric", "group"], sort=False, as_index=False).mean()
    made = groups.iloc[means["group"].to_numpy()].reset_index(drop=True)
    made.insert(0, "metric", pd.Index(names)[means["metric"].to_numpy()])
    return made.assign(value=means["value"], gap=means["gap"])


def score_of(card: MetricCard) -> str:
    """What makes a value of this metric good, in words; "" if nothing does. Distances count as
    better the smaller they are.
    """
    if card.ideal == "retrain":
        return "absolute gap to the Retrain of the same training seed; smaller is better"
    if card.ideal == "high":
        return "value; larger is better"
    return "value; smaller is better" if card.ideal == "low" or card.group == "distance" else ""


def score(means: pd.DataFrame, card: MetricCard) -> pd.Series:
    """Smaller is better; NaN where there is no gap. Rounded, so that equal counts of samples tie
    whatever they were subtracted from.
    """
    if card.ideal == "retrain":
        return means["gap"].abs().round(12)
    return (-means["value"] if card.ideal == "high" else means["value"]).round(12)


def usual_metrics(values: pd.DataFrame) -> list[str]:
    """The metrics whose rankings are compared unless others are named: those in `values` that judge
    the result, and its time.
    """
    present = set(values["metric"].unique())
    attacks = ("_attack_accuracy", "_auc", "_tpr_01", "_tpr_1", "_forgotten_classes")
    beside = ("va", "l2")  # va: methods tune on it; l2: the relative distance stands for it
    return [
        card.id
        for card in catalog.metrics()
        if card.id in present
        and card.id not in beside
        and card.group != "cost"
        and not card.id.endswith(attacks)
        if not card.downstream and score_of(card)  # their means stand for the downstream sets
    ] + [name for name in ("rte",) if name in present]
