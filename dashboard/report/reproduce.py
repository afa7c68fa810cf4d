"""The commands that repeat the runs of a report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dashboard.text.labels import command_or_why_not


def script(rows: Sequence[tuple[str, Sequence[Mapping[str, Any]]]]) -> str:
    """A command for each row of a table, its title and the specs of its runs, below its title as a
    comment. Runs that differ in the training seed alone share one. An original has none: every
    comparison trains it.
    """
    lines = []
    for title, specs in rows:
        alike: dict[str, list[Mapping[str, Any]]] = {}
        for spec in specs:
            if spec["method"] != "original":
                same = json.dumps({**spec, "training_seed": 0}, sort_keys=True, default=str)
                alike.setdefault(same, []).append(spec)
        for same in alike.values():
            seeds = ",".join(str(seed) for seed in sorted(spec["training_seed"] for spec in same))
            command = command_or_why_not({**same[0], "training_seed": seeds})
            lines += [f"# {title}", command.replace(" \\\n  ", " ")]
    return "\n".join(lines)
