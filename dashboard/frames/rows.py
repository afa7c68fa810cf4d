"""Rows: a method with one set of parameters over all its seeds, and a number for each metric of it.

Runs that differ only in unlearning or evaluation seed are averaged first, so that an interval
speaks about independent trainings: mean ± t(0.975, n − 1) · s / √n over n training seeds.

Original and Retrain are those of the training seeds that methods ran on, so that no gap compares
different seeds; further Retrains make their 95 % band, and nothing else.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from dashboard.text.labels import method_names
from mucore import catalog
from mucore.metrics.sanity import GUESS
from mucore.runs import variants
from mucore.runs.variants import Variant
from mucore.statistics.runs import beside_methods
from mucore.statistics.significance import half_band
from mucore.verdicts import Judged, Verdict

Place = tuple[Any, ...]  # setting, row, metric
PLACE = ["setting", "row", "metric"]


@dataclass(frozen=True)
class Estimate:
    """A mean over training seeds with the half width of its 95 % t-interval; `half` is None for a
    single seed.
    """

    mean: float
    half: float | None
    seeds: int


def interval(metric: str, found: Estimate) -> tuple[float | None, float | None]:
    """The ends of the interval, where the metric's card says that its values end at the latest."""
    if found.half is None:
        return None, None
    card = catalog.metric(metric)
    low, high = np.clip([found.mean - found.half, found.mean + found.half], card.low, card.high)
    return float(low), float(high)


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One metric of one row. `reason` is a sentence when `value` (or, for the gap view, `gap`) is
    missing.
    """

    value: Estimate | None = None
    gap: Estimate | None = None
    reason: str = ""
    # of a Retrain with two seeds or more: half of their 95 % band (`significance.half_band`)
    noise: float | None = None


@dataclass(frozen=True, kw_only=True)
class Row:
    """One method with one set of parameters, over all its seeds."""

    id: str  # stable across sessions, stands in the URL
    method: str
    title: str
    family: str
    preset: str
    parameters: Mapping[str, Any]
    keys: tuple[str, ...]
    training_seeds: tuple[int, ...]
    unsound: Mapping[str, int]  # runs by status, those that are "ok" left out: {"diverged": 1}
    cells: Mapping[str, Cell]
    verdict: Verdict | None = None  # None for Retrain, and where nobody asked
    distance: Estimate | None = None  # to Retrain, 0..1 (mucore.verdicts)

    @property
    def reference(self) -> bool:
        return self.family == "reference"

    def mean(self, metric: str) -> float | None:
        """Over its seeds; None where it was not measured."""
        cell = self.cells.get(metric)
        return None if cell is None or cell.value is None else cell.value.mean

    @property
    def away(self) -> float | None:
        """The mean distance to Retrain, 0..1."""
        return None if self.distance is None else self.distance.mean

    @property
    def cost(self) -> float | None:
        """Of a Retrain, in samples where these were counted, else in time."""
        cells = (self.cells.get(name) for name in ("rte_work", "rte"))
        return next((cell.value.mean for cell in cells if cell and cell.value), None)

    @property
    def status(self) -> str:
        """ "ok", or what happened to how many of its runs: "1 of 3 diverged"."""
        parts = [
            f"{count} of {len(self.keys)} {status}" if len(self.keys) > 1 else status
            for status, count in self.unsound.items()
        ]
        return ", ".join(parts) or "ok"


def metric_rows(
    summaries: pd.DataFrame,
    values: pd.DataFrame,
    wanted: Sequence[str],
    *,
    judged: Mapping[str, Judged] | None = None,
) -> tuple[Row, ...]:
    """The rows of the runs, references first, with a cell for each metric of `wanted`; `values` may
    hold metrics that have no card.

    `judged` gives each run the line that it belongs to (`data.judged`), whose verdict and distance
    the row then has.
    """
    numbers = [0] * len(summaries)
    return rows_by_setting(summaries, values, wanted, numbers, judged=judged).get(0, ())


def rows_by_setting(
    summaries: pd.DataFrame,
    values: pd.DataFrame,
    wanted: Sequence[str],
    settings: Sequence[int],
    *,
    judged: Mapping[str, Judged] | None = None,
) -> dict[int, tuple[Row, ...]]:
    """`metric_rows` of several settings at once, which takes hardly longer than those of one;
    `settings` gives each run the number of its own.
    """
    runs = summaries.assign(
        setting=list(settings), row=list(map(row_id, summaries["method"], summaries["parameters"]))
    )
    beside = runs[beside_methods(runs)]
    cells = _cells(beside, _noises(runs, values, wanted), values, wanted)
    found: dict[int, dict[str, list[_Run]]] = {}
    for each in zip(*(beside[name].tolist() for name in _Run._fields), strict=True):
        run = _Run(*each)
        found.setdefault(run.setting, {}).setdefault(run.row, []).append(run)
    made = {}
    for setting, groups in found.items():
        rows = []
        for name, group, title in _titled(groups):
            mine = {metric: cells(setting, name, metric) for metric in wanted}
            rows.append(_row(group, title, mine, judged or {}))
        made[setting] = tuple(sorted(rows, key=_paper_order))
    return made


def noise(rows: Iterable[Row], metric: str) -> float | None:
    """Half of the 95 % band of Retrains of other training seeds in a metric, in its own unit. Of
    several Retrains the one with most seeds says it; None where it has fewer than two.
    """
    retrains = [row for row in rows if row.reference and row.method == "retrain"]
    most = max(retrains, key=lambda row: len(row.training_seeds), default=None)
    cell = None if most is None else most.cells.get(metric)
    return None if cell is None else cell.noise


def nearest_first(rows: Iterable[Row]) -> list[Row]:
    """References on top, then the methods that forgot, then the others; each by the distance to
    Retrain, those without one last.
    """

    def place(row: Row) -> tuple[bool, bool, float]:
        forgot = row.verdict is not None and row.verdict.qualified
        away = math.inf if row.away is None else row.away
        return not row.reference, not forgot, 0.0 if row.reference else away

    return sorted(rows, key=place)


def apart(summaries: pd.DataFrame, values: pd.DataFrame, metrics: Sequence[str]) -> float | None:
    """How far two Retrains of other training seeds lie from each other at most, in 0..1: the mean
    |difference| over `metrics`. None with fewer than two that have them all.
    """
    mine = summaries[summaries["method"] == "retrain"]
    seeds = dict(zip(mine["key"], mine["training_seed"], strict=True))
    mine = values[values["key"].isin(mine["key"]) & values["metric"].isin(metrics)]
    table = mine.pivot_table(index=mine["key"].map(seeds), columns="metric", values="value")
    table = table.reindex(columns=[*metrics]).dropna()
    pairs = combinations(table.to_numpy(), 2)
    return max((float(np.abs(one - other).mean()) for one, other in pairs), default=None)


def row_id(method: str, parameters: str) -> str:
    """The row that a run belongs to: the method and its effective parameters, whatever preset they
    came from.
    """
    return f"{method}-{hashlib.sha256(parameters.encode()).hexdigest()[:6]}"


def half_width(deviation: float, count: int) -> float | None:
    """Half of the 95 % t-interval of a mean: t(0.975, n − 1) · s / √n; None below two values, where
    nothing is known about the spread.
    """
    return float(stdtrit(count - 1, 0.975)) * deviation / math.sqrt(count) if count > 1 else None


def _cells(
    runs: pd.DataFrame, noises: Mapping[Place, float], values: pd.DataFrame, wanted: Sequence[str]
) -> Callable[[int, str, str], Cell]:
    """The cell of a setting, row and metric."""
    if "storage" in wanted:
        values = pd.concat([values, _storage(values)], ignore_index=True)
    long, seeds = _by_seed(runs, values, wanted)
    lines = seeds.groupby(level=PLACE, sort=False)
    spread = np.stack([each.to_numpy(float) for each in (lines.mean(), lines.std(), lines.count())])
    places = {place: number for number, place in enumerate(lines.size().index)}
    failed = long[long["error"].notna()].drop_duplicates(PLACE)
    reasons = failed.set_index(PLACE)["error"].to_dict()

    def cell(*place: Any) -> Cell:
        number, reason = places.get(place), str(reasons.get(place, ""))
        value, gap = (
            (None, None)
            if number is None
            else (_estimate(*spread[:, number, column]) for column in (0, 1))
        )
        if value is None:
            reason = reason or "Not measured in these runs."
        elif gap is None:
            reason = "No gap: the Retrain of this training seed has no value here."
        return Cell(value=value, gap=gap, reason=reason, noise=noises.get(place))

    return cell


def _noises(runs: pd.DataFrame, values: pd.DataFrame, wanted: Sequence[str]) -> dict[Place, float]:
    """Half of the 95 % band of the seeds of a Retrain."""
    _, seeds = _by_seed(runs[runs["method"] == "retrain"], values, wanted)
    return {
        place: half
        for place, each in seeds["value"].dropna().groupby(level=PLACE)
        if (half := half_band(each.tolist())) is not None
    }


def _by_seed(
    runs: pd.DataFrame, values: pd.DataFrame, wanted: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The values of the runs, and their means over each training seed: unlearning and evaluation
    seeds are repeats inside one training, not new trainings. A line has no value of an attack that
    guesses in half of its runs or more.
    """
    long = values[values["metric"].isin(wanted)].merge(
        runs[["key", "setting", "row", "training_seed"]], on="key"
    )
    long = long.astype({"value": float, "gap": float})
    guessed = long["error"].eq(GUESS).groupby([long[name] for name in PLACE]).transform("mean")
    long.loc[guessed >= 0.5, ["value", "gap"]] = np.nan
    return long, long.groupby([*PLACE, "training_seed"], sort=False)[["value", "gap"]].mean()


def _storage(values: pd.DataFrame) -> pd.DataFrame:
    parts = values[values["metric"].isin(["persistent_bytes", "scratch_bytes"])]
    total = parts.groupby("key")["value"].sum(min_count=1)
    return pd.DataFrame(
        {
            "key": total.index,
            "metric": "storage",
            "value": total.to_numpy(float),
            "gap": np.nan,
            "error": None,
        }
    )


def _estimate(mean: float, deviation: float, count: float) -> Estimate | None:
    return (
        Estimate(float(mean), half_width(float(deviation), int(count)), int(count))
        if count
        else None
    )


class _Run(NamedTuple):
    setting: int
    row: str
    method: str
    method_preset: str
    parameters: str
    status: str
    key: str
    training_seed: int
    unlearning_seed: int
    evaluation_seed: int


def _titled(groups: Mapping[str, Sequence[_Run]]) -> Iterator[tuple[str, Sequence[_Run], str]]:
    """The rows of a setting with their titles. Those of one method that differ in settings say how:
    by preset, or by the settings that differ.
    """
    for method in dict.fromkeys(group[0].method for group in groups.values()):
        mine = [(name, group) for name, group in groups.items() if group[0].method == method]
        kinds = [
            Variant(settings=json.loads(group[0].parameters), preset=_preset(group))
            for _, group in mine
        ]
        title = method_names(method)[0]
        for (name, group), label in zip(mine, variants.names(method, kinds), strict=True):
            yield name, group, f"{title} ({label})" if label else title


def _preset(group: Sequence[_Run]) -> str:
    return " = ".join(sorted({run.method_preset for run in group}))


def _row(
    group: Sequence[_Run], title: str, cells: Mapping[str, Cell], judged: Mapping[str, Judged]
) -> Row:
    runs = sorted(
        group, key=lambda run: (run.training_seed, run.unlearning_seed, run.evaluation_seed)
    )
    seeds = tuple(dict.fromkeys(run.training_seed for run in runs))
    line = judged.get(runs[0].key)
    statuses = Counter(run.status for run in group if run.status != "ok")
    return Row(
        id=runs[0].row,
        method=runs[0].method,
        title=title,
        family=method_names(runs[0].method)[1],
        preset=_preset(group),
        parameters=json.loads(runs[0].parameters),
        keys=tuple(run.key for run in runs),
        training_seeds=seeds,
        unsound=dict(statuses.most_common()),
        cells=cells,
        verdict=None if line is None else line.verdict,
        distance=None if line is None else _distance(line, seeds),
    )


def _distance(line: Judged, seeds: Sequence[int]) -> Estimate | None:
    away = [line.distances[seed] for seed in seeds if seed in line.distances]
    spread = float(np.std(away, ddof=1)) if len(away) > 1 else math.nan
    return _estimate(float(np.mean(away)) if away else 0.0, spread, len(away))


def _paper_order(row: Row) -> tuple[int, int, int, str]:
    families = list(catalog.FAMILIES)
    methods = ["original", *(card.id for card in catalog.methods())]
    presets = ["tuned", "tuned_elsewhere", "authors"]
    return (
        families.index(row.family) if row.family in families else len(families),
        methods.index(row.method) if row.method in methods else len(methods),
        presets.index(row.preset) if row.preset in presets else len(presets),
        row.title,
    )


def references(lines: pd.DataFrame, key: str) -> dict[str, str]:
    """The keys of "Retrain" and "Original" of the training seed of run `key`, of those that are in
    `lines`: runs of one setting, indexed by key.
    """
    same = lines[lines["training_seed"] == lines.loc[key, "training_seed"]]
    found = {name: same.index[same["method"] == name.lower()] for name in ("Retrain", "Original")}
    return {name: str(keys[0]) for name, keys in found.items() if len(keys)}
