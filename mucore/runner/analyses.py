"""Analyses (mucore/analysis) as jobs: what queues one, computes it, and says how far it has come.

A person waits for an analysis, perhaps while a worker is busy for an hour. So whoever queues one
starts a process for it, too (job_process.py), which does without torch where the analysis does. A
worker that is free may be faster. Imports no torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Literal, NamedTuple

from mucore import analysis
from mucore.errors import Cancelled
from mucore.runner import job_process
from mucore.runner.heartbeat import Heartbeat, Listener
from mucore.store import Store, open_pack
from mucore.store.records import Job


class State(NamedTuple):
    """`progress` in 0..1 and `step`, what is being done, while it runs; `error`, a sentence, where
    it failed.
    """

    state: Literal["running", "failed", "absent"]
    progress: float = 0.0
    step: str = ""
    error: str = ""


def enqueue(
    store: Store, kind: str, parameters: Mapping[str, Any], *, pack: Path | None = None
) -> Job | None:
    """Queue an analysis of the runs in the store, or in a pack; None where its file is there. One
    that is queued or runs already is that job.

    Raises `UnknownName`, `BadValue`, `BadFile`.
    """
    place = analysis.place(store.home, pack)
    if analysis.find(place, kind, parameters) is not None:
        return None
    complete = analysis.complete(kind, parameters).model_dump(mode="json")
    label = f"{analysis.KINDS[kind].title or kind} of {_subject(complete)}"
    spec = {"analysis": kind, "parameters": complete, "pack": str(pack.resolve()) if pack else None}
    return store.enqueue_other("analysis", analysis.key(kind, parameters), spec, label)


def _subject(parameters: Mapping[str, Any]) -> str:
    """What an analysis looks at: a data set, of own data the name of the file, or so many runs."""
    if dataset := parameters.get("dataset"):
        return Path(dataset.partition(":")[2]).name or dataset
    runs = parameters.get("keys") or [parameters["key"]]
    return "1 run" if len(runs) == 1 else f"{len(runs)} runs"


def start(
    store: Store, kind: str, parameters: Mapping[str, Any], *, pack: Path | None = None
) -> None:
    """`enqueue`, and start a detached process that computes it, unless one is at it already.

    Raises `UnknownName`, `BadValue`, `BadFile`, `StoreError`.
    """
    job = enqueue(store, kind, parameters, pack=pack)
    if job is not None:
        job_process.start(store, job)


def state(store: Store, key: str) -> State:
    """How far an analysis whose file is not there has come."""
    job = _newest(store, key)
    if job is not None and job.state == "running" and store.reap():
        job = _newest(store, key)
    if job is None or job.state in ("done", "cancelled"):
        return State("absent")
    if job.state in ("failed", "lost"):
        return State("failed", error=job.error or "")
    if job.state == "queued" and job.waits_for is not None:
        return State("running", step=f"waiting for {job.waits_for}")
    if job_process.untaken(job):
        return State("failed", error=job_process.UNTAKEN)
    return State("running", job.progress, job.step)


def _newest(store: Store, key: str) -> Job | None:
    return next(iter(store.jobs(keys=[key], kind="analysis", limit=1)), None)


def work_on(store: Store, job: Job, *, on_event: Listener | None = None) -> Job:
    """Take this job, if it still waits, to its end; the job as it is then."""
    return job_process.work_on(store, job, compute, on_event=on_event)


def compute(job: Job, store: Store, heartbeat: Heartbeat) -> None:
    """The analysis of a job, kept as a file. Raises `Cancelled`, `MucoreError`."""

    def progress(done: float, step: str) -> None:
        heartbeat.report(step, done)
        if heartbeat.cancelled():
            raise Cancelled

    pack = Path(job.spec["pack"]) if job.spec["pack"] else None
    with open_pack(pack) if pack is not None else nullcontext(store) as results:
        place = analysis.place(store.home, pack)
        analysis.compute(job.spec["analysis"], job.spec["parameters"], results, place, progress)
