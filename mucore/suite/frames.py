"""A board as tables that people read, for the page and for the site. Imports no torch."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

import pandas as pd

from mucore import catalog
from mucore.errors import UnknownName
from mucore.statistics.significance import t_interval
from mucore.suite.board import FEWEST_SEEDS, Division, Line, Table

NOISE = "Retrain, 95 % band"  # of other training seeds: the line above all others
NUMBERS = ("Average rank", "Distance, spreads", "Work")
UNSOUND = "Its runs did not end as planned."
MINUS = "\N{MINUS SIGN}"
NONE = "\N{EN DASH}"
ROUNDING = 1e-9  # of a mean: half an interval of less is the sum's rounding


def overall(division: Division, first: Collection[str] = ()) -> pd.DataFrame:
    """A row a method that ran, those of `first` first: in how many of the tasks that say who forgot
    it is shown to have, and in how many by indication, its average rank, its mean distance where
    each of them has one, and its mean work; a column a task with its verdict. Those shown in most
    come first, then by indications, rank, distance and work; a baseline that cheats comes last.
    """
    ranks = division.ranking.ranks if division.ranking is not None else {}
    shown, indicated = division.forgot(shown=True), division.forgot(shown=False)
    rows = []
    for method, cheats in division.methods.items():
        unsure = indicated.get(method, 0)
        lines = [line for t in division.telling if (line := t.line(method)) and line.verdict]
        scores = [line.score.mean for line in lines if line.score is not None]
        works = [line.work for line in lines if line.work is not None]
        words = {
            catalog.scenario(table.task.scenario).title: _word(table.line(method))
            for table in division.tables
        }
        rows.append(
            {
                "place": (method not in first, cheats, -shown.get(method, 0), -unsure),
                "method": method,
                "Method": title_of(method),
                "Shown in": "cheats" if cheats else f"{shown[method]} of {len(lines)}",
                "Indicated in": str(unsure),
                "Average rank": ranks.get(method),
                "Distance, spreads": _mean(scores, of=len(division.telling)),
                "Work": _mean(works),
                **words,
            }
        )
    rows.sort(key=_order)
    columns = [name for name in rows[0] if name not in ("place", "method")] if rows else []
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(NUMBERS, float) if rows else {})


def _order(row: Mapping[str, Any]) -> tuple[Any, ...]:
    numbers = (row[name] for name in NUMBERS)
    known = (math.inf if number is None else number for number in numbers)
    return (*row["place"], *known, row["method"])


def _mean(numbers: Collection[float], *, of: int | None = None) -> float | None:
    """None where there is none, or fewer than `of`."""
    whole = bool(numbers) and of in (None, len(numbers))
    return sum(numbers) / len(numbers) if whole else None


def of_task(table: Table, first: Collection[str] = ()) -> pd.DataFrame:
    """The 95 % band of Retrains of other seeds, Retrain, the original, then the methods that have
    a verdict: those of `first`, what forgot by distance and work, then the rest, and why. `key` is
    the run that a line opens.
    """
    noise = _row(table, NOISE, table.retrain, "the noise", table.floor, 1.0) | {
        "What happened": ""
        if table.band
        else "There is no band of Retrains: that takes two with all these numbers."
    }
    noise |= {
        f"{short(metric)} %": f"±{value(metric, high)}"
        for metric, (_, high) in table.band.items()
        if metric in table.metrics
    }
    start = table.original.score.mean if table.original.score else None
    rows = [
        noise,
        _row(table, "Retrain", table.retrain, "the aim", 0.0, 1.0),
        _row(table, "Original", table.original, "the start", start, 0.0),
    ]
    for line in sorted(table.lines, key=lambda each: each.method not in first):
        if line.verdict is not None:
            score = line.score.mean if line.score else None
            said = [UNSOUND] if line.group == "unsound" else []
            said += [*line.marks, line.verdict.sentence, line.reason]
            rows.append(
                _row(table, title_of(line.method), line, _word(line), score, line.work)
                | {"Seeds": str(line.verdict.seeds), "What happened": " ".join(said).strip()}
            )
    return pd.DataFrame(rows)


def _row(
    table: Table, title: str, line: Line, word: str, score: float | None, work: float | None
) -> dict[str, object]:
    return {
        "key": next(run.key for run in line.runs.values()),
        "Method": title,
        "Verdict": word,
        "Seeds": "",
        "Distance, spreads": score,
        "Work": work,
        **{
            f"{short(metric)} %": interval(metric, line.numbers(metric)) for metric in table.metrics
        },
        "What happened": line.reason,
    }


def missing(*tables: Table) -> pd.DataFrame:
    """All that is missing, a line a method and task, and why: whole lines, seeds, and what has no
    distance.
    """
    rows = [
        (title_of(line.method), catalog.scenario(table.task.scenario).title, line.reason)
        for table in tables
        for line in (table.retrain, table.original, *table.lines)
        if line.reason
    ]
    return pd.DataFrame(rows, columns=["Method", "Task", "Why"])


def runs(table: Table) -> pd.DataFrame:
    """A row a run of a method: its key, by which it is repeated, and the numbers of its verdict."""
    return pd.DataFrame(
        {
            "Method": title_of(line.method),
            "Seed": seed,
            "Key": run.key,
            "Distance, spreads": line.scores.get(seed),
            **{
                f"{short(name)} %": value(name, line.numbers(name).get(seed))
                for name in table.metrics
            },
            "Ended": run.stop_reason or run.status,
            "Device": run.device,
        }
        for line in (table.retrain, table.original, *table.lines)
        for seed, run in line.runs.items()
    )


# -- values as people read them


def _word(line: Line | None) -> str:
    """A question mark where it is an indication."""
    if line is None or line.verdict is None:
        return "missing"
    said = f"{line.verdict.said}{'?' if line.verdict.provisional else ''}"
    cheats, unsound = line.verdict.cheats, line.group == "unsound"
    return f"{said}{' (cheats)' if cheats else ''}{', unsound' if unsound else ''}"


def title_of(method: str) -> str:
    """A method as people read it; one of somebody's own by its id."""
    try:
        return catalog.method(method).title
    except UnknownName:
        return method


def short(metric: str) -> str:
    return catalog.metric(metric).short


def value(metric: str, number: float | None) -> str:
    """A metric's value; a fraction in percent with one digit."""
    if number is None:
        return NONE
    percent = catalog.metric(metric).unit == "fraction"
    return (f"{100 * number:.1f}" if percent else f"{number:.3g}").replace("-", MINUS)


def interval(metric: str, values: Mapping[int, float]) -> str:
    """Mean and half the width of its 95 % interval over seeds, three and more of them: that of two
    is some nine times their distance.
    """
    if not values:
        return NONE
    found = t_interval([*values.values()])
    mean = value(metric, found.mean)
    if found.high is None or found.n < FEWEST_SEEDS:
        return mean
    half = found.high - found.mean
    return f"{mean} ± {value(metric, 0.0 if half < ROUNDING * abs(found.mean) else half)}"
