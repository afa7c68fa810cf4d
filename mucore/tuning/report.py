"""A study in numbers and sentences, for tables, JSON and docs/generated/tuning.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mucore.tuning.space import Space
from mucore.tuning.study import Facts, Folder, Study
from mucore.tuning.task import Task


def record(task: Task, study: Study, trials: int, root: Path) -> dict[str, Any]:
    """What a study came to, as JSON has it; what only a candidate has is None where there is none,
    and `authors` where their setting took too much or failed.
    """
    choice, authors, facts = study.choice(), study.authors, Folder(root, task).facts()
    return {
        "task": task.name,
        "scenario": task.scenario,
        "changed": task.changed,
        "dataset": task.content()["dataset"],
        "method": study.method,
        "settings": len(study.settings),
        "trials": len(study.trials),
        "finished": study.finished(trials),
        "open": study.open,
        "cap": study.cap,
        "authors": authors.score if authors is not None and authors.candidate else None,
        "score": choice.score if choice is not None else None,
        "scores": list(choice.scores) if choice is not None else [],
        "nothing": None if facts is None else facts.nothing(study.seed),
        "work": choice.work if choice is not None else None,
        "values": dict(choice.values) if choice is not None else None,
        "edges": list(edges(study, facts)),
        "why_none": why_none(study) if choice is None else "",
        "file": str(Folder(root, task).study_file(study.method)),
        "cautions": cautions(task, study, trials, facts),
    }


def edges(study: Study, facts: Facts | None) -> tuple[str, ...]:
    """Where the chosen setting lies at an edge of what was searched: "lr, upper end"."""
    choice = study.choice()
    if choice is None or facts is None:
        return ()
    return Space(study.method, facts.sizes, {}).edges(choice.values)


def cautions(task: Task, study: Study, trials: int, facts: Facts | None) -> list[str]:
    """Sentences on what to beware of."""
    said, choice, tried = [], study.choice(), len(study.settings)
    who = f"{study.method} under {task.scenario}"
    nothing = None if facts is None else facts.nothing(study.seed)
    if nothing is not None and nothing <= 1:
        said.append(
            f"{task.title}: doing nothing is inside the verdict's margin here ({nothing:.2f}), so "
            "a setting that does nothing may win."
        )
    if choice is None and study.finished(trials):
        said.append(
            f"{who}: none of {tried} settings may be chosen: {why_none(study)}. A higher --cap may "
            "find one, or a wider `search` on its card."
        )
    if found := edges(study, facts):
        said.append(
            f"{who}: the chosen setting lies at the edge of the space ({'; '.join(found)}), and a "
            "better one may lie beyond. Widen `search` on its card; the trials that there are stay."
        )
    if study.open:
        said.append(
            f"{who} is open: it can do nothing for the work that others may take, so its cap is "
            f"{study.cap:.2g} of a Retrain."
        )
    return said


def why_none(study: Study) -> str:
    """What became of the settings of a study that came to none, each counted once."""
    over = sum(any(trial.over for trial in each.trials) for each in study.settings)
    failed = sum(not each.candidate for each in study.settings) - over
    told = ((over, "took too much"), (failed, "failed"))
    return " and ".join(f"{count} {what}" for count, what in told if count)
