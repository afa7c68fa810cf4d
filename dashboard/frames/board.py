"""What the Board page says of a suite, made of `mucore.suite.board`. No Streamlit."""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd

from dashboard.frames.table import NOISE
from dashboard.text import labels, units, verdicts
from mucore.suite import site
from mucore.suite.tables import GROUPS, Division, Line, Table

RETRAIN = "Retrain"
ORIGINAL = "Original"


def overall_sentence(division: Division) -> str:
    """Who forgot in every task, as one says it."""
    forgot, tasks = division.forgot(), len(division.telling)
    if not tasks:
        return "No task allows a verdict."
    always = [name for name in division.everywhere if forgot[name] == tasks]
    many = units.count(len(division.everywhere), "method")
    return f"{len(always) or 'None'} of {many} forgot in every task with a verdict."


def overall_frame(division: Division, first: Collection[str] = ()) -> pd.DataFrame:
    """A line a method, the methods `first` and then those shown to have in most tasks; a column a
    task with its verdict.
    """
    return pd.DataFrame(
        [
            {
                "Method": labels.method_names(row["method"])[0],
                "Shown in": "cheats" if row["forgot"] is None else f"{row['shown']} of {row['of']}",
                "Indicated in": str(row["indicated"]),
                "Average rank": row["rank"],
                "Distance, spreads": row["score"],
                "Work": row["work"],
                **{
                    labels.scenario_title(scenario): _word(line)
                    for scenario, line in row["lines"].items()
                },
            }
            for row in sorted(site.overall(division), key=lambda row: row["method"] not in first)
        ]
    )


def task_frame(table: Table, first: Collection[str] = ()) -> pd.DataFrame:
    """The 95 % band of Retrains of other seeds, Retrain, the original, then the methods that have
    a verdict: those of `first`, what forgot by distance and work, then the rest, and why. `key` is
    the run that a line opens.
    """
    lines = [
        _row(table, NOISE, table.retrain, "the noise", table.floor, 1.0)
        | {
            "What happened": ""
            if table.band
            else "There is no band of Retrains: that takes two with all these numbers."
        }
        | {
            f"{site.short(metric)} %": f"±{site.value(metric, high)}"
            for metric, (_, high) in table.band.items()
            if metric in table.metrics
        },
        _row(table, RETRAIN, table.retrain, "the aim", 0.0, 1.0),
        _row(
            table,
            ORIGINAL,
            table.original,
            "the start",
            table.original.score.mean if table.original.score else None,
            0.0,
        ),
    ]
    judged = [each for each in table.lines if each.verdict is not None]
    for line in sorted(judged, key=lambda each: each.method not in first):
        title = labels.method_names(line.method)[0]
        score = line.score.mean if line.score else None
        lines.append(
            _row(table, title, line, _word(line), score, line.work)
            | {"Seeds": site.seeds_said(line).partition(" seed")[0], "What happened": _reason(line)}
        )
    return pd.DataFrame(lines)


def missing_frame(*tables: Table) -> pd.DataFrame:
    """All that is missing, a line a method and task, and why: whole lines, seeds, and what has no
    distance.
    """
    return pd.DataFrame(
        [
            {
                "Method": labels.method_names(line.method)[0],
                "Task": labels.scenario_title(table.task.scenario),
                "Why": line.reason,
            }
            for table in tables
            for line in (table.retrain, table.original, *table.lines)
            if line.reason
        ],
        columns=["Method", "Task", "Why"],
    )


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
            f"{site.short(metric)} %": site.interval(metric, line.numbers(metric))
            for metric in table.metrics
        },
        "What happened": line.reason,
    }


def _word(line: Line | None) -> str:
    if line is None or line.verdict is None:
        return "missing"
    return f"{verdicts.text(line.verdict)}{', unsound' if line.group == 'unsound' else ''}"


def _reason(line: Line) -> str:
    assert line.verdict is not None
    said = [GROUPS["unsound"] + "."] if line.group == "unsound" else []
    said += [mark.sentence for mark in line.marks]
    return " ".join([*said, line.verdict.sentence, line.reason]).strip()


def keys_of(division: Division) -> dict[str, str]:
    """The run that stands for each method of the ranking: the first of its first task."""
    found: dict[str, str] = {}
    for table in division.tables:
        for line in table.lines:
            for run in line.runs.values():
                found.setdefault(line.method, run.key)
    return found
