"""What packs say side by side: each line with its verdict, its distance to Retrain, its cost, and
what separates the best from the next. Numbers only; `site` draws them. Imports no torch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mucore import catalog
from mucore.errors import BadFile, UnknownName
from mucore.store.rows import Result
from mucore.suite.description import Suite, Task
from mucore.suite.lines import REFERENCES
from mucore.suite.pack import Pack, TunedSetting, place_of
from mucore.suite.ranks import best_of, pairs_of, ranking_of
from mucore.suite.scores import complete, noise, scores_of
from mucore.suite.tables import Division, Line, Mark, Table
from mucore.tuning.plan import SLACK
from mucore.verdicts import judge, leading, rules_of

NO_RUN = "Nothing of it is there."
NO_TABLE = "No task has both its original and its Retrain, so nothing can be judged."


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
        best, alike = best_of(leading(line for line in lines if line.group == "forgot"))
        tables.append(replace(table, lines=lines, best=best, alike=alike))
    return _division(division.name, tuple(tables), division.absent)


def _division(
    name: str, tables: tuple[Table, ...], absent: tuple[tuple[Task, str], ...] = ()
) -> Division:
    telling = [table for table in tables if table.telling]
    ranking = ranking_of(telling)
    pairs, blocks = pairs_of(telling, ranking)
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
    ordered = sorted((x for x in lines if x.method not in REFERENCES), key=lambda line: line.place)
    best, alike = best_of(leading(line for line in ordered if line.group == "forgot"))
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


def title_of(method: str) -> str:
    """A method as people read it; one of somebody's own by its id."""
    try:
        return catalog.method(method).title
    except UnknownName:
        return method
