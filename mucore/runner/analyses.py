"""Analyses (mucore/analysis) as jobs: what queues one, computes it, and says how far it has come.

A person waits for an analysis, perhaps while a worker is busy for an hour. So whoever queues one
starts a process, too, that takes this one job and nothing else, is no worker to anybody, and does
without torch where the analysis does. A worker that is free may be faster. Imports no torch.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from mucore import analysis
from mucore.errors import Cancelled
from mucore.runner.executors import start_process
from mucore.runner.jobs import Listener, Pulse, run_job
from mucore.store import Store, open_pack
from mucore.store.liveness import process_id
from mucore.store.rows import Job
from mucore.store.trouble import waiting

# A process that was started for a job takes it within seconds, on a busy machine, too.
PATIENCE = timedelta(seconds=30)
UNTAKEN = "No process has taken up the computation (logs/workers.log may say why). Start it again."


STARTED: list[subprocess.Popen] = []  # by this process


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
    runs = complete.get("keys") or [complete["key"]]
    count = "1 run" if len(runs) == 1 else f"{len(runs)} runs"
    label = f"{analysis.KINDS[kind].title or kind} of {count}"
    spec = {"analysis": kind, "parameters": complete, "pack": str(pack.resolve()) if pack else None}
    return store.enqueue_analysis(analysis.key(kind, parameters), spec, label)


def start(
    store: Store, kind: str, parameters: Mapping[str, Any], *, pack: Path | None = None
) -> None:
    """`enqueue`, and start a detached process that computes it, unless one is at it already.

    Raises `UnknownName`, `BadValue`, `BadFile`, `StoreError`.
    """
    job = enqueue(store, kind, parameters, pack=pack)
    if job is None or job.state == "running":
        return
    # a child that has ended counts as a process until its parent takes note
    STARTED[:] = [process for process in STARTED if process.poll() is None]
    STARTED.append(start_process(store, ["worker", "--job", str(job.id)]))


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
    if job.state == "queued" and datetime.now(UTC) - job.queued > PATIENCE:
        return State("failed", error=UNTAKEN)
    return State("running", job.progress, job.step)


def _newest(store: Store, key: str) -> Job | None:
    return next(iter(store.jobs(keys=[key], kind="analysis", limit=1)), None)


def work_on(store: Store, job: Job, *, on_event: Listener | None = None) -> Job:
    """Take this job, if it still waits, to its end; the job as it is then."""
    with waiting(lambda _what, seconds: time.sleep(seconds)):
        store.reap()
        while True:
            claimed = store.claim(process_id(), only=[job.key])
            if claimed is not None:
                pulse = Pulse(store, process_id(), on_event=on_event)
                try:
                    run_job(claimed, store, pulse, partial(compute, claimed, store, pulse))
                finally:
                    pulse.close()
            job = store.job(job.id)
            if job.state != "queued" or job.waits_for is None:
                return job
            time.sleep(1.0)  # it met trouble that passes


def compute(job: Job, store: Store, pulse: Pulse) -> None:
    """The analysis of a job, kept as a file. Raises `Cancelled`, `MucoreError`."""

    def progress(done: float, step: str) -> None:
        pulse.report(step, done)
        if pulse.cancelled():
            raise Cancelled

    pack = Path(job.spec["pack"]) if job.spec["pack"] else None
    with open_pack(pack) if pack is not None else nullcontext(store) as results:
        place = analysis.place(store.home, pack)
        analysis.compute(job.spec["analysis"], job.spec["parameters"], results, place, progress)
