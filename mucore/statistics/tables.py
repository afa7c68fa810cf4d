"""Intervals over seeds, paired tests, average ranks and agreement of metrics, as tables; with each
a sentence on what is left out.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy  # its parts load when they are named

from mucore import catalog
from mucore.statistics.runs import score, score_of
from mucore.statistics.significance import LEVEL, Ranking, average_ranks, wilcoxon_holm

if TYPE_CHECKING:
    from mucore.catalog.cards import MetricCard


def intervals(mine: pd.DataFrame) -> pd.DataFrame:
    """`Statistics.intervals` of the means over seeds of one metric, in the order of the cards."""
    groups = mine.groupby(["setting", "line"], sort=False)
    values, gaps = (
        t_intervals(groups["value"]),
        t_intervals(groups["gap"]).drop(columns="seeds").add_prefix("gap_"),
    )
    found = values.join(gaps).reset_index().rename(columns={"line": "method"})
    columns = [
        "setting",
        "method",
        "seeds",
        *(f"{p}{n}" for p in ("", "gap_") for n in ("mean", "std", "low", "high")),
    ]
    return in_order(found[columns])


def in_order(found: pd.DataFrame) -> pd.DataFrame:
    """Rows with a `setting` and a `method` in the catalogue's order."""
    methods = ["original", *(card.id for card in catalog.methods())]
    scenarios = [card.id for card in catalog.scenarios()]
    scenario = found["setting"].map(lambda name: _place(name, scenarios))
    place = found["method"].map(lambda name: _place(name, methods))
    order = ["_scenario", "setting", "_place", "method"]
    found = found.assign(_scenario=scenario, _place=place).sort_values(order, kind="stable")
    return found.drop(columns=["_scenario", "_place"]).reset_index(drop=True)


def _place(name: str, ids: Sequence[str]) -> int:
    """Where the card stands that a name opens with, last what is none."""
    first = name.partition(" ")[0]
    return ids.index(first) if first in ids else len(ids)


def t_intervals(groups: Any) -> pd.DataFrame:
    """`statistics.t_interval` of each group of a column: seeds, mean, std, low, high; missing
    values are left out.
    """
    found = groups.agg(seeds="count", mean="mean", std="std")
    half = (
        scipy.special.stdtrit(found["seeds"].clip(lower=2) - 1, (1 + LEVEL) / 2)
        * found["std"]
        / found["seeds"] ** 0.5
    )
    return found.assign(low=found["mean"] - half, high=found["mean"] + half)


def complete_table(mine: pd.DataFrame, card: MetricCard) -> tuple[pd.DataFrame, list[str]]:
    """Scores of methods (columns) over blocks of setting and training seed (rows), smaller is
    better, without a hole.
    """
    empty = pd.DataFrame(index=pd.MultiIndex.from_tuples([], names=["setting", "training_seed"]))
    if not score_of(card):
        return empty, [
            f"No value of {card.id} is better than another, so there are neither tests nor ranks."
        ]
    scored = (
        mine[mine["reference"] == ""]
        .assign(score=lambda frame: score(frame, card))
        .dropna(subset=["score"])
    )
    if scored.empty:
        return empty, [
            (
                "No method has a gap to the Retrain of its training seed, so there are neither "
                "tests nor ranks. Run Retrain."
            )
        ]
    wide = scored.pivot(index=["setting", "training_seed"], columns="line", values="score")
    # Methods by how often they ran: the largest complete table takes some first ones of them and
    # the blocks that all of these have.
    often = wide.notna().sum()
    names = sorted(wide.columns, key=lambda name: (-int(often[name]), str(name)))
    # that the first ones have
    blocks = np.logical_and.accumulate(wide[names].notna().to_numpy(), axis=1).sum(axis=0).tolist()
    count = max(
        range(1, len(names) + 1), key=lambda count: (count > 1, count * blocks[count - 1], count)
    )
    best = wide[names[:count]].dropna()
    notes = []
    if left := [str(name) for name in names if name not in best.columns]:
        notes.append(
            "Not ranked or tested, because results that the others have are missing: "
            f"{', '.join(sorted(left))}. Choose the methods to compare."
        )
    if dropped := len(wide) - len(best):
        notes.append(
            f"{counted(dropped, 'block')} of {len(wide)} (a setting and a seed) omitted from "
            "tests and ranks: some methods have no value there."
        )
    return best, notes


def pairs(table: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """`Statistics.pairs` of a `complete_table`, and why there are none or how far to trust them.

    Seeds of one setting share their forget set and their task, so they count as one where there are
    several settings, as they do in `ranks`.
    """
    settings = table.groupby(level=0, sort=False).mean()
    table = settings if len(settings) > 1 else table
    columns = ["first", "second", "n", "difference", "p", "p_holm"]
    methods, blocks = table.shape[1], len(table)
    if methods < 2 or blocks < 2:
        note = (
            "No paired test: it needs two methods and two scenarios, or two seeds of one, and "
            f"there are {counted(methods, 'method')} and {counted(blocks, 'block')}."
        )
        return pd.DataFrame(columns=columns), [note] if table.size else []
    found = wilcoxon_holm({str(name): table[name].tolist() for name in table.columns})
    notes, least = [], len(found) * 2.0 ** (1 - blocks)
    if least > 1 - LEVEL:
        notes.append(
            f"No paired test can be significant: with {counted(blocks, 'block')} and "
            f"{counted(len(found), 'pair')} the corrected p is at least {min(least, 1.0):.2g}. "
            f"Add {'scenarios' if len(settings) > 1 else 'seeds'}, or compare fewer methods."
        )
    return pd.DataFrame(
        [{name: getattr(pair, name) for name in columns} for pair in found], columns=columns
    ), notes


def ranks(table: pd.DataFrame) -> tuple[Ranking | None, list[str]]:
    """Ranks over settings: seeds are averaged within each, for they are no independent data sets
    (Demšar, JMLR 2006).
    """
    if not table.size:
        return None, []
    settings = table.groupby(level=0, sort=False).mean()
    if settings.shape[1] < 3 or len(settings) < 2:
        return None, [
            "No average ranks: they need three methods and two scenarios, and there are "
            f"{counted(settings.shape[1], 'method')} and {counted(len(settings), 'scenario')}."
        ]
    return average_ranks({str(name): settings[name].tolist() for name in settings.columns}), []


def agreement(means: pd.DataFrame, metrics: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
    """`Statistics.agreement` of `metrics`, and the settings that are too small for it."""
    rows: list[tuple[Any, ...]] = []
    notes = []
    rivals = means[means["reference"] == ""]
    scores = _scores(rivals, metrics)
    for setting in rivals["setting"].unique():
        wide = scores[scores["setting"] == setting].pivot(
            index="line", columns="metric", values="score"
        )
        names = [name for name in dict.fromkeys(metrics) if name in wide]
        if len(wide) < 3 or len(names) < 2:
            notes.append(f"No rank agreement in {setting}: it needs three methods and two metrics.")
            continue
        tau, methods = kendall(wide[names].to_numpy().T)
        rows += [
            (setting, names[i], names[j], float(tau[i, j]), int(methods[i, j]))
            for i, j in itertools.combinations(range(len(names)), 2)
            if methods[i, j] > 2
        ]
    return pd.DataFrame(rows, columns=["setting", "first", "second", "tau", "methods"]), notes


def kendall(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Kendall's τ-b (m, m) of every two of the columns (m, n), and over how many entries that both
    have; NaN where one of them is constant there. All at once: a page has 4,400 pairs.
    """
    left, right = np.triu_indices(columns.shape[1], 1)
    signs = np.sign(columns[:, left] - columns[:, right])
    there = np.isfinite(signs).astype(float)
    signs = np.nan_to_num(signs)
    untied = np.abs(signs) @ there.T  # of the row's column, among pairs that both have
    with np.errstate(divide="ignore", invalid="ignore"):
        tau = signs @ signs.T / np.sqrt(untied) / np.sqrt(untied.T)
    known = np.isfinite(columns).astype(float)
    return tau, known @ known.T


def _scores(methods: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """One row a setting, line and metric: how good it is, larger is better, as a mean over training
    seeds; NaN where there is no gap.
    """
    parts = []
    for name in dict.fromkeys(metrics):
        card = catalog.metric(name)
        mine = methods[methods["metric"] == name]
        if score_of(card):
            parts.append(mine.assign(score=-score(mine, card)))
    every = pd.concat(parts, ignore_index=True) if parts else methods.iloc[:0].assign(score=0.0)
    return every.groupby(["setting", "line", "metric"], sort=False, as_index=False)["score"].mean()


def mean_tau(taus: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """Mean τ over settings, metrics by metrics; NaN where no setting tells."""
    present = set(taus["first"].unique()) | set(taus["second"].unique())
    names = [name for name in dict.fromkeys(metrics) if name in present]
    place = {name: number for number, name in enumerate(names)}
    square = np.where(np.eye(len(names)) == 1, 1.0, np.nan)
    for (first, second), tau in taus.groupby(["first", "second"])["tau"].mean().items():
        square[place[first], place[second]] = square[place[second], place[first]] = tau
    return pd.DataFrame(square, index=names, columns=names)


# -- sentences on what is missing from a comparison, or wide for want of seeds


def missing_notes(runs: pd.DataFrame, values: pd.DataFrame, card: MetricCard) -> list[str]:
    """Which lines lack the metric where, and why."""
    lost = values[(values["metric"] == card.id) & values["value"].isna()].merge(
        runs[["key", "setting", "line", "training_seed"]], on="key"
    )
    return [
        (
            f"{line} has no {card.id} in {setting}, training seed {seed}, and is left out there: "
            f"{error}"
        )
        for line, setting, seed, error in zip(
            lost["line"], lost["setting"], lost["training_seed"], lost["error"], strict=True
        )
    ]


def status_notes(runs: pd.DataFrame) -> list[str]:
    """How many runs did not end well."""
    counts = runs.loc[runs["status"] != "ok", "status"].value_counts()
    return [
        f"{counted(int(count), 'run')} {status}; the values are included."
        for status, count in counts.items()
    ]


def machine_notes(runs: pd.DataFrame) -> list[str]:
    """Which settings have runs of several classes of devices, or precisions."""
    kinds = machines(runs).groupby(runs["setting"]).unique()
    return [
        f"{setting} has runs on {' and on '.join(sorted(found))}, and its means mix them."
        for setting, found in kinds.items()
        if len(found) > 1
    ]


def machines(runs: pd.DataFrame) -> pd.Series:
    """On what each run was computed, as "NVIDIA in bf16": numbers of one class agree more closely
    than two seeds do.
    """
    return runs["device"].str.split(n=1).str[0].fillna("") + " in " + runs["precision"]


def seed_notes(mine: pd.DataFrame) -> list[str]:
    """How many rows have one training seed."""
    counts = mine.groupby(["setting", "line"])["value"].count().to_numpy()
    alone = int((counts == 1).sum())
    lost = "neither spread nor interval, and nothing to tell a suspicious value by"
    if alone == len(counts):
        return [f"One training seed: {lost}. Run more with --seeds 0-2."]
    return [f"{alone} of {len(counts)} rows have one training seed: {lost}."] if alone else []


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
