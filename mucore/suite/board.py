"""What packs say side by side: each line with its verdict, its distance to Retrain, its cost, and
what separates the best from the next. Numbers only; `site` draws them. Imports no torch.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mucore import catalog
from mucore.errors import BadFile, UnknownName
from mucore.spec import settings
from mucore.statistics.significance import (
    LEVEL,
    Interval,
    Pair,
    Ranking,
    average_ranks,
    holm,
    t_interval,
    wilcoxon_holm,
)
from mucore.store.rows import Result
from mucore.suite.description import Suite, Task
from mucore.suite.lines import REFERENCES
from mucore.suite.pack import Pack, TunedSetting, place_of
from mucore.suite.scores import complete, noise, paired_p, scores_of, values_of
from mucore.tuning.wish import SLACK
from mucore.verdicts import Verdict, judge, rules_of

WORK = "rte_work"
NO_RUN = "Nothing of it is there."
NO_TABLE = "No task has both its original and its Retrain, so nothing can be judged."
FEWEST_SEEDS = 3  # of a line that stands beside others: of fewer no mean has a useful interval
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


@dataclass(frozen=True)
class Mark:
    """What sets a tuned line apart from the others' equal means: a few words, and a sentence."""

    short: str
    sentence: str


@dataclass(frozen=True, kw_only=True)
class Line:
    """A method under a task: `runs` by training seed, `scores` of those that have one. `reason`
    says why a line is missing, in part or altogether. Of the division `tuned`, `setting` is what
    the pack says of the line's setting, and `marks` where its search or its work was another than
    the suite asks for.
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
    setting: TunedSetting | None = None
    marks: tuple[Mark, ...] = ()

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

    @property
    def words(self) -> set[str]:
        """What verdicts say of its methods, damage aside, which is seen whatever else can be."""
        there = (line for line in self.lines if line.group not in ("baseline", "missing"))
        return {line.verdict.word for line in there if line.verdict} - {"damaged"}

    @property
    def telling(self) -> bool:
        """Whether verdicts say who forgot: not where Original and Retrain lie so near to each other
        that they say it of none.
        """
        return not self.words or not self.words <= {"nothing to forget", "cannot tell"}

    @property
    def unsure(self) -> frozenset[str]:
        """The methods that forgot, but none of whose lines did so for certain."""
        forgot = [line for line in self.lines if line.group == "forgot" and line.verdict]
        certain = {x.method for x in forgot if x.verdict and not x.verdict.provisional}
        return frozenset(line.method for line in forgot) - certain

    @property
    def compared(self) -> tuple[Line, ...]:
        """The lines that ranks compare: no baseline, and none of too few seeds."""
        return _compared([line for line in self.lines if line.group != "baseline"])


@dataclass(frozen=True, kw_only=True)
class Division:
    """The tables of a division. Over those that say who forgot: average ranks of the methods that
    have a score in all, and paired tests of every two of these over `blocks`, the training seeds
    of the tasks that all of them have. `absent` are the tasks that have no table, and why.
    """

    name: str
    tables: tuple[Table, ...]
    ranking: Ranking | None
    pairs: tuple[Pair, ...] = ()
    blocks: int = 0
    absent: tuple[tuple[Task, str], ...] = ()

    @property
    def baselines(self) -> tuple[str, ...]:
        """The methods among its lines that are baselines that cheat."""
        lines = itertools.chain.from_iterable(table.lines for table in self.tables)
        return tuple(dict.fromkeys(x.method for x in lines if x.group == "baseline"))

    def unscored(self, method: str) -> list[tuple[Task, str]]:
        """The tasks in which a method has no score, so that it has no average rank, and why."""
        found = []
        for table in self.telling:
            lines = [line for line in table.lines if line.method == method]
            if not any(line.scores for line in lines):
                found.append((table.task, lines[0].reason if lines else "It is in no pack."))
        return found

    def doubled(self, method: str) -> list[Task]:
        """The tasks in which several packs have a score of a method, so that it has no average
        rank.
        """
        return [
            table.task
            for table in self.telling
            if sum(bool(line.scores) for line in table.lines if line.method == method) > 1
        ]

    def sparse(self, method: str) -> list[Task]:
        """The tasks in which a method has scores of too few seeds to stand beside others."""
        return [
            table.task
            for table in self.telling
            if any(line.scores for line in table.lines if line.method == method)
            and all(line.method != method for line in table.compared)
        ]

    @property
    def telling(self) -> tuple[Table, ...]:
        """The tables that say who forgot."""
        return tuple(table for table in self.tables if table.telling)

    @property
    def everywhere(self) -> tuple[str, ...]:
        """The methods that have a verdict in every table that says who forgot."""
        judged = [
            {line.method for line in table.lines if line.group not in ("missing", "baseline")}
            for table in self.telling
        ]
        return tuple(name for name in self.forgot() if all(name in each for each in judged))

    def unsure(self, method: str) -> bool:
        """Whether more seeds may yet say otherwise where the method forgot."""
        return any(method in table.unsure for table in self.tables)

    def forgot(self) -> dict[str, int]:
        """By method, in how many tables it forgot, by one of its lines where several packs have
        it; those that are nowhere but missing left out, and a baseline that cheats, which is no
        method.
        """
        counts: dict[str, int] = {}
        for table in self.tables:
            there = [line for line in table.lines if line.group not in ("missing", "baseline")]
            forgot = {line.method for line in there if line.group == "forgot"}
            for method in dict.fromkeys(line.method for line in there):
                counts[method] = counts.get(method, 0) + (method in forgot)
        return counts


@dataclass(frozen=True, kw_only=True)
class Board:
    suite: Suite
    divisions: tuple[Division, ...]
    packs: tuple[tuple[str, Mapping[str, Any]], ...]  # name and pack.json
    # divisions of the suite that have no table, and why
    absent: tuple[tuple[str, str], ...] = ()


def board(packs: Sequence[tuple[str, Pack]]) -> Board:
    """Of opened packs with their names, tuned settings first; what strangers wrote is verified
    before. Raises `BadFile` where they are of more than one suite.
    """
    suite = suite_of(packs)
    found, absent = [], []
    for name in sorted(suite.divisions, key=lambda name: name != "tuned"):
        mine = [(label, pack) for label, pack in packs if pack.division == name]
        tables = {task.id: _table(suite, task, name, mine) for task in suite.tasks}
        made = [table for table in tables.values() if table is not None]
        # a task that no method has run says nothing of any, as of tuned ones where nobody searched
        there = [table for table in made if any(line.runs for line in table.lines)] or made
        if there:
            judged = {table.task.id for table in there}
            lacking = [
                (task, _no_table(mine, task) if table is None else _no_line(table))
                for task in suite.tasks
                if task.id not in judged
                for table in [tables[task.id]]
            ]
            found.append(_division(name, tuple(there), tuple(lacking)))
        else:
            absent.append((name, NO_TABLE if mine else NO_RUN))
    about = tuple((label, pack.about) for label, pack in packs)
    return Board(suite=suite, divisions=tuple(found), packs=about, absent=tuple(absent))


def suite_of(packs: Sequence[tuple[str, Pack]]) -> Suite:
    """The suite of opened packs with their names. Raises `BadFile` where there are several."""
    suites = {pack.suite.hash: pack.suite for _, pack in packs}
    if len(suites) != 1:
        names = " and ".join(f"{suite.id} ({suite.hash})" for suite in suites.values())
        raise BadFile(f"A board is of one suite, but these packs are of {names}. Make one of each.")
    (suite,) = suites.values()
    return suite


def _no_table(packs: Sequence[tuple[str, Pack]], task: Task) -> str:
    """Why a task cannot be judged: what became of its Retrain and its original."""
    there = {result.spec["method"] for _, pack in packs for result in _of(task, pack)}
    found: dict[str, list[str]] = {}
    for method in ("retrain", "original"):
        if method not in there:
            reasons = [_reason(pack, task, method, some=False) for _, pack in packs]
            reason = next(filter(None, reasons), "It is in no pack.")
            found.setdefault(reason, []).append(title_of(method))
    return " ".join(
        f"{' and '.join(titles)}: {reason if len(titles) == 1 else _of_both(reason)}"
        for reason, titles in found.items()
    )


def _of_both(reason: str) -> str:
    return reason.replace("It was ", "They were ").replace("It is ", "They are ")


def _no_line(table: Table) -> str:
    """Why a task that has its references cannot be judged either: the reason of most methods."""
    reasons = Counter(line.reason for line in table.lines if line.reason).most_common(1)
    told = [f"{count} of {len(table.lines)} methods: {reason}" for reason, count in reasons]
    return " ".join(["No method has a run here.", *told])


def _of(task: Task, pack: Pack) -> list[Result]:
    return [
        result
        for result in pack.results.values()
        if (result.spec["dataset"], result.spec["scenario"]) == (task.dataset, task.scenario)
    ]


def without(division: Division, methods: Collection[str]) -> Division:
    """The division as it were if nobody had run these methods: best ones and ranks are those of
    the others.
    """
    tables = []
    for table in division.tables:
        lines = tuple(line for line in table.lines if line.method not in methods)
        best, alike = _best([line for line in lines if line.group == "forgot"])
        tables.append(replace(table, lines=lines, best=best, alike=alike))
    return _division(division.name, tuple(tables), division.absent)


def _division(
    name: str, tables: tuple[Table, ...], absent: tuple[tuple[Task, str], ...] = ()
) -> Division:
    telling = [table for table in tables if table.telling]
    ranking = _ranking(telling)
    pairs, blocks = _pairs(telling, ranking)
    return Division(
        name=name, tables=tables, ranking=ranking, pairs=pairs, blocks=blocks, absent=absent
    )


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
    band, floor = noise(retrain.runs, metrics)
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
    mine = _of(task, pack)
    retrains = {place_of(r)[2]: r for r in mine if r.spec["method"] == "retrain"}
    by_key = {result.key: result for result in mine}
    made = []
    for judged in judge(mine):
        runs = {by_key[key].spec["training_seed"]: by_key[key] for key in judged.keys}
        scores = scores_of(runs, retrains, task.scenario)
        lacks = _reason(pack, task, judged.method, some=True)
        why = [lacks, "" if scores else _no_score(retrains, task)]
        line = Line(
            division=pack.division,
            task=task,
            method=judged.method,
            pack=label,
            verdict=judged.verdict,
            sound=judged.sound,
            runs=dict(sorted(runs.items())),
            scores=scores,
            reason=" ".join(filter(None, why)),
        )
        made.append(line)
    there = {line.method for line in made}
    made += [
        Line(
            division=pack.division,
            task=task,
            method=method,
            pack=label,
            reason=_reason(pack, task, method, some=False) or "It is not in the pack.",
        )
        for method in pack.methods
        if method not in there
    ]
    return [_marked(line, suite, pack.settings.get(task.scenario, {})) for line in made]


def _marked(line: Line, suite: Suite, settings: Mapping[str, TunedSetting]) -> Line:
    """The line with its setting and the marks of its division."""
    if line.division != "tuned" or line.method in REFERENCES:
        return line
    setting, work = settings.get(line.method), line.work
    marks = []
    if work is not None and work > SLACK * suite.cap:
        words = f"{work:.2g} of Retrain's work, where a trial may take {suite.cap:.2g}"
        marks.append(Mark("over the cap of work", f"It took {words}."))
    if setting is not None and setting.open:
        rule = "the method can do nothing for the work that others may take"
        marks.append(Mark("open", f"Its search is open: {rule}."))
    elif setting is not None and setting.cap is not None and abs(setting.cap - suite.cap) > 1e-3:
        words = f"{setting.cap:.2g} of Retrain's work, where the suite asks for {suite.cap:.2g}"
        marks.append(
            Mark(f"cap of {setting.cap:.2g}", f"In its search a trial might take {words}.")
        )
    if setting is not None and setting.trials != suite.trials:
        words = f"{setting.trials} trials, where the suite asks for {suite.trials}"
        marks.append(Mark(f"{setting.trials} trials", f"Its setting was found in {words}."))
    return replace(line, setting=setting, marks=tuple(marks))


def _reason(pack: Pack, task: Task, method: str, *, some: bool) -> str:
    """Why a line lacks runs, each reason once; with the seeds that it is of, where it has `some`
    runs or several reasons.
    """
    seeds: dict[str, list[int]] = {}
    for each in pack.missing:
        if (each.scenario, each.method) == (task.scenario, method):
            seeds.setdefault(each.reason, []).extend([] if each.seed is None else [each.seed])
    if len(seeds) < 2 and not some:
        return " ".join(seeds)
    return " ".join(f"{_named(found)}{reason}" for reason, found in seeds.items())


def _named(seeds: Sequence[int]) -> str:
    if not seeds:
        return ""
    return f"Seed{'s' if len(seeds) > 1 else ''} {', '.join(map(str, sorted(seeds)))}: "


def _no_score(retrains: Mapping[int, Result], task: Task) -> str:
    """Why a line that has runs has no distance to Retrain."""
    names = rules_of(task.scenario).metrics
    count, listed = (
        len(complete(retrains, names)),
        ", ".join(catalog.metric(x).short for x in names),
    )
    if count < 2:
        return (
            "No distance: its unit is how far two Retrains lie apart, and "
            f"{'one alone' if count else 'none'} has all of {listed}."
        )
    return f"No distance: none of its runs has all of {listed} and a Retrain of the same seed."


def _best(lines: Sequence[Line]) -> tuple[str | None, tuple[str, ...]]:
    """The one line whose score is lower than each other's on the seeds that both have, by paired t
    tests with Holm's correction; else the lowest and those that cannot be told from it. A line of
    too few seeds is never the lowest, but may be one of those.
    """
    first = next(iter(_compared(lines)), None)
    if first is None:
        return None, ()
    others = [line for line in lines if line.scores and line is not first]
    p = holm([_lower(first.scores, other.scores) for other in others]) if others else ()
    alike = [other.method for other, each in zip(others, p, strict=True) if each > 1 - LEVEL]
    return (first.method, ()) if not alike else (None, (first.method, *alike))


def _compared(lines: Sequence[Line]) -> tuple[Line, ...]:
    """The lines with scores of `FEWEST_SEEDS`, or of as many as the fullest has where that is less:
    one of a single seed would be called nearest for its luck, and leave tests few shared seeds.
    """
    least = min(FEWEST_SEEDS, max((len(line.scores) for line in lines), default=0))
    return tuple(line for line in lines if line.scores and len(line.scores) >= least)


def _lower(one: Mapping[int, float], other: Mapping[int, float]) -> float:
    """`paired_p`, and 1 where it is the other whose mean is lower on the seeds that both have."""
    shared = [seed for seed in one if seed in other]
    if sum(one[seed] - other[seed] for seed in shared) >= 0:
        return 1.0
    return paired_p(one, other)


def _ranking(tables: Sequence[Table]) -> Ranking | None:
    """Of the methods that have one scored line in every table."""
    columns = [_scored_once(table) for table in tables]
    if len(columns) < 2:
        return None
    whole = [name for name in columns[0] if all(name in column for column in columns)]
    if len(whole) < 3:
        return None
    scores = {name: [column[name] for column in columns] for name in whole}
    return average_ranks(scores, higher_is_better=False)


def _scored_once(table: Table) -> dict[str, float]:
    """The mean scores of a table by method; without those that several packs have a score of."""
    found: dict[str, list[float]] = {}
    for line in table.compared:
        if (score := line.score) is not None:
            found.setdefault(line.method, []).append(score.mean)
    return {name: scores[0] for name, scores in found.items() if len(scores) == 1}


def _pairs(tables: Sequence[Table], ranking: Ranking | None) -> tuple[tuple[Pair, ...], int]:
    """Wilcoxon's signed-rank test of every two ranked methods over the seeds of all tasks that
    every one of them has a score of, with Holm's correction; and how many of these blocks there
    are. No pairs below two.
    """
    if ranking is None:
        return (), 0
    columns: dict[str, dict[tuple[str, int], float]] = {name: {} for name in ranking.ranks}
    for table in tables:
        for line in table.lines:
            if line.method in columns:
                columns[line.method] |= {
                    (table.task.id, seed): score for seed, score in line.scores.items()
                }
    shared = sorted(set.intersection(*(set(column) for column in columns.values())))
    if len(shared) < 2:
        return (), len(shared)
    scores = {name: [column[block] for block in shared] for name, column in columns.items()}
    return wilcoxon_holm(scores), len(shared)


def title_of(method: str) -> str:
    """A method as people read it; one of somebody's own by its id."""
    try:
        return catalog.method(method).title
    except UnknownName:
        return method
