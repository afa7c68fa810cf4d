"""What `analyse` does: an analysis as a job that this process works on, with its progress on
stderr, and what it prints.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mucore import analysis
from mucore.errors import BadValue, MucoreError, said
from mucore.runner import analyses
from mucore.store.rows import ACTIVE, Job

if TYPE_CHECKING:
    from mucore.store import Store

WAIT = 0.5  # seconds between two looks at a job that another process has


def parse(text: str) -> dict[str, Any]:
    """A JSON object as a dictionary. Raises `BadValue`."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):  # a list in a list in a list, a hundred thousand times
        content = None
    if not isinstance(content, dict):
        raise BadValue(
            f'--params must be a JSON object such as \'{{"keys": ["KEY"]}}\', but got {said(text)}.'
        )
    return content


def compute(
    kind: str, parameters: Mapping[str, Any], store: Store, pack: Path | None
) -> analysis.Found:
    """Compute it as a job of the queue, or find it. Raises `MucoreError`."""

    def show(event: str, job: Job) -> None:
        if event == "progress":
            progress(job.progress, job.step)

    job = analyses.enqueue(store, kind, parameters, pack=pack)
    while job is not None and job.state in ACTIVE:
        try:
            job = analyses.work_on(store, job, on_event=show)
            if job.state in ACTIVE:  # another process is at it
                time.sleep(WAIT)
        except KeyboardInterrupt:
            store.cancel(job.id)
            raise
    found = analysis.find(analysis.place(store.home, pack), kind, parameters)
    if found is None:
        raise MucoreError((job and job.error) or "The analysis was cancelled.")
    return found


def progress(done: float, step: str) -> None:
    """A line on stderr, where a person looks at it."""
    if sys.stderr.isatty():
        print(f"\r\033[K{done:4.0%} {step}", end="", file=sys.stderr, flush=True)


def end_progress() -> None:
    if sys.stderr.isatty():
        print(file=sys.stderr)


def content(kind: str, found: analysis.Found) -> dict[str, Any]:
    """The analysis as JSON; arrays become nested lists."""
    value = {
        name: each.tolist() if isinstance(each, np.ndarray) else each
        for name, each in found.value.items()
    }
    return {"kind": kind, "key": found.key, "path": str(found.path), "value": value}
