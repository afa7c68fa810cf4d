"""From stored results to verdicts: which runs make a line, which Retrains its band, and how far it
is from Retrain.

A line is a method with one set of effective parameters in one setting, over all its training seeds,
as in a results table. Repeats with another unlearning or evaluation seed are averaged inside their
training seed.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

import numpy as np

from mucore import catalog
from mucore.catalog.scenarios import PERSONS
from mucore.metrics.sanity import blind_attacks, is_collapsed
from mucore.store.records import Result
from mucore.store.result_rows import parameters_column, setting_columns
from mucore.store.results import Filters
from mucore.verdicts.rules import BESIDE, BLINDABLE, PROBE, Line, Rules, Spread, Verdict, verdict
from mucore.verdicts.rules import nearest as nearest_of

if TYPE_CHECKING:
    from mucore.store import Store

_ATTACK = BLINDABLE.removeprefix("mia_")
_CHEATS = frozenset(card.id for card in catalog.METHODS if card.cheats)
Seeds = Mapping[int, "_Numbers"]
K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One line of a setting: its runs, its verdict, and its distance to Retrain by training seed.

    `setting` holds dataset, model, recipe, scenario and scenario parameters, the latter as the JSON
    texts of `Store.summaries`; `verdict` is None for Retrain itself. `distances` are means of |gap
    to the Retrain of the same seed| over the metrics that decide (`rules_of(...).metrics`), in
    0..1; empty where one of these is missing. `sound` says that every run ended as planned: none
    diverged, gave its weights back as they were, or left its linear system above the tolerance.
    """

    setting: tuple[str, str, str, str, str]
    method: str
    parameters: str
    keys: tuple[str, ...]
    verdict: Verdict | None
    distances: Mapping[int, float]
    sound: bool = True

    @property
    def qualified(self) -> bool:
        """Whether the line may compete for "nearest", "best" or "cheapest": a method that forgot,
        in runs that all ended as planned.

        The verdict itself goes by numbers alone: what an unsolved run did to the network is what it
        did.
        """
        return (
            self.sound
            and self.method not in ("original", "retrain")
            and self.verdict is not None
            and self.verdict.qualified
        )

    @property
    def distance(self) -> float | None:
        """The mean of `distances`; None where there are none."""
        return float(np.mean([*self.distances.values()])) if self.distances else None


@dataclass(frozen=True, slots=True)
class Run:
    """What is asked of a result before its line is judged: `setting` with the hashes of the user's
    own data and weights behind its five texts, `values` of metrics that are not missing, whether
    the attack only guessed and the network collapsed; `counts` of a Retrain with the usual
    parameters alone.
    """

    key: str
    setting: tuple[str, ...]
    method: str
    parameters: str
    seed: int
    sound: bool
    values: Mapping[str, float]
    blind: bool
    collapsed: bool
    counts: Mapping[str, int] | None


@dataclass(frozen=True)
class _Numbers:
    """The runs of one training seed: means of their metrics, and whether the attack only guessed or
    the network collapsed in most.
    """

    values: Mapping[str, float]
    blind: bool
    collapsed: bool


@dataclass(frozen=True)
class _References:
    """Original and Retrain of a setting by training seed, the names of the metrics that are looked
    at, and what follows from them for every line.
    """

    original: Seeds
    retrain: Seeds
    rules: Rules
    names: Sequence[str]
    spreads: Mapping[str, Spread]


def rules_of(scenario: str, *, chance: float = 0.0) -> Rules:
    """The numbers that decide under a scenario. Raises `UnknownName`."""
    card = catalog.scenario(scenario)
    if card.poisons:
        return Rules(forgetting=("fa", "fa_true"), utility=("ta",), chance=chance, poisoned=True)
    if card.class_wise:
        return Rules(forgetting=("tfa", "fa"), utility=("ra", "tra"), chance=chance)
    if card.id in PERSONS:
        return Rules(forgetting=("fa", "forgetting_score"), utility=("ra", "ta"), chance=chance)
    return Rules(forgetting=("fa", BLINDABLE), utility=("ra", "ta"), chance=chance)


def looked_at() -> frozenset[str]:
    """The metrics that any verdict looks at: results for `judge` need no others."""
    every = (rules_of(card.id).metrics for card in catalog.scenarios())
    return frozenset(chain(BESIDE, *every))


def judge(results: Iterable[Result] | Iterable[Run]) -> tuple[Judged, ...]:
    """Every line of `results`, in the order of its first run. Trainings without a scenario are left
    out.

    The Retrains among `results` make the bands, so hand in all of a setting.
    """
    return tuple(
        each
        for setting, runs in _settings(results).items()
        for each in _judged(setting, runs, _line)
    )


def judge_runs(results: Iterable[Result]) -> dict[str, Judged]:
    """By key, every run of `results` as a line of its own: a verdict on one run, whose bands come
    from all Retrains among `results`.
    """
    found = (
        each
        for setting, runs in _settings(results).items()
        for each in _judged(setting, runs, _alone)
    )
    return {each.keys[0]: each for each in found}


def nearest(lines: Iterable[Judged]) -> list[Judged]:
    """Those that may be called nearest to Retrain, the nearest first (`rules.nearest`)."""
    return nearest_of((line for line in lines if line.qualified), lambda line: line.distance)


def judge_stored(store: Store, **filters: Unpack[Filters]) -> dict[str, Judged]:
    """`judge_runs` of the results that `filters` choose, with the original and all Retrains of
    their settings, chosen or not.
    """
    wanted = store.results(metrics=looked_at(), **filters)
    found = judge_runs({run.key: run for run in (*wanted, *references_of(store, wanted))}.values())
    return {run.key: found[run.key] for run in wanted if run.key in found}


def references_of(store: Store, wanted: Sequence[Result]) -> list[Result]:
    """The originals and all Retrains that the store has of the scenarios of `wanted`, with what
    verdicts look at and nothing else: `judge` tells settings apart.
    """
    if not wanted:
        return []
    where: Filters = {"method": ["original", "retrain"]}
    for name in ("dataset", "model", "scenario"):
        where[name] = sorted({run.spec[name] for run in wanted if run.spec.get("scenario")})
    return store.results(metrics=looked_at(), **where)


def _line(run: Run) -> tuple[str, str]:
    return run.method, run.parameters


def _alone(run: Run) -> str:
    return run.key


def _settings(results: Iterable[Result] | Iterable[Run]) -> dict[tuple[str, ...], list[Run]]:
    """The runs of each setting; other data or weights under one name are a setting of their own."""
    runs = (each if isinstance(each, Run) else run_of(each) for each in results)
    return _grouped((run for run in runs if run is not None), lambda run: run.setting)


def run_of(result: Result) -> Run | None:
    """None for a training without a scenario."""
    spec = result.spec
    if spec.get("scenario") is None:
        return None
    columns = setting_columns(spec)
    setting = (
        spec["dataset"],
        spec["model"],
        columns["recipe"],
        spec["scenario"],
        columns["scenario_parameters"],
        *(spec.get(name) or "" for name in ("data_hash", "original_hash", "pretrained_hash")),
    )
    usual = spec["method"] == "retrain" and _is_usual(spec["parameters"])
    return Run(
        key=result.key,
        setting=setting,
        method=spec["method"],
        parameters=parameters_column(spec),
        seed=spec["training_seed"],
        sound=result.status == "ok",
        values={name: m.value for name, m in result.metrics.items() if m.value is not None},
        blind=_ATTACK in blind_attacks(result.notes),
        collapsed=is_collapsed(result.flags),
        counts=sample_counts(result) if usual else None,
    )


def _grouped(runs: Iterable[Run], by: Callable[[Run], K]) -> dict[K, list[Run]]:
    """In the order of their first runs."""
    groups: dict[K, list[Run]] = {}
    for run in runs:
        groups.setdefault(by(run), []).append(run)
    return groups


def _judged(
    setting: tuple[str, ...], runs: Sequence[Run], line: Callable[[Run], Hashable]
) -> list[Judged]:
    rules = rules_of(setting[3])
    references = _references(rules, runs, (*rules.metrics, *BESIDE))
    made = []
    for group in _grouped(runs, line).values():
        mine = _by_seed(group, references.names)
        method, parameters = _line(group[0])
        made.append(
            Judged(
                setting=(setting[0], setting[1], setting[2], setting[3], setting[4]),
                method=method,
                parameters=parameters,
                keys=tuple(run.key for run in group),
                verdict=None
                if _is_retrain(group[0])
                else verdict(
                    replace(_compared(mine, references), cheats=method in _CHEATS),
                    references.spreads,
                    references.rules,
                ),
                distances=_distances(mine, references),
                sound=all(run.sound for run in group),
            )
        )
    return made


def _references(rules: Rules, runs: Sequence[Run], names: Sequence[str]) -> _References:
    original = _by_seed([run for run in runs if run.method == "original"], names)
    retrains = [run for run in runs if _is_retrain(run)]
    retrain = _by_seed(retrains, names)
    counts = retrains[0].counts or {} if retrains else {}
    rules = replace(rules, chance=1 / counts["classes"] if "classes" in counts else 0.0)
    spreads = {}
    for name in names:
        values = [each.values[name] for each in retrain.values() if name in each.values]
        if values:
            spreads[name] = Spread.of(values, samples=counts.get(name, counts.get("fa", 1)))
    return _References(original, retrain, rules, names, spreads)


def _is_retrain(run: Run) -> bool:
    return run.counts is not None


def _is_usual(parameters: Mapping[str, Any]) -> bool:
    """Whether Retrain has the parameters that make it a reference."""
    usual = {p.name: p.default for p in catalog.method("retrain").parameters}
    return usual | dict(parameters) == usual


def _by_seed(runs: Sequence[Run], names: Sequence[str]) -> dict[int, _Numbers]:
    groups = _grouped(runs, lambda run: run.seed)
    return {seed: _numbers(group, names) for seed, group in groups.items()}


def _numbers(runs: Sequence[Run], names: Sequence[str]) -> _Numbers:
    if len(runs) == 1:  # as most are
        values = {name: runs[0].values[name] for name in names if name in runs[0].values}
    else:
        found = {name: [run.values[name] for run in runs if name in run.values] for name in names}
        values = {name: statistics.fmean(each) for name, each in found.items() if each}
    return _Numbers(
        values=values,
        blind=_most(run.blind for run in runs),
        collapsed=_most(run.collapsed for run in runs),
    )


def _most(answers: Iterable[bool]) -> bool:
    said = list(answers)
    return 2 * sum(said) > len(said)


def _compared(mine: Seeds, references: _References) -> Line:
    """What is judged, of the training seeds that a line shares with both references."""
    paired = sorted(mine.keys() & references.retrain.keys() & references.original.keys())
    parts = (mine, references.original, references.retrain)
    values, original, retrain = (
        {
            name: [part[seed].values.get(name, math.nan) for seed in paired]
            for name in references.names
        }
        if paired
        else {}
        for part in parts
    )
    if not paired:  # say which of the two is missing
        original, retrain = (
            {"fa": [part[seed].values.get("fa", math.nan) for seed in mine if seed in part]}
            for part in parts[1:]
        )
    return Line(
        values=values,
        original=original,
        retrain=retrain,
        # a guess in any of the three is no evidence about the difference
        blind=any(_most(part[seed].blind for seed in paired) for part in parts),
        # where classes left, so that one is nearly all that stays, Retrain gives it to nearly all
        collapsed=_most(mine[seed].collapsed for seed in paired)
        and not _most(references.retrain[seed].collapsed for seed in paired),
    )


def _distances(mine: Seeds, references: _References) -> dict[int, float]:
    made = {}
    for seed in sorted(mine):
        if (retrain := references.retrain.get(seed)) is None:
            continue
        if any(
            name not in part.values
            for name in references.rules.metrics
            for part in (mine[seed], retrain)
        ):
            return {}
        gaps = [mine[seed].values[name] - retrain.values[name] for name in references.rules.metrics]
        made[seed] = float(np.mean(np.abs(gaps)))
    return made


def sample_counts(retrain: Result) -> dict[str, int]:
    """How many samples each accuracy of a setting is a share of, by metric, and the number of
    `classes`, from the counts of a Retrain.

    The forgotten classes are those that its retain set has no sample of. Attributes are problems of
    two classes.
    """
    tables = {split: np.asarray(counts) for split, counts in retrain.confusion.items()}
    counts = {
        "ra": retrain.retain_count,
        **dict.fromkeys(("fa", "fa_true", BLINDABLE, "forgetting_score"), retrain.forget_count),
    }
    test, retain = tables.get("test"), tables.get("retain")
    if test is None:
        return counts
    if test.ndim == 3:  # (A, 2, 2)
        return counts | {"ta": int(test[0].sum()), "classes": 2}
    counts |= {"ta": int(test.sum()), "classes": len(test)}
    if retain is not None:
        gone = retain.sum(axis=1) == 0
        counts |= {
            "tfa": int(test[gone].sum()),
            "tra": int(test[~gone].sum()),
            PROBE: int(test[gone].sum()),
        }
    return counts
