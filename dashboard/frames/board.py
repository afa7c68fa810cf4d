"""What the Board page says of a division beside its tables (mucore/suite/frames.py). No
Streamlit.
"""

from __future__ import annotations

from dashboard.text import units
from mucore.suite.board import Division


def overall_sentence(division: Division) -> str:
    """Who forgot in every task, as one says it."""
    forgot, tasks = division.forgot(), len(division.telling)
    if not tasks:
        return "No task allows a verdict."
    always = [name for name in division.everywhere if forgot[name] == tasks]
    many = units.count(len(division.everywhere), "method")
    return f"{len(always) or 'None'} of {many} judged in every task forgot in all of them."


def keys_of(division: Division) -> dict[str, str]:
    """The run that stands for each method of the ranking: the first of its first task."""
    found: dict[str, str] = {}
    for table in division.tables:
        for line in table.lines:
            for run in line.runs.values():
                found.setdefault(line.method, run.key)
    return found
