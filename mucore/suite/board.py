"""What packs say side by side: each line with its verdict, its distance to Retrain and its cost.
Numbers only; `frames` makes tables of them. Imports no torch.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from mucore.errors import BadFile
from mucore.runs import REFERENCES
from mucore.statistics.significance import Interval, Ranking, average_ranks, t_interval
from mucore.store import Store
from mucore.store.records import Result
from mucore.suite.description import Suite, Task, check
from mucore.suite.lines import methods_of, runs_of
from mucore.suite.pack import Pack, TunedSetting, pack_of, place_of
from mucore.suite.scores import noise, scores_of, values_of
from mucore.tuning.plan import SLACK
from mucore.verdicts import Verdict, judge, looked_at, rules_of

NO_REFERENCES = "It needs a run of its original and of its Retrain."
NO_METHOD = "No method has a run here."
NO_SCORE = (
    "No distance: that takes two Retrains, one of them of the run's seed, with all numbers of the "
    "verdict."
)
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


@dataclass(frozen=True, kw_only=True)
class Board:
    suite: Suite
    divisions: tuple[Division, ...]
    packs: tuple[tuple[str, Mapping[str, Any]], ...]  # name and pack.json
    absent: tuple[str, ...] = ()  # divisions of the suite that have no table


def board(packs: Sequence[tuple[str, Pack]]) -> Board:
    """Of opened packs with their names, tuned settings first; what strangers wrote is verified
    before. Raises `BadFile` where they are of more than one suite, or have a method twice.
    """
    suite = suite_of(packs)
    found = []
    for name in sorted(suite.divisions, key=lambda name: name != "tuned"):
        mine = [pack for _, pack in packs if pack.division == name]
        counts = Counter(m for pack in mine for m in pack.methods if m not in REFERENCES)
        if counts and max(counts.values()) > 1:
            raise BadFile(
                f"Several packs of the division {name} have {counts.most_common(1)[0][0]}, and a "
                "board has each method once. Leave a pack out."
            )
        made = [(task, _table(suite, task, mine)) for task in suite.tasks]
        tables = tuple(table for _, table in made if isinstance(table, Table))
        absent = tuple((task, table) for task, table in made if isinstance(table, str))
        found.append(Division(name=name, tables=tables, absent=absent))
    return Board(
        suite=suite,
        divisions=tuple(division for division in found if division.tables),
        packs=tuple((label, pack.about) for label, pack in packs),
        absent=tuple(division.name for division in found if not division.tables),
    )


def suite_of(packs: Sequence[tuple[str, Pack]]) -> Suite:
    """The suite of opened packs with their names. Raises `BadFile` where there are several."""
    suites = {pack.suite.hash: pack.suite for _, pack in packs}
    if len(suites) != 1:
        names = " and ".join(f"{suite.id} ({suite.hash})" for suite in suites.values())
        raise BadFile(f"A board is of one suite, but these packs are of {names}. Make one of each.")
    (suite,) = suites.values()
    return suite


def without(division: Division, methods: Collection[str]) -> Division:
    """The division as it were if nobody had run these methods."""
    tables = (
        replace(table, lines=tuple(x for x in table.lines if x.method not in methods))
        for table in division.tables
    )
    return replace(division, tables=tuple(tables))


def _table(suite: Suite, task: Task, packs: Sequence[Pack]) -> Table | str:
    """Why there is none where a task cannot be judged."""
    lines = sorted((x for pack in packs for x in _lines(suite, task, pack)), key=lambda x: x.place)
    retrain, original = (
        next((line for line in lines if line.method == name and line.runs), None)
        for name in ("retrain", "original")
    )
    if retrain is None or original is None:
        return NO_REFERENCES
    methods = tuple(line for line in lines if line.method not in REFERENCES)
    if not any(line.runs for line in methods):
        return NO_METHOD
    metrics = rules_of(task.scenario).metrics
    band, floor = noise(retrain.runs, metrics)
    return Table(
        task=task,
        metrics=metrics,
        lines=methods,
        retrain=retrain,
        original=original,
        band=band,
        floor=floor,
    )


def _lines(suite: Suite, task: Task, pack: Pack) -> Iterator[Line]:
    """A line a method of the pack, also where it has no run."""
    mine = {
        result.key: result
        for result in pack.results.values()
        if (result.spec["dataset"], result.spec["scenario"]) == (task.dataset, task.scenario)
    }
    retrains = {place_of(r)[2]: r for r in mine.values() if r.spec["method"] == "retrain"}
    reasons = _reasons(pack, task)
    judged = {each.method: each for each in judge(mine.values())}
    for method in dict.fromkeys((*judged, *pack.methods)):
        line = Line(method=method, reason=reasons.get(method, ""))
        if (found := judged.get(method)) is not None:
            runs = {mine[key].spec["training_seed"]: mine[key] for key in found.keys}
            scores = scores_of(runs, retrains, task.scenario)
            line = replace(
                line,
                verdict=found.verdict,
                sound=found.sound,
                runs=dict(sorted(runs.items())),
                scores=scores,
                reason=" ".join(filter(None, [line.reason, "" if scores else NO_SCORE])),
            )
        setting = pack.settings.get(task.scenario, {}).get(method)
        yield replace(line, marks=tuple(_marks(suite, line, setting))) if setting else line


def _reasons(pack: Pack, task: Task) -> dict[str, str]:
    """By method why it lacks runs, each reason once with the seeds that it is of."""
    seeds: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for each in pack.missing:
        if each.scenario == task.scenario:
            seeds[each.method][each.reason] += [] if each.seed is None else [each.seed]
    return {
        method: " ".join(
            f"Seeds {', '.join(map(str, found))}: {reason}" if found else reason
            for reason, found in reasons.items()
        )
        for method, reasons in seeds.items()
    }


def _marks(suite: Suite, line: Line, setting: TunedSetting) -> Iterator[str]:
    """Where the search or the work of a tuned line was another than the suite asks for."""
    work = line.work
    if work is not None and work > SLACK * suite.cap:
        yield f"It took {work:.2g} of Retrain's work, where a trial may take {suite.cap:.2g}."
    if setting.open:
        yield "Its search is open: the method can do nothing for the work that others may take."
    elif abs(setting.cap - suite.cap) > 1e-3:
        yield f"A trial of its search might take {setting.cap:.2g} of Retrain's work."
    if setting.trials != suite.trials:
        yield f"Its setting was found in {setting.trials} trials, not {suite.trials}."


def board_of(suite: Suite, store: Store) -> Board | None:
    """The board of what a store has of a suite; None where it has nothing. The `about` of each
    division says how many runs are `asked` for and how many are `there`.

    Raises `MucoreError` where this mucore would give other results than the suite asks for, or the
    store's are of other data.
    """
    check(suite)
    found = []
    for name in suite.divisions:
        runs = runs_of(suite, name, methods_of(["all"], suite.methods))
        pack = pack_of(suite, name, runs, store, metrics=looked_at() | {WORK})
        if any(spec.method not in REFERENCES for spec in pack.specs.values()):
            found.append((name, pack))
    return board(found) if found else None
