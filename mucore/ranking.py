"""What a comparison says once it has several seeds and scenarios: intervals, paired tests, average ranks, agreement, suspicious values.

Pandas in (`Store.summaries`, `Store.metric_values`), tables and sentences out. A setting is one data set, model, recipe, scenario and rule
of the forget set; a method with two sets of parameters counts as two. Every interval runs over training seeds: unlearning and evaluation
seeds repeat one training and are averaged before. The mathematics is in mucore/metrics/statistics.py.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from mucore import catalog, variants
from mucore.errors import BadValue
from mucore.metrics.statistics import LEVEL, Ranking, average_ranks, rank_agreement, wilcoxon_holm
from mucore.variants import Variant

if TYPE_CHECKING:
    from mucore.catalog.cards import MetricCard
    from mucore.store import Store

AXIS = "training seeds; unlearning and evaluation seeds are averaged first"
SETTING = ("dataset", "model", "recipe", "scenario", "scenario_parameters")
_LINE = ("method", "method_preset", "parameters", "setting")
# A value counts as outside the range of original and Retrain only if it leaves it by more than this share as well. The limit is ours.
SMALLEST_EXCESS = 0.01
# Accuracies at which leaving the range says more than "utility was lost": (metric, above, below), each with what it may mean.
_EXCESS = {
    "ta": ("the model has seen the test set, or the original was trained too briefly", ""),
    "tra": ("the model has seen the test set, or the original was trained too briefly", ""),
    "fa": (
        "it knows the forget set better than the model that was trained on it",
        "it forgets more than a model that never saw the samples",
    ),
    "tfa": ("it knows the forgotten classes better than the original", "it forgets more than a model that never saw the classes"),
}
_ATTACK_EXCESS = ("forgotten samples stand out as too unfamiliar", "forgotten samples look more familiar than before the request")


@dataclass(frozen=True, kw_only=True)
class Suspicion:
    """One value outside the range of original and Retrain: a flag of the whole comparison. `parameters` is the JSON text of the runs."""

    setting: str
    method: str
    parameters: str
    metric: str
    sentence: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Statistics:
    """All that one comparison says about one metric, and how its metrics agree. What could not be computed is None or empty, and a note
    says why. Values are those of the store: fractions, seconds, bytes.

    - `intervals`: one row a setting and method with `seeds` (how many), mean, sample standard deviation and 95 % t interval (`low`,
      `high`) of the value, and the same of the gap (`gap_...`); NaN where one seed leaves no spread.
    - `pairs`: Wilcoxon's signed-rank test of every two methods over `blocks` (setting, training seed), columns of `statistics.Pair`.
    - `ranking`: average ranks over settings with Nemenyi's critical difference.
    - `agreement`: one row a setting and two metrics: Kendall's tau over methods, its p, how many methods. `tau`: means over settings.
    - `suspicions`: values outside the range of original and Retrain by more than the seeds' interval.
    """

    metric: str
    score: str  # what tests and ranks compare, in words
    axis: str
    intervals: pd.DataFrame
    methods: tuple[str, ...]  # in tests and ranks
    blocks: tuple[tuple[str, int], ...]
    pairs: pd.DataFrame
    ranking: Ranking | None
    agreement: pd.DataFrame
    tau: pd.DataFrame
    suspicions: tuple[Suspicion, ...]
    notes: tuple[str, ...]


def from_store(
    store: Store, *, metric: str = "ta", methods: Sequence[str] = (), agreement: Sequence[str] = (), **filters: Any
) -> Statistics:
    """`statistics` of the results that `filters` choose (those of `Store.summaries`); `methods` narrows them further, references stay.

    Raises `UnknownName` for a metric or method that no card has, and `BadValue` where nothing matches.
    """
    summaries, values = store.summaries(**filters), store.metric_values(**filters)
    if methods:
        wanted = {catalog.method(name).id for name in methods}
        summaries = summaries[summaries["method"].isin([*wanted, "original", "retrain"])]
        if missing := wanted - set(summaries["method"]):
            raise BadValue(f"No result matches of {' and '.join(sorted(missing))}. See `python -m mucore results`.")
    return statistics(summaries, values, metric=metric, agreement=agreement)


def statistics(
    summaries: pd.DataFrame, values: pd.DataFrame, *, metric: str = "ta", agreement: Sequence[str] = (), watch: bool = True
) -> Statistics:
    """Everything about `metric`; `agreement` names the metrics whose rankings are compared (default: `usual_metrics`).

    `watch`: whether to look for suspicious values, which takes as long as all the rest.

    Tests and ranks compare what `score_of` says; they take the methods and blocks that make the largest table without holes. Raises
    `UnknownName` for a metric without a card, `BadValue` where no run has it.
    """
    card = catalog.metric(metric)
    agreement = [catalog.metric(name).id for name in agreement] or usual_metrics(values)
    runs = label_runs(summaries)
    if runs.empty:
        raise BadValue("No result matches, so there is nothing to compare. See `python -m mucore results`.")
    means = _seed_means(runs, values, [card.id, *agreement])
    mine = means[means["metric"] == card.id]
    if mine.empty:
        only = f" It exists only under {', '.join(sorted(card.scenarios))}." if card.scenarios is not None else ""
        raise BadValue(f"None of these results has a value of {card.id}.{only} Choose another metric or other results.")
    notes = [*_missing_notes(runs, values, card), *_status_notes(runs), *_seed_notes(mine)]
    intervals = _intervals(mine)
    notes += _bound_notes(intervals, card)
    table, said = _complete_table(mine, card)
    notes += said
    pairs, said = _pairs(table)
    notes += said
    ranking, said = _ranking(table)
    notes += said
    taus, said = _agreement(means, agreement)
    notes += said
    return Statistics(
        metric=card.id,
        score=score_of(card) or "nothing: no value of this metric is better than another",
        axis=AXIS,
        intervals=intervals,
        methods=tuple(str(name) for name in table.columns),
        blocks=tuple((str(setting), int(seed)) for setting, seed in table.index),
        pairs=pairs,
        ranking=ranking,
        agreement=taus,
        tau=_mean_tau(taus, agreement),
        suspicions=_suspicions(_watched(runs, values), runs) if watch else (),
        notes=tuple(notes),
    )


def score_of(card: MetricCard) -> str:
    """What makes a value of this metric good, in words; "" if nothing does. Distances count as better the smaller they are."""
    if card.ideal == "retrain":
        return "absolute gap to the Retrain of the same training seed; smaller is better"
    if card.ideal == "high":
        return "value; larger is better"
    return "value; smaller is better" if card.ideal == "low" or card.group == "distance" else ""


def usual_metrics(values: pd.DataFrame) -> list[str]:
    """The metrics whose rankings are compared unless others are named: those in `values` that judge the result, and its time."""
    present = set(values["metric"].unique())
    attacks = ("_attack_accuracy", "_auc", "_tpr_01", "_tpr_1", "_forgotten_classes")
    beside = ("va", "l2")  # va: methods tune on it; l2: the relative distance stands for it
    return [
        card.id
        for card in catalog.metrics()
        if card.id in present and card.id not in beside and card.group != "cost" and not card.id.endswith(attacks)
        if not card.downstream and score_of(card)  # their means stand for the downstream sets
    ] + [name for name in ("rte",) if name in present]


# -- runs and seeds


def label_runs(summaries: pd.DataFrame) -> pd.DataFrame:
    """The runs that forget something, with `setting` and `line`, short unique names, and `reference`: "original", "retrain" or ""."""
    runs = summaries[summaries["scenario"].notna()].copy()
    where, settings = _distinct(runs, SETTING)
    which, lines = _distinct(runs.assign(setting=where), _LINE)
    runs["setting"] = np.array(_setting_names(settings), dtype=object)[where].tolist()
    runs["line"] = np.array(_line_names(lines), dtype=object)[which].tolist()
    usual = {p.name: p.default for p in catalog.method("retrain").parameters}
    runs["reference"] = [
        method if method == "original" or (method == "retrain" and usual | json.loads(parameters) == usual) else ""
        for method, parameters in zip(runs["method"], runs["parameters"], strict=True)
    ]
    return runs


def _distinct(runs: pd.DataFrame, columns: Sequence[str]) -> tuple[np.ndarray, pd.DataFrame]:
    """Which of the distinct choices of `columns` each run has (n,), and these choices, numbered from 0."""
    numbers = runs.groupby(list(columns), sort=False, dropna=False).ngroup().to_numpy()
    _, first = np.unique(numbers, return_index=True)
    return numbers, runs.iloc[first][list(columns)]


def _setting_names(settings: pd.DataFrame) -> list[str]:
    """Of each distinct setting the scenario, and whatever else tells settings apart."""
    several = [name for name in ("dataset", "model", "recipe") if settings[name].nunique() > 1]
    names = []
    for each in settings.itertuples(index=False, name=None):
        found = dict(zip(SETTING, each, strict=True))
        parts = [str(found["scenario"])]
        if settings.loc[settings["scenario"] == found["scenario"], "scenario_parameters"].nunique() > 1:
            parts.append(_settings(str(found["scenario_parameters"])))
        parts += [f"recipe {_short(str(found[name]))}" if name == "recipe" else str(found[name]) for name in several]
        names.append(" · ".join(parts))
    return names


def _line_names(lines: pd.DataFrame) -> list[str]:
    """Of each distinct line the method, and its preset or the settings that differ where one setting has it with several."""
    kinds: dict[str, dict[int, Variant]] = {}
    for number, (method, preset, values, setting) in enumerate(lines.itertuples(index=False, name=None)):
        kinds.setdefault(method, {})[number] = Variant(settings=json.loads(values), preset=preset, place=setting)
    names = {}
    for method, mine in kinds.items():
        found = zip(mine, variants.names(method, list(mine.values())), strict=True)
        names |= {number: f"{method} ({name})" if name else method for number, name in found}
    return [names[number] for number in range(len(lines))]


def _settings(parameters: str) -> str:
    return ", ".join(f"{name} {value}" for name, value in json.loads(parameters).items()) or "defaults"


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:6]


def _seed_means(runs: pd.DataFrame, values: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """One row a metric, setting, line and training seed: value, gap (NaN where there is none) and what the runs are."""
    long = values[values["metric"].isin(list(metrics)) & values["value"].notna()]
    long = long.merge(runs[["key", "setting", "line", "training_seed", "reference"]], on="key")
    by = ["metric", "setting", "line", "training_seed", "reference"]
    return long.groupby(by, sort=False, as_index=False).agg(value=("value", "mean"), gap=("gap", "mean"))


def _score(means: pd.DataFrame, card: MetricCard) -> pd.Series:
    """Smaller is better; NaN where there is no gap. Rounded, so that equal counts of samples tie whatever they were subtracted from."""
    if card.ideal == "retrain":
        return means["gap"].abs().round(12)
    return (-means["value"] if card.ideal == "high" else means["value"]).round(12)


# -- intervals


def _intervals(mine: pd.DataFrame) -> pd.DataFrame:
    groups = mine.groupby(["setting", "line"], sort=False)
    values, gaps = _t_intervals(groups["value"]), _t_intervals(groups["gap"]).drop(columns="seeds").add_prefix("gap_")
    found = values.join(gaps).reset_index().rename(columns={"line": "method"})
    columns = ["setting", "method", "seeds", *(f"{p}{n}" for p in ("", "gap_") for n in ("mean", "std", "low", "high"))]
    order = {name: place for place, name in enumerate(("original", *(card.id for card in catalog.methods())))}
    frame = found[columns].copy()
    frame["_place"] = [order.get(str(name).partition(" ")[0], len(order)) for name in frame["method"]]
    scenarios = {card.id: place for place, card in enumerate(catalog.scenarios())}
    frame["_setting"] = [scenarios.get(str(name).partition(" ")[0], len(scenarios)) for name in frame["setting"]]
    frame = frame.sort_values(["_setting", "setting", "_place", "method"], kind="stable").drop(columns=["_place", "_setting"])
    return frame.reset_index(drop=True)


def _t_intervals(groups: Any) -> pd.DataFrame:
    """`statistics.t_interval` of each group of a column: seeds, mean, std, low, high; missing values are left out."""
    found = groups.agg(seeds="count", mean="mean", std="std")
    half = stdtrit(found["seeds"].clip(lower=2) - 1, (1 + LEVEL) / 2) * found["std"] / found["seeds"] ** 0.5
    return found.assign(low=found["mean"] - half, high=found["mean"] + half)


# -- the table without holes, tests and ranks


def _complete_table(mine: pd.DataFrame, card: MetricCard) -> tuple[pd.DataFrame, list[str]]:
    """Scores of methods (columns) over blocks of setting and training seed (rows), smaller is better, without a hole."""
    empty = pd.DataFrame(index=pd.MultiIndex.from_tuples([], names=["setting", "training_seed"]))
    if not score_of(card):
        return empty, [f"No value of {card.id} is better than another, so there are neither tests nor ranks."]
    scored = mine[mine["reference"] == ""].assign(score=lambda frame: _score(frame, card)).dropna(subset=["score"])
    if scored.empty:
        return empty, ["No method has a gap to the Retrain of its training seed, so there are neither tests nor ranks. Run Retrain."]
    wide = scored.pivot(index=["setting", "training_seed"], columns="line", values="score")
    # Methods by how often they ran: the largest complete table takes some first ones of them and the blocks that all of these have.
    often = wide.notna().sum()
    names = sorted(wide.columns, key=lambda name: (-int(often[name]), str(name)))
    blocks = np.logical_and.accumulate(wide[names].notna().to_numpy(), axis=1).sum(axis=0).tolist()  # that the first ones have
    count = max(range(1, len(names) + 1), key=lambda count: (count > 1, count * blocks[count - 1], count))
    best = wide[names[:count]].dropna()
    notes = []
    if left := [str(name) for name in names if name not in best.columns]:
        notes.append(
            f"Left out of tests and ranks, for they lack results that the others have: {', '.join(sorted(left))}. "
            "Name the methods to compare with --methods."
        )
    if dropped := len(wide) - len(best):
        notes.append(f"{_count(dropped, 'block')} of {len(wide)} left out of tests and ranks: not every method has a value there.")
    return best, notes


def _pairs(table: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    columns = ["first", "second", "n", "difference", "p", "p_holm"]
    methods, blocks = table.shape[1], len(table)
    if methods < 2 or blocks < 2:
        short = "one method" if methods == 1 else "no method" if not methods else _count(blocks, "matched block")
        return pd.DataFrame(columns=columns), (
            []
            if not table.size
            else [f"No paired test: it needs two methods and two blocks of setting and seed, and there is only {short}."]
        )
    found = wilcoxon_holm({str(name): table[name].tolist() for name in table.columns})
    notes, least = [], len(found) * 2.0 ** (1 - blocks)
    if least > 1 - LEVEL:
        notes.append(
            f"No paired test can be significant: with {_count(blocks, 'block')} and {_count(len(found), 'pair')} the corrected p is "
            f"at least {min(least, 1.0):.2g}. Add seeds or scenarios, or compare fewer methods."
        )
    settings = table.index.get_level_values(0).nunique()
    if settings > 1 and blocks > settings:
        notes.append("Blocks of one training seed share the original model, so the tests' p values are somewhat too small.")
    return pd.DataFrame([{name: getattr(pair, name) for name in columns} for pair in found], columns=columns), notes


def _ranking(table: pd.DataFrame) -> tuple[Ranking | None, list[str]]:
    """Ranks over settings: seeds are averaged within each, for they are no independent data sets (Demšar, JMLR 2006)."""
    if not table.size:
        return None, []
    settings = table.groupby(level=0, sort=False).mean()
    if settings.shape[1] < 3 or len(settings) < 2:
        return None, [
            "No average ranks: they need three methods and two scenarios, and there are "
            f"{_count(settings.shape[1], 'method')} and {_count(len(settings), 'scenario')}."
        ]
    return average_ranks({str(name): settings[name].tolist() for name in settings.columns}, higher_is_better=False), []


# -- agreement


def _agreement(means: pd.DataFrame, metrics: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
    rows: list[dict[str, Any]] = []
    notes = []
    methods = means[means["reference"] == ""]
    of_setting = dict(iter(_scores(methods, metrics).groupby("setting", sort=False)))
    for setting in methods["setting"].unique():
        group = of_setting.get(setting)
        wide = pd.DataFrame() if group is None else group.pivot(index="line", columns="metric", values="score")
        if len(wide) < 3 or wide.shape[1] < 2:
            notes.append(f"No rank agreement in {setting}: it needs three methods and two metrics.")
            continue
        found = rank_agreement({name: wide[name].tolist() for name in metrics if name in wide.columns})
        for (i, first), (j, second) in itertools.combinations(enumerate(found.metrics), 2):
            both = {"tau": float(found.tau[i, j]), "p": float(found.p[i, j]), "methods": int(found.methods[i, j])}
            if both["methods"] > 2:
                rows.append({"setting": setting, "first": first, "second": second} | both)
    return pd.DataFrame(rows, columns=["setting", "first", "second", "tau", "p", "methods"]), notes


def _scores(methods: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """One row a setting, line and metric: how good it is, larger is better, as a mean over training seeds; NaN where there is no gap."""
    parts = []
    for name in dict.fromkeys(metrics):
        card = catalog.metric(name)
        mine = methods[methods["metric"] == name]
        if score_of(card):
            parts.append(mine.assign(score=-_score(mine, card)))
    every = pd.concat(parts, ignore_index=True) if parts else methods.iloc[:0].assign(score=0.0)
    return every.groupby(["setting", "line", "metric"], sort=False, as_index=False)["score"].mean()


def _mean_tau(taus: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """Mean τ over settings, metrics by metrics; NaN where no setting tells."""
    present = set(taus["first"].unique()) | set(taus["second"].unique())
    names = [name for name in dict.fromkeys(metrics) if name in present]
    place = {name: number for number, name in enumerate(names)}
    square = np.where(np.eye(len(names)) == 1, 1.0, np.nan)
    for (first, second), tau in taus.groupby(["first", "second"])["tau"].mean().items():
        square[place[first], place[second]] = square[place[second], place[first]] = tau
    return pd.DataFrame(square, index=names, columns=names)


# -- values that should not be where they are


def suspicions(summaries: pd.DataFrame, values: pd.DataFrame) -> tuple[Suspicion, ...]:
    """Methods whose value leaves the range of original and Retrain, where that is suspicious (specification of metrics, section 10).

    Seed by seed, the excess over the nearer end of the range; flagged if the 95 % interval of its mean lies above `SMALLEST_EXCESS`.
    Membership attacks count only where their own accuracy is above a guess over the seeds. One seed gives no interval and no flag.
    """
    runs = label_runs(summaries)
    return _suspicions(_watched(runs, values), runs) if len(runs) else ()


def _attacks() -> list[str]:
    ids = [card.id for card in catalog.metrics()]
    return [name for name in ids if f"{name}_attack_accuracy" in ids]


def _watched(runs: pd.DataFrame, values: pd.DataFrame) -> pd.DataFrame:
    return _seed_means(runs, values, [*_EXCESS, *_attacks(), *(f"{name}_attack_accuracy" for name in _attacks())])


def _suspicions(means: pd.DataFrame, runs: pd.DataFrame) -> tuple[Suspicion, ...]:
    each = ["metric", "setting", "line"]
    watched = means[(means["reference"] == "") & means["metric"].isin([*_EXCESS, *_attacks()])]
    for end in ("original", "retrain"):
        theirs = means.loc[means["reference"] == end, ["metric", "setting", "training_seed", "value"]]
        watched = watched.merge(theirs.rename(columns={"value": end}), on=["metric", "setting", "training_seed"])
    low, high = np.minimum(watched["original"], watched["retrain"]), np.maximum(watched["original"], watched["retrain"])
    groups = watched.assign(above=watched["value"] - high, below=low - watched["value"]).groupby(each, sort=False)
    sides = {side: _t_intervals(groups[side]) for side in ("above", "below")}
    levels = groups[["value", "original", "retrain"]].mean()
    # an attack that is not above a guess over the seeds says nothing
    tried = means[means["metric"].isin([f"{name}_attack_accuracy" for name in _attacks()])]
    works = _t_intervals(tried.groupby(each)["value"])
    guessed_right = set(works.index[works["low"] > 0.5])
    what = runs[~runs.duplicated(["setting", "line"])]
    told = dict(zip(zip(what["setting"], what["line"], strict=True), zip(what["method"], what["parameters"], strict=True), strict=True))
    past = {side: (found["low"] > SMALLEST_EXCESS).to_numpy() for side, found in sides.items()}
    numbers = {side: found[["mean", "seeds"]].to_numpy() for side, found in sides.items()}
    level = levels.to_numpy()
    found: dict[str, list[Suspicion]] = {}
    for place in np.nonzero(past["above"] | past["below"])[0]:  # no line is on both sides
        metric, setting, line = levels.index[place]
        side = "above" if past["above"][place] else "below"
        meaning = _EXCESS.get(metric, _ATTACK_EXCESS)[side == "below"]
        if not meaning or (metric not in _EXCESS and (f"{metric}_attack_accuracy", setting, line) not in guessed_right):
            continue
        value, original, retrain = (f"{100 * each:.1f} %" for each in level[place])
        excess, seeds = numbers[side][place]
        method, parameters = told[setting, line]
        sentence = (
            f"{catalog.metric(metric).title} of {line} in {setting} is {value}, {side} the range from {original} (original) and {retrain} "
            f"(retrain) by {100 * excess:.1f} points, more than {_count(int(seeds), 'training seed')} explain: {meaning}."
        )
        found.setdefault(metric, []).append(
            Suspicion(setting=setting, method=method, parameters=parameters, metric=metric, sentence=sentence)
        )
    return tuple(one for metric in [*_EXCESS, *_attacks()] for one in found.get(metric, []))


# -- sentences on what is missing


def _missing_notes(runs: pd.DataFrame, values: pd.DataFrame, card: MetricCard) -> list[str]:
    lost = values[(values["metric"] == card.id) & values["value"].isna()].merge(runs[["key", "setting", "line", "training_seed"]], on="key")
    return [
        f"{line} has no {card.id} in {setting}, training seed {seed}, and is left out there: {error}"
        for line, setting, seed, error in zip(lost["line"], lost["setting"], lost["training_seed"], lost["error"], strict=True)
    ]


def _status_notes(runs: pd.DataFrame) -> list[str]:
    counts = runs.loc[runs["status"] != "ok", "status"].value_counts()
    return [f"{_count(int(count), 'run')} {status}; the values count like the others'." for status, count in counts.items()]


def _seed_notes(mine: pd.DataFrame) -> list[str]:
    counts = mine.groupby(["setting", "line"])["value"].count().to_numpy()
    alone = int((counts == 1).sum())
    lost = "neither spread nor interval, and nothing to tell a suspicious value by"
    if alone == len(counts):
        return [f"One training seed: {lost}. Run more with --seeds 0-2."]
    return [f"{alone} of {len(counts)} rows have one training seed: {lost}."] if alone else []


def _bound_notes(intervals: pd.DataFrame, card: MetricCard) -> list[str]:
    low, high = -math.inf if card.low is None else card.low, math.inf if card.high is None else card.high
    past = (intervals["low"] < low - 1e-9) | (intervals["high"] > high + 1e-9)
    few = "a t interval knows no bounds, and few seeds make it wide"
    return [f"Some intervals reach past the range of {card.id}: {few}."] if past.any() else []


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
