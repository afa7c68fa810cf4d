"""What packs say side by side: each line with its verdict, its distance to Retrain, its cost, and
what separates the best from the next. Numbers only; `site` draws them. Imports no torch.

The score of a line is that of searches (mucore/tuning/objective.py) on the numbers that its verdict
rests on, test data among them: the gaps to the Retrain of the same seed in units of how far two
Retrains lie apart. About 0.8 is another seed's Retrain.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy  # its parts load when they are named

from mucore import catalog
from mucore.errors import BadFile, UnknownName
from mucore.spec import settings
from mucore.statistics.significance import Interval, Ranking, average_ranks, holm, t_interval
from mucore.store.rows import Result
from mucore.suite.description import Suite, Task
from mucore.suite.lines import REFERENCES
from mucore.suite.pack import Pack, place_of
from mucore.tuning import objective
from mucore.verdicts import Verdict, judge, rules_of

WORK = "rte_work"
SIGNIFICANT = 0.05
# Groups of lines, in the order of a table: what may be chosen, then what may not, and why.
GROUPS = {
    "forgot": "Forgot",
    "unsound": "Forgot, but its runs did not end as planned",
    "unclear": "Cannot be told, or nothing to forget",
    "off": "Forgot too little or too much",
    "nothing": "Did nothing",
    "damaged": "Did damage",
    "baseline": "A baseline that cheats: no method, but what a metric must not be fooled by",
    "missing": "Missing",
}
_GROUP_OF = {
    "too little": "off",
    "too much": "off",
    "did nothing": "nothing",
    "damaged": "damaged",
}


@dataclass(frozen=True, kw_only=True)
class Line:
    """A method under a task: `runs` by training seed, `scores` of those that have one. `reason`
    says why a line is missing, in part or altogether.
    """

    division: str
    task: Task
    method: str
    pack: str  # name of the pack that it is from
    verdict: Verdict | None = None
    sound: bool = True
    runs: Mapping[int, Result] = field(default_factory=dict)
    scores: Mapping[int, float] = field(default_factory=dict)
    reason: str = ""
    over_cap: bool = False  # took more work than the division's settings may

    @property
    def group(self) -> str:
        if self.verdict is None:
            return "missing"
        if self.verdict.cheats:
            return "baseline"
        if self.verdict.qualified:
            return "forgot" if self.sound else "unsound"
        return _GROUP_OF.get(self.verdict.word, "unclear")

    @property
    def score(self) -> Interval | None:
        return t_interval([*self.scores.values()]) if self.scores else None

    @property
    def work(self) -> float | None:
        found = self.numbers(WORK)
        return float(np.mean([*found.values()])) if found else None

    def numbers(self, metric: str) -> dict[int, float]:
        """Its values by training seed, as far as there are any."""
        return values_of(self.runs, metric)

    @property
    def settings(self) -> dict[str, Any]:
        return settings(next(iter(self.runs.values())).spec) if self.runs else {}

    @property
    def _place(self) -> tuple[Any, ...]:
        score, work = self.score, self.work
        return (
            [*GROUPS].index(self.group),
            math.inf if score is None else score.mean,
            math.inf if work is None else work,
            self.method,
        )


@dataclass(frozen=True, kw_only=True)
class Table:
    """The lines of a task in a division, best first; `band` are the 2.5th and 97.5th percentile of
    the gaps of Retrain to Retrain of other seeds, by metric and for "score", whose mean is
    `floor`.
    """

    division: str
    task: Task
    metrics: tuple[str, ...]
    lines: tuple[Line, ...]
    retrain: Line
    original: Line
    band: Mapping[str, tuple[float, float]]
    floor: float | None
    best: str | None  # the one method whose score is lower than every other's that forgot
    alike: tuple[str, ...]  # else those that cannot be told apart, the lowest score first


@dataclass(frozen=True, kw_only=True)
class Division:
    """The tables of a division, and average ranks of the methods that have a score in all."""

    name: str
    tables: tuple[Table, ...]
    ranking: Ranking | None

    def forgot(self) -> dict[str, int]:
        """By method, in how many tables it forgot; those that are nowhere but missing left out."""
        counts: dict[str, int] = {}
        for line in itertools.chain.from_iterable(table.lines for table in self.tables):
            if line.group != "missing":
                counts[line.method] = counts.get(line.method, 0) + (line.group == "forgot")
        return counts


@dataclass(frozen=True, kw_only=True)
class Board:
    suite: Suite
    divisions: tuple[Division, ...]
    packs: tuple[tuple[str, Mapping[str, Any]], ...]  # name and pack.json


def board(packs: Sequence[tuple[str, Pack]]) -> Board:
    """Of opened packs with their names, tuned settings first. Raises `BadFile` where they are of
    more than one suite.
    """
    suites = {pack.suite.hash: pack.suite for _, pack in packs}
    if len(suites) != 1:
        names = " and ".join(f"{suite.id} ({suite.hash})" for suite in suites.values())
        raise BadFile(f"A board is of one suite, but these packs are of {names}. Make one of each.")
    (suite,) = suites.values()
    found = []
    for name in sorted(suite.divisions, key=lambda name: name != "tuned"):
        mine = [(label, pack) for label, pack in packs if pack.division == name]
        tables = [_table(suite, task, name, mine) for task in suite.tasks]
        there = tuple(table for table in tables if table is not None)
        if there:
            found.append(Division(name=name, tables=there, ranking=_ranking(there)))
    about = tuple((label, pack.about) for label, pack in packs)
    return Board(suite=suite, divisions=tuple(found), packs=about)


def values_of(runs: Mapping[int, Result], metric: str) -> dict[int, float]:
    return {
        seed: measured.value
        for seed, run in runs.items()
        if (measured := run.metrics.get(metric)) is not None and measured.value is not None
    }


def _table(
    suite: Suite, task: Task, division: str, packs: Sequence[tuple[str, Pack]]
) -> Table | None:
    """None where no pack has a Retrain and an original of the task."""
    lines: list[Line] = []
    for label, pack in packs:
        lines += _lines(suite, task, label, pack)
    retrain, original = (
        next((line for line in lines if line.method == name and line.runs), None)
        for name in ("retrain", "original")
    )
    if retrain is None or original is None:
        return None
    metrics = rules_of(task.scenario).metrics
    band, floor = _noise(retrain.runs, metrics)
    ordered = sorted((x for x in lines if x.method not in REFERENCES), key=lambda x: x._place)
    best, alike = _best([line for line in ordered if line.group == "forgot"])
    return Table(
        division=division,
        task=task,
        metrics=metrics,
        lines=tuple(ordered),
        retrain=retrain,
        original=original,
        band=band,
        floor=floor,
        best=best,
        alike=alike,
    )


def _lines(suite: Suite, task: Task, label: str, pack: Pack) -> list[Line]:
    mine = [
        result
        for result in pack.results.values()
        if (result.spec["dataset"], result.spec["scenario"]) == (task.dataset, task.scenario)
    ]
    retrains = {place_of(r)[2]: r for r in mine if r.spec["method"] == "retrain"}
    by_key = {result.key: result for result in mine}
    made = []
    for judged in judge(mine):
        runs = {by_key[key].spec["training_seed"]: by_key[key] for key in judged.keys}
        line = Line(
            division=pack.division,
            task=task,
            method=judged.method,
            pack=label,
            verdict=judged.verdict,
            sound=judged.sound,
            runs=dict(sorted(runs.items())),
            scores=_scores(runs, retrains, task.scenario),
            reason=_reason(pack, task, judged.method),
        )
        made.append(line)
    there = {line.method for line in made}
    made += [
        Line(
            division=pack.division,
            task=task,
            method=method,
            pack=label,
            reason=_reason(pack, task, method) or "It is not in the pack.",
        )
        for method in pack.methods
        if method not in there
    ]
    return [_capped(line, suite.cap) for line in made]


def _capped(line: Line, cap: float) -> Line:
    work = line.work
    return replace(line, over_cap=line.division == "tuned" and work is not None and work > cap)


def _reason(pack: Pack, task: Task, method: str) -> str:
    """Why a line lacks runs, each reason once."""
    found = [m for m in pack.missing if (m.scenario, m.method) == (task.scenario, method)]
    return " ".join(dict.fromkeys(each.reason for each in found))


def _scores(
    runs: Mapping[int, Result], retrains: Mapping[int, Result], scenario: str
) -> dict[int, float]:
    """By seed; empty where two Retrains make no spread yet, or a number is missing."""
    names = rules_of(scenario).metrics
    references, mine = _complete(retrains, names), _complete(runs, names)
    if len(references) < 2:
        return {}
    units = objective.units([*references.values()])
    return {
        seed: objective.score(
            {name: numbers[name] - references[seed][name] for name in names}, units, names
        )
        for seed, numbers in mine.items()
        if seed in references
    }


def _complete(runs: Mapping[int, Result], names: Iterable[str]) -> dict[int, dict[str, float]]:
    """The numbers `names` of the runs that have all of them, by seed."""
    columns = {name: values_of(runs, name) for name in names}
    return {
        seed: {name: values[seed] for name, values in columns.items()}
        for seed in runs
        if all(seed in values for values in columns.values())
    }


def _noise(
    retrains: Mapping[int, Result], names: Sequence[str]
) -> tuple[dict[str, tuple[float, float]], float | None]:
    """How far Retrains lie apart, over all ordered pairs of seeds: percentiles of each gap and of
    the score, and the mean score.
    """
    numbers = _complete(retrains, names)
    pairs = list(itertools.permutations(numbers.values(), 2))
    if not pairs:
        return {}, None
    units = objective.units([*numbers.values()])
    gaps = [{name: one[name] - other[name] for name in names} for one, other in pairs]
    scores = [objective.score(each, units, names) for each in gaps]
    columns = {name: [each[name] for each in gaps] for name in names} | {"score": scores}
    band = {
        name: (float(np.percentile(values, 2.5)), float(np.percentile(values, 97.5)))
        for name, values in columns.items()
    }
    return band, float(np.mean(scores))


def _best(lines: Sequence[Line]) -> tuple[str | None, tuple[str, ...]]:
    """The one line whose score is lower than each other's, by paired t tests over seeds with Holm's
    correction; else the lowest and those that cannot be told from it.
    """
    scored = [line for line in lines if line.scores]
    if not scored:
        return None, ()
    first, *others = scored
    p = holm([_paired_p(first.scores, other.scores) for other in others]) if others else ()
    alike = [other.method for other, each in zip(others, p, strict=True) if each > SIGNIFICANT]
    return (first.method, ()) if not alike else (None, (first.method, *alike))


def _paired_p(one: Mapping[int, float], other: Mapping[int, float]) -> float:
    """Two-sided p of the t test of paired differences; 1 where fewer than two seeds are shared."""
    d = np.array([one[seed] - other[seed] for seed in one if seed in other])
    if len(d) < 2:
        return 1.0
    error = float(d.std(ddof=1)) / len(d) ** 0.5
    if error == 0:
        return 0.0 if d.any() else 1.0
    return float(2 * scipy.special.stdtr(len(d) - 1, -abs(float(d.mean())) / error))


def _ranking(tables: Sequence[Table]) -> Ranking | None:
    """Of the methods that have one scored line in every table."""
    columns: dict[str, list[float]] = {}
    for table in tables:
        for line in table.lines:
            if line.group != "baseline" and (score := line.score) is not None:
                columns.setdefault(line.method, []).append(score.mean)
    whole = {name: values for name, values in columns.items() if len(values) == len(tables)}
    if len(whole) < 3 or len(tables) < 2:
        return None
    return average_ranks(whole, higher_is_better=False)


def title_of(method: str) -> str:
    """A method as people read it; one of somebody's own by its id."""
    try:
        return catalog.method(method).title
    except UnknownName:
        return method
