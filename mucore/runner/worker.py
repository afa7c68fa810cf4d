"""A worker: a process that takes jobs from the table and turns them into results.

While the database is locked, full or gone it waits, with what it has, and goes on by itself.

It outlives the browser tab and the server. A thread of its own (heartbeat.py) beats while a job
runs, carries progress out and the wish to cancel in, so that a long step never makes a living
worker look dead. Killing a worker loses at most the run it was in; training resumes from its last
checkpoint when the job is taken again.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Collection
from functools import partial
from typing import Any

import psutil
import torch

import mucore
from mucore import signals
from mucore.engine.chunks import free_bytes
from mucore.engine.device import memory
from mucore.engine.memory import give_back, keep_freed
from mucore.engine.run import Callbacks, Progress
from mucore.errors import BadValue, Cancelled, StoreError
from mucore.files import remove_left_over
from mucore.runner import analyses, estimate
from mucore.runner.execute import execute
from mucore.runner.heartbeat import Heartbeat, Listener
from mucore.runner.jobs import log, run_job
from mucore.runner.session import Session
from mucore.runs import stored_spec
from mucore.store import Store
from mucore.store.records import ACTIVE, Job
from mucore.store.transient_errors import waiting

POLL_SECONDS = 0.5  # how often a worker without work asks for some
REAP_SECONDS = 2.0  # how often a worker looks for dead ones


def work(
    store: Store,
    *,
    device: str = "auto",
    number: int = 0,
    only: Collection[str] | None = None,
    until_done: bool = False,
    idle_exit: float | None = None,
    on_event: Listener | None = None,
    parent_pid: int | None = None,
    stop: threading.Event | None = None,
    gpu_share: float = 1.0,
) -> None:
    """Take jobs until told to stop.

    `number`, from 0: which of several devices (engine/device.py) this worker takes.
    `only`: take jobs with these keys only. `until_done`: return when none of them is queued or
    running any more, whoever runs it. `idle_exit`: return after so many seconds without work.
    `parent_pid`: return when that process is gone and nothing is left to do. `stop`: return as soon
    as it is set; the running job goes back to the queue. `gpu_share`: the part of the GPU's memory
    that this worker may take; below 1 others compute on it, too, and results say so of their times.

    May run in any thread of a process that does something else beside, one at a time: it handles no
    signals (`stop_on_signals` is for a process that is nothing but a worker).
    """
    session = Session(store, device, number=number, gpu_share=gpu_share)
    remove_left_over(store.home)
    stop = stop or threading.Event()
    if session.device.type == "cpu":
        keep_freed()
    elif session.device.type == "cuda":
        size = torch.cuda.get_device_properties(session.device).total_memory
        estimate.remember(store.home, str(session.device), int(size * gpu_share))
        if gpu_share < 1:
            torch.cuda.set_per_process_memory_fraction(gpu_share, session.device.index)
    versions = {"torch": torch.__version__}
    with waiting(_hold(stop)), contextlib.suppress(Cancelled):
        facts = partial(_facts, session)
        me = store.register_worker(
            str(session.device), torch.get_num_threads(), versions=versions, facts=facts()
        )
        heartbeat = Heartbeat(store, me.id, stop, on_event, facts)
        idle_since, looked = time.monotonic(), -REAP_SECONDS
        try:
            while not stop.is_set():
                if time.monotonic() - looked >= REAP_SECONDS:
                    store.reap()
                    looked = time.monotonic()
                if (job := store.claim(me.id, only=only)) is not None:
                    _run(job, store, session, heartbeat)
                    idle_since = time.monotonic()
                    continue
                idle = time.monotonic() - idle_since
                orphaned = parent_pid is not None and not psutil.pid_exists(parent_pid)
                if (
                    (until_done and not _left(store, only))
                    or (idle_exit is not None and idle >= idle_exit)
                    or (orphaned and not _left(store))
                ):
                    return
                stop.wait(POLL_SECONDS)
        finally:
            heartbeat.close()
            with contextlib.suppress(StoreError):  # else its death is found by others
                store.remove_worker(me.id)


def _run(job: Job, store: Store, session: Session, heartbeat: Heartbeat) -> None:
    if job.kind == "analysis":
        run_job(job, store, heartbeat, partial(analyses.compute, job, store, heartbeat))
    else:
        run_job(job, store, heartbeat, partial(_execute, job, session, heartbeat))
    give_back()


def _left(store: Store, only: Collection[str] | None = None) -> bool:
    """Whether anything is queued or running that a worker takes, of these keys or of all."""
    return any(
        store.jobs(states=ACTIVE, keys=only, kind=kind, limit=1) for kind in ("run", "analysis")
    )


def _facts(session: Session) -> dict[str, Any]:
    """What pages say of this worker: its device, and how much of that and of the CPUs is in use."""
    used, total = memory(session.device)
    load = os.getloadavg()[0] / (os.cpu_count() or 1) if hasattr(os, "getloadavg") else None
    return {
        "device_name": session.device_name,
        "device_id": session.device_id,
        "gpu_share": session.gpu_share,
        "memory_used": used,
        "memory_total": total,
        "load": load,
    }


def _hold(stop: threading.Event) -> Callable[[str, float], None]:
    """How a worker without a job waits for the store: until it is told to end."""

    def hold(what: str, seconds: float) -> None:
        log.warning("waiting for %s", what)
        if stop.wait(seconds):
            raise Cancelled

    return hold


def _execute(job: Job, session: Session, heartbeat: Heartbeat) -> None:
    def report(progress: Progress) -> None:
        heartbeat.report(progress.step, progress.fraction, progress.loss)

    spec = stored_spec(job.spec)
    if spec.key != job.key:
        raise BadValue(
            f"This run was planned by other code than mucore {mucore.__version__}, which would "
            "compute something else. Launch the comparison again."
        )
    session.on_checkpoint = heartbeat.checkpointed
    device = session.device
    fit = estimate.fit_of([spec], str(device), free_bytes(device))
    if fit is not None and (said := fit.warning()):
        log.warning(said)  # the run may have been planned where there is more
    result = execute(spec, session, Callbacks(report, heartbeat.cancelled))
    for note in (*result.notes, *result.flags):
        log.info(note)
    log.info("%s after %.1f s", result.status, result.cost.get("wall_seconds") or 0.0)


def stop_on_signals() -> threading.Event:
    """An event that whatever asks for the end sets, for a worker that is a process of its own."""
    stop = threading.Event()
    signals.on_end(lambda *_: stop.set())
    return stop


def set_threads(count: int | None) -> None:
    """Use `count` CPU threads, or all."""
    torch.set_num_threads(count or os.cpu_count() or 1)
