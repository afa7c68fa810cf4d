"""What searches came to, as the file that the preset `tuned` reads (mucore/catalog/tuning.py)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mucore.catalog import tuning
from mucore.catalog.tuning import Tuned
from mucore.tuning.study import Study, write_json


def settings(studies: Iterable[Study]) -> list[Tuned]:
    """The setting of each study that has come to its end, and to one."""
    return [
        Tuned(
            method=study.method,
            values=choice.values,
            trials=len(study.settings),
            cap=study.cap,
            open=study.open,
            **study.task,  # as `Task.content` has it
        )
        for study in studies
        if (choice := study.choice()) is not None and study.finished()
    ]


def is_of(setting: Tuned, study: Study) -> bool:
    """Whether a setting is for the method and the task of a study."""
    return setting.method == study.method and all(
        getattr(setting, name) == value for name, value in study.task.items()
    )


def write(path: Path, studies: Iterable[Study], *, beside: Iterable[Tuned] = ()) -> list[Tuned]:
    """Write the settings of `studies` to `path`, and those of `beside` that are for other tasks or
    methods, or whose study goes on. One whose study has come to its end again, with as many trials
    or more, and has no candidate now goes.
    """
    studies = [*studies]
    made = settings(studies)
    kept = [
        setting
        for setting in beside
        if not any(
            is_of(setting, study) and study.finished() and len(study.settings) >= setting.trials
            for study in studies
        )
    ]
    write_json(path, tuning.content([*made, *kept]))
    return made
