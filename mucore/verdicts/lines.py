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
from typing import TYPE_CHECKING, Unpack

import numpy as np

from mucore import catalog
from mucore.catalog.metrics.persons import PERSONS
from mucore.metrics.sanity import blind_attacks, is_collapsed
from mucore.store.results import Filters, parameters_column, setting_columns
from mucore.store.rows import Result
from mucore.verdicts.rule import BLINDABLE, PROBE, Band, Line, Rules, Verdict, seed_band, verdict

if TYPE_CHECKING:
    from mucore.store import Store

_ATTACK = BLINDABLE.removeprefix("mia_")
_BESIDE = (PROBE, "asr")  # said beside a verdict, never decide one
Seeds = Mapping[int, "_Numbers"]


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
    distances: tuple[float, ...]
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
        return float(np.mean(self.distances)) if self.distances else None


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
    """Original and Retrain of a setting by training seed, and what follows from them for every
    line.
    """

    original: Seeds
    retrain: Seeds
    rules: Rules
    bands: Mapping[str, Band]


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
    return frozenset(chain(_BESIDE, *every))


def judge(results: Iterable[Result]) -> tuple[Judged, ...]:
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
        for each in _judged(setting, runs, lambda run: run.key)
    )
    return {each.keys[0]: each for each in found}


def judge_stored(store: Store, **filters: Unpack[Filters]) -> dict[str, Judged]:
    """`judge_runs` of the results that `filters` choose, with the original and all Retrains of
    their settings, chosen or not.
    """
    metrics = looked_at()
    wanted = store.results(metrics=metrics, brief=True, **filters)
    if not wanted:
        return {}
    where: Filters = {"method": ["original", "retrain"]}
    for name in ("dataset", "model", "scenario"):
        where[name] = sorted({run.spec[name] for run in wanted if run.spec.get("scenario")})
    references = store.results(metrics=metrics, brief=True, **where)
    found = judge_runs({run.key: run for run in (*wanted, *references)}.values())
    return {run.key: found[run.key] for run in wanted if run.key in found}


def _line(run: Result) -> tuple[str, str]:
    return run.spec["method"], parameters_column(run.spec)


def _settings(results: Iterable[Result]) -> dict[tuple[str, ...], list[Result]]:
    """The runs of each setting; other data or weights under one name are a setting of their own."""
    found: dict[tuple[str, ...], list[Result]] = {}
    texts: dict[str, dict[str, str]] = {}  # runs that differ in their seeds alone are many
    for result in results:
        spec = result.spec
        if spec.get("scenario") is None:
            continue
        said = repr([spec.get(name) for name in ("scenario_parameters", "after", "recipe")])
        if (columns := texts.get(said)) is None:
            columns = texts[said] = setting_columns(spec)
        names = (
            spec["dataset"],
            spec["model"],
            columns["recipe"],
            spec["scenario"],
            columns["scenario_parameters"],
        )
        hashes = (spec.get(name, "") for name in ("data_hash", "original_hash", "pretrained_hash"))
        found.setdefault((*names, *hashes), []).append(result)
    return found


def _judged(
    setting: tuple[str, ...], runs: Sequence[Result], line: Callable[[Result], Hashable]
) -> list[Judged]:
    rules = rules_of(setting[3])
    references = _references(rules, runs)
    groups: dict[Hashable, list[Result]] = {}
    for run in runs:
        groups.setdefault(line(run), []).append(run)
    made = []
    for group in groups.values():
        mine = _by_seed(group, rules)
        paired = [
            seed
            for seed in sorted(mine)
            if seed in references.retrain and seed in references.original
        ]
        method, parameters = _line(group[0])
        made.append(
            Judged(
                setting=(setting[0], setting[1], setting[2], setting[3], setting[4]),
                method=method,
                parameters=parameters,
                keys=tuple(run.key for run in group),
                verdict=None if _is_retrain(group[0]) else _verdict(mine, paired, references),
                distances=_distances(mine, references),
                sound=all(run.status == "ok" for run in group),
            )
        )
    return made


def _references(rules: Rules, runs: Sequence[Result]) -> _References:
    original = _by_seed([run for run in runs if run.spec["method"] == "original"], rules)
    retrains = [run for run in runs if _is_retrain(run)]
    retrain = _by_seed(retrains, rules)
    counts = _counts(retrains[0]) if retrains else {}
    rules = replace(rules, chance=1 / counts["classes"] if "classes" in counts else 0.0)
    bands = {}
    for name in (*rules.metrics, *_BESIDE):
        values = [each.values[name] for each in retrain.values() if name in each.values]
        if values:
            bands[name] = seed_band(
                values, value=float(np.mean(values)), samples=counts.get(name, counts.get("fa", 1))
            )
    return _References(original, retrain, rules, bands)


def _is_retrain(run: Result) -> bool:
    usual = {p.name: p.default for p in catalog.method("retrain").parameters}
    return run.spec["method"] == "retrain" and usual | dict(run.spec["parameters"]) == usual


def _by_seed(runs: Sequence[Result], rules: Rules) -> dict[int, _Numbers]:
    groups: dict[int, list[Result]] = {}
    for run in runs:
        groups.setdefault(run.spec["training_seed"], []).append(run)
    return {seed: _numbers(group, (*rules.metrics, *_BESIDE)) for seed, group in groups.items()}


def _numbers(runs: Sequence[Result], names: Sequence[str]) -> _Numbers:
    found = {
        name: [
            m.value
            for run in runs
            if (m := run.metrics.get(name)) is not None and m.value is not None
        ]
        for name in names
    }
    return _Numbers(
        values={name: statistics.fmean(values) for name, values in found.items() if values},
        blind=_most(_ATTACK in blind_attacks(run.notes) for run in runs),
        collapsed=_most(is_collapsed(run.flags) for run in runs),
    )


def _most(answers: Iterable[bool]) -> bool:
    said = list(answers)
    return 2 * sum(said) > len(said)


def _verdict(mine: Seeds, paired: Sequence[int], references: _References) -> Verdict:
    """Of the training seeds that the line shares with both references."""
    parts = (mine, references.original, references.retrain)
    names = (*references.rules.metrics, *_BESIDE)
    values, original, retrain = (
        {name: [part[seed].values.get(name, math.nan) for seed in paired] for name in names}
        if paired
        else {}
        for part in parts
    )
    if not paired:  # say which of the two is missing
        original, retrain = (
            {"fa": [each.values.get("fa", math.nan) for each in part.values()]}
            for part in parts[1:]
        )
    return verdict(
        Line(
            values=values,
            original=original,
            retrain=retrain,
            # a guess in any of the three is no evidence about the difference
            blind=any(_most(part[seed].blind for seed in paired) for part in parts),
            collapsed=_most(mine[seed].collapsed for seed in paired),
        ),
        references.bands,
        references.rules,
    )


def _distances(mine: Seeds, references: _References) -> tuple[float, ...]:
    made = []
    for seed in sorted(mine):
        if (retrain := references.retrain.get(seed)) is None:
            continue
        if any(
            name not in part.values
            for name in references.rules.metrics
            for part in (mine[seed], retrain)
        ):
            return ()
        gaps = [mine[seed].values[name] - retrain.values[name] for name in references.rules.metrics]
        made.append(float(np.mean(np.abs(gaps))))
    return tuple(made)


def _counts(retrain: Result) -> dict[str, int]:
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
