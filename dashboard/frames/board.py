"""What the Board page says of a suite, made of `mucore.suite.board`. No Streamlit."""

from __future__ import annotations

import pandas as pd

from dashboard.frames.answer import Answer
from dashboard.text import labels, units
from mucore.suite import site
from mucore.suite.board import GROUPS, Division, Line, Table

RETRAIN = "Retrain, other seeds"
ORIGINAL = "Original"


def overall_sentence(division: Division) -> str:
    """Who forgot in every task, as one says it."""
    forgot, tasks = division.forgot(), len(division.tables)
    always = [name for name, count in forgot.items() if count == tasks]
    where = {1: "this task", 2: "both tasks"}.get(tasks, f"all {tasks} tasks")
    if not always:
        return f"None of {units.count(len(forgot), 'method')} forgot in {where}."
    named = units.shortened([labels.method_names(name)[0] for name in always], 6)
    return f"{len(always)} of {units.count(len(forgot), 'method')} forgot in {where}: {named}."


def overall_answers(division: Division) -> list[Answer]:
    """How many forgot everywhere, somewhere and nowhere, and what cannot be told apart."""
    forgot, tasks = division.forgot(), len(division.tables)
    nowhere = [labels.method_names(name)[0] for name, count in forgot.items() if not count]
    idle = [line for table in division.tables for line in table.lines if line.group == "nothing"]
    found = [
        Answer(
            "Forgot nowhere",
            f"{len(nowhere)} of {units.count(len(forgot), 'method')}",
            units.shortened(nowhere, 4) or "each method forgot in one task at least",
        ),
        Answer(
            "Did nothing",
            units.count(len(idle), "line"),
            f"of {sum(count_of(table) for table in division.tables)}: a method under a task "
            "that ended where the original was",
        ),
    ]
    if division.ranking is not None:
        alike = [labels.method_names(name)[0] for name in division.ranking.alike]
        found.append(
            Answer(
                "Not told apart from first place",
                units.count(len(alike), "method"),
                units.shortened(alike, 4)
                or f"first place stands alone over {units.count(tasks, 'task')}",
            )
        )
    return found


def count_of(table: Table) -> int:
    """Methods of a table that have a verdict; a baseline that cheats is none."""
    return sum(line.group not in ("baseline", "missing") for line in table.lines)


def overall_frame(division: Division) -> pd.DataFrame:
    """A line a method, those that forgot in most tasks first; a column a task with its verdict."""
    return pd.DataFrame(
        [
            {
                "Method": labels.method_names(row["method"])[0],
                "Forgot in": f"{row['forgot']} of {row['of']}",
                "Average rank": row["rank"],
                "Distance": row["score"],
                "Work": row["work"],
                **{
                    labels.scenario_title(scenario): _word(line)
                    for scenario, line in row["lines"].items()
                },
            }
            for row in site.overall(division)
        ]
    )


def task_frame(table: Table) -> pd.DataFrame:
    """Retrain against Retrain of other seeds, the original, then the methods that have a verdict:
    what forgot by distance and work, then the rest, and why. `key` is the run that a line opens.
    """
    lines = [
        _row(table, RETRAIN, table.retrain, "the noise", table.floor, 1.0),
        _row(
            table,
            ORIGINAL,
            table.original,
            "before anybody asked",
            table.original.score.mean if table.original.score else None,
            0.0,
        ),
    ]
    for line in (each for each in table.lines if each.verdict is not None):
        title = labels.method_names(line.method)[0]
        score = line.score.mean if line.score else None
        lines.append(
            _row(table, title, line, _word(line), score, line.work)
            | {
                "Seeds": site.seeds_said(line).removesuffix(" seeds"),
                "What happened": _reason(line),
            }
        )
    return pd.DataFrame(lines)


def missing_frame(table: Table) -> pd.DataFrame:
    """The methods without a verdict, and why."""
    return pd.DataFrame(
        [
            {"Method": labels.method_names(line.method)[0], "Why": line.reason}
            for line in table.lines
            if line.verdict is None
        ],
        columns=["Method", "Why"],
    )


def _row(
    table: Table, title: str, line: Line, word: str, score: float | None, work: float | None
) -> dict[str, object]:
    return {
        "key": next(run.key for run in line.runs.values()),
        "Method": title,
        "Verdict": word,
        "Seeds": "",
        "Distance": score,
        "Work": work,
        **{
            f"{site.short(metric)} %": site.interval(metric, line.numbers(metric))
            for metric in table.metrics
        },
        "What happened": "",
    }


def _word(line: Line | None) -> str:
    if line is None or line.verdict is None:
        return "missing"
    return line.verdict.said + ("?" if line.verdict.provisional else "")


def _reason(line: Line) -> str:
    assert line.verdict is not None
    said = [GROUPS["unsound"] + "."] if line.group == "unsound" else []
    said += ["It took more work than a trial may."] if line.over_cap else []
    return " ".join([*said, line.verdict.sentence, line.reason]).strip()


def keys_of(division: Division) -> dict[str, str]:
    """The run that stands for each method of the ranking: the first of its first task."""
    found: dict[str, str] = {}
    for table in division.tables:
        for line in table.lines:
            for run in line.runs.values():
                found.setdefault(line.method, run.key)
    return found
