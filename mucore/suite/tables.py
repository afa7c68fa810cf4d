"""What a board is made of: lines of methods, tables of tasks, divisions. Imports no torch."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mucore.spec import settings
from mucore.statistics.significance import Interval, Pair, Ranking, t_interval
from mucore.store.rows import Result
from mucore.suite.description import Task
from mucore.suite.pack import TunedSetting
from mucore.suite.scores import values_of
from mucore.verdicts import Verdict

WORK = "rte_work"
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
_GROUP_OF = {"too little": "off", "too much": "off", "did nothing": "nothing", "damaged": "damaged"}


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
    def place(self) -> tuple[Any, ...]:
        score, work = self.score, self.work
        return (
            [*GROUPS].index(self.group),
            self.group == "forgot" and self.verdict is not None and self.verdict.order,
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
        """The methods that forgot, but none of whose lines is shown to have."""
        forgot = [line for line in self.lines if line.group == "forgot" and line.verdict]
        shown = {line.method for line in forgot if line.verdict and line.verdict.shown}
        return frozenset(line.method for line in forgot) - shown

    @property
    def compared(self) -> tuple[Line, ...]:
        """The lines that ranks compare: no baseline, and none of too few seeds."""
        return compared([line for line in self.lines if line.group != "baseline"])


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
        """The tasks in which ranks compare lines of a method from several packs, so that it has no
        average rank.
        """
        return [
            table.task
            for table in self.telling
            if sum(line.method == method for line in table.compared) > 1
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

    def unsure(self, method: str) -> int:
        """In how many tables it is an indication alone that the method forgot."""
        return sum(method in table.unsure for table in self.tables)

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


def compared(lines: Sequence[Line]) -> tuple[Line, ...]:
    """The lines with scores of `FEWEST_SEEDS`, or of as many as the fullest has where that is less:
    one of a single seed would be called nearest for its luck, and leave tests few shared seeds.
    """
    least = min(FEWEST_SEEDS, max((len(line.scores) for line in lines), default=0))
    return tuple(line for line in lines if line.scores and len(line.scores) >= least)
