"""What a board is made of: lines of methods, tables of tasks, divisions. Imports no torch."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from mucore.statistics.significance import Interval, Ranking, average_ranks, t_interval
from mucore.store.rows import Result
from mucore.suite.description import Task
from mucore.suite.scores import values_of
from mucore.verdicts import Verdict

WORK = "rte_work"
FEWEST_SEEDS = 3  # of a line that stands beside others: of fewer no mean has a useful interval
# Groups of lines, in the order of a table: what may be chosen, then what may not, and why.
GROUPS = ("forgot", "unsound", "unclear", "off", "nothing", "damaged", "baseline", "missing")
_GROUP_OF = {"too little": "off", "too much": "off", "did nothing": "nothing", "damaged": "damaged"}


@dataclass(frozen=True, kw_only=True)
class Line:
    """A method under a task: `runs` by training seed, `scores` of those that have one. `reason`
    says why a line is missing, in part or altogether; `marks`, sentences, where the search or the
    work of a tuned one was another than the suite asks for.
    """

    method: str
    verdict: Verdict | None = None
    sound: bool = True
    runs: Mapping[int, Result] = field(default_factory=dict)
    scores: Mapping[int, float] = field(default_factory=dict)
    reason: str = ""
    marks: tuple[str, ...] = ()

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
    def rival(self) -> bool:
        """Whether it is a method's that ran."""
        return self.group not in ("missing", "baseline")

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
    def place(self) -> tuple[Any, ...]:
        score, work = self.score, self.work
        return (
            GROUPS.index(self.group),
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

    task: Task
    metrics: tuple[str, ...]
    lines: tuple[Line, ...]
    retrain: Line
    original: Line
    band: Mapping[str, tuple[float, float]]
    floor: float | None

    @property
    def telling(self) -> bool:
        """Whether verdicts say who forgot: not where Original and Retrain lie so near to each other
        that they say it of none. Damage is seen whatever else can be.
        """
        words = {line.verdict.word for line in self.lines if line.rival and line.verdict}
        words -= {"damaged"}
        return not words or not words <= {"nothing to forget", "cannot tell"}

    def line(self, method: str) -> Line | None:
        return next((line for line in self.lines if line.method == method), None)

    @property
    def compared(self) -> dict[str, float]:
        """The mean scores that ranks compare: of no baseline, and of no line of fewer seeds than
        `FEWEST_SEEDS`, or than the fullest has where that is less, for its luck might rank it.
        """
        scored = [line for line in self.lines if line.scores and line.group != "baseline"]
        least = min(FEWEST_SEEDS, max((len(line.scores) for line in scored), default=0))
        return {
            line.method: line.score.mean
            for line in scored
            if line.score is not None and line.score.n >= least
        }


@dataclass(frozen=True, kw_only=True)
class Division:
    """The tables of a division; `absent` are the tasks that have none, and why."""

    name: str
    tables: tuple[Table, ...]
    absent: tuple[tuple[Task, str], ...] = ()

    @property
    def telling(self) -> tuple[Table, ...]:
        """The tables that say who forgot."""
        return tuple(table for table in self.tables if table.telling)

    @cached_property
    def ranking(self) -> Ranking | None:
        """Of the methods that have a score in each of these: three in two tables at least."""
        columns = [table.compared for table in self.telling]
        if len(columns) < 2:
            return None
        whole = [name for name in columns[0] if all(name in column for column in columns)]
        if len(whole) < 3:
            return None
        return average_ranks({name: [column[name] for column in columns] for name in whole})

    @property
    def methods(self) -> dict[str, bool]:
        """The methods that ran, and whether it is a baseline that cheats."""
        lines = itertools.chain.from_iterable(table.lines for table in self.tables)
        return {line.method: line.group == "baseline" for line in lines if line.verdict}

    @property
    def everywhere(self) -> tuple[str, ...]:
        """The methods that have a verdict in every table that says who forgot."""
        judged = [{line.method for line in table.lines if line.rival} for table in self.telling]
        return tuple(name for name in self.forgot() if all(name in each for each in judged))

    def forgot(self, *, shown: bool | None = None) -> dict[str, int]:
        """By method that ran, in how many tables it forgot; with `shown` in how many that is shown,
        or an indication alone.
        """
        return {
            method: sum(
                line.group == "forgot"
                and (shown is None or (line.verdict is not None and line.verdict.shown == shown))
                for table in self.tables
                if (line := table.line(method)) is not None
            )
            for method, cheats in self.methods.items()
            if not cheats
        }
