"""What `analyse` does: an analysis as a job that this process works on, with its progress on
stderr, and what it prints.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mucore import analysis
from mucore.cli.base import progress
from mucore.errors import BadValue, MucoreError, said
from mucore.forget_sets import identity
from mucore.runner import analyses
from mucore.runs import Recipe
from mucore.store.records import ACTIVE, Job

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


def numbers(parameters: Mapping[str, Any], results: Store) -> np.ndarray | None:
    """What the samples of the runs are called, by internal id (forget_sets/identity.py); None where
    the data set is not on this machine.
    """
    keys = parameters.get("keys") or [parameters.get("key", "")]
    found = results.get_result(str(keys[0])) if isinstance(keys, list) else None
    dataset, cut = parameters.get("dataset"), {}
    if found is not None:
        cut = Recipe.model_validate(found.spec["recipe"]).cut()
        dataset = found.spec["dataset"]
    splits = identity.here(dataset, cut) if isinstance(dataset, str) else None
    return None if splits is None else identity.numbers(splits)


def internal(parameters: dict[str, Any], known: np.ndarray | None) -> dict[str, Any]:
    """The parameters with the internal ids of the queries, which people name by their rows."""
    if known is None or not isinstance(asked := parameters.get("queries"), list):
        return parameters
    found = identity.numbered(known, asked)
    if unknown := [row for row, each in zip(asked, found, strict=True) if each < 0]:
        raise BadValue(f"There is no sample {unknown[0]} in this data set. Name rows of it.")
    return parameters | {"queries": found.tolist()}


def content(kind: str, found: analysis.Found, known: np.ndarray | None) -> dict[str, Any]:
    """The analysis as JSON takes it; internal ids become what samples are called."""
    ids = {"queries", "samples", *(found.value["keys"] if kind == "neighbours" else ())}
    value = {
        name: known[each] if known is not None and (name in ids or name.endswith("ids")) else each
        for name, each in found.value.items()
    }
    return {"kind": kind, "key": found.key, "path": str(found.path), "value": value}
