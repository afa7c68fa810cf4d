"""What packs say side by side: each line with its verdict, its distance to Retrain and its cost.
Numbers only; `frames` makes tables of them. Imports no torch.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mucore.errors import BadFile
from mucore.suite.description import Suite, Task
from mucore.suite.lines import REFERENCES
from mucore.suite.pack import Pack, TunedSetting, place_of
from mucore.suite.scores import noise, scores_of
from mucore.suite.tables import Division, Line, Table
from mucore.tuning.plan import SLACK
from mucore.verdicts import judge, rules_of

NO_REFERENCES = "It needs a run of its original and of its Retrain."
NO_METHOD = "No method has a run here."
NO_SCORE = (
    "No distance: that takes two Retrains, one of them of the run's seed, with all numbers of the "
    "verdict."
)


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
