"""A worker: a process that takes jobs from the table and turns them into results.

It outlives the browser tab and the server. A thread of its own beats while a job runs, carries
progress out and the wish to cancel in, so that a long step never makes a living worker look dead.
Killing a worker loses at most the run it was in; training resumes from its last checkpoint when the
job is taken again.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Collection, Generator
from pathlib import Path

import psutil
import torch

from mucore.engine.memory import give_back, keep_freed
from mucore.engine.run import Callbacks, Progress
from mucore.errors import BadValue, Cancelled, MucoreError
from mucore.runner.execute import execute
from mucore.runner.session import Session
from mucore.spec import RunSpec
from mucore.store import LostJob, Store
from mucore.store.rows import ACTIVE, Job

BEAT_SECONDS = 1.0
POLL_SECONDS = 0.5
log = logging.getLogger("mucore")
# event ("started", "progress", "done", "failed", "cancelled", "lost"), job as it is then
Listener = Callable[[str, Job], None]


def work(
    store: Store,
    *,
    device: str = "auto",
    only: Collection[str] | None = None,
    until_done: bool = False,
    idle_exit: float | None = None,
    on_event: Listener | None = None,
    parent_pid: int | None = None,
    stop: threading.Event | None = None,
) -> None:
    """Take jobs until told to stop.

    `only`: take jobs with these keys only. `until_done`: return when none of them is queued or
    running any more, whoever runs it. `idle_exit`: return after so many seconds without work.
    `parent_pid`: return when that process is gone and nothing is left to do. `stop`: return as soon
    as it is set; the running job goes back to the queue.
    """
    session = Session(store, device)
    stop = stop or threading.Event()
    if session.device.type == "cpu":
        keep_freed()
    me = store.register_worker(device=str(session.device), threads=torch.get_num_threads())
    parent = _process(parent_pid)
    pulse = _Pulse(store, me.id, stop, on_event)
    idle_since = time.monotonic()
    try:
        while not stop.is_set():
            store.reap()
            job = store.claim(me.id, only=only)
            if job is not None:
                with pulse.of(job):
                    _run(job, store, session, pulse, me.id, on_event)
                give_back()
                idle_since = time.monotonic()
                continue
            if until_done and not store.jobs(states=ACTIVE, keys=only, limit=1):
                return
            idle = time.monotonic() - idle_since
            if idle_exit is not None and idle >= idle_exit:
                return
            if (
                parent_pid is not None
                and (parent is None or not parent.is_running())
                and not store.jobs(states=ACTIVE, limit=1)
            ):
                return
            stop.wait(POLL_SECONDS)
    finally:
        pulse.close()
        store.remove_worker(me.id)


def _run(
    job: Job, store: Store, session: Session, pulse: _Pulse, worker: str, on_event: Listener | None
) -> None:
    """One job to its end, whatever that is; only the end of the process itself gets past here."""
    tell = on_event or (lambda event, job: None)
    tell("started", job)
    with _job_log(store.home, job):
        log.info("%s (attempt %d)", job.label, job.attempts)
        try:
            spec = RunSpec.model_validate(dict(job.spec))
            result = execute(spec, session, Callbacks(pulse.report, pulse.cancelled))
            for note in (*result.notes, *result.flags):
                log.info(note)
            log.info("%s after %.1f s", result.status, result.cost.get("wall_seconds") or 0.0)
            state, error = "done", None
        except Cancelled:
            if pulse.lost:
                log.warning("another process took this job over; its work here is dropped")
                return tell("lost", job)
            if pulse.stopping:
                store.release(job.id)
                log.info("stopped; the job goes back to the queue")
                return tell("lost", job)
            state, error = "cancelled", None
            log.info("cancelled")
        except MucoreError as problem:
            state, error = "failed", str(problem)
            log.error(error)
        except (KeyboardInterrupt, SystemExit):
            # an interrupted notebook cell: this process lives on, so nobody would find the job dead
            store.release(job.id)
            raise
        except Exception as problem:
            # the boundary: a defect in one run must not end the worker, and its text must be kept
            state, error = "failed", f"{type(problem).__name__}: {problem}"
            log.error(traceback.format_exc())
        try:
            store.finish_job(job.id, state, error=error, worker_id=worker)
        except LostJob:
            log.warning("another process took this job over")
    tell(state, store.job(job.id))


class _Pulse:
    """The thread that beats for a worker and its job; cancelling and stopping come back through
    `cancelled()`.
    """

    def __init__(self, store: Store, worker: str, stop: threading.Event, on_event: Listener | None):
        self._store, self._worker, self._stop, self._on_event = store, worker, stop, on_event
        self._job: Job | None = None
        self._lock = threading.Lock()
        self._progress = Progress("starting", 0.0)
        self._losses: list[float] = []
        self._wish = threading.Event()
        self._closed = threading.Event()
        self.lost = False
        self._thread = threading.Thread(target=self._beat_forever, name="pulse", daemon=True)
        self._thread.start()

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    def cancelled(self) -> bool:
        return self._wish.is_set() or self._stop.is_set()

    def report(self, progress: Progress) -> None:
        with self._lock:
            self._progress = progress
            if progress.loss is not None:
                self._losses.append(progress.loss)

    @contextlib.contextmanager
    def of(self, job: Job) -> Generator[None]:
        with self._lock:
            self._job, self._progress, self._losses, self.lost = (
                job,
                Progress("starting", 0.0),
                [],
                False,
            )
            self._wish.clear()
        try:
            yield
        finally:
            with self._lock:
                self._job = None

    def close(self) -> None:
        self._closed.set()
        self._thread.join()

    def _beat_forever(self) -> None:
        while not self._closed.wait(BEAT_SECONDS):
            with self._lock:
                job, progress, losses = self._job, self._progress, tuple(self._losses)
            try:
                self._store.beat_worker(self._worker, "busy" if job else "idle")
                if job is None:
                    continue
                if self._store.beat(
                    job.id, progress=progress.fraction, step=progress.step, losses=losses
                ):
                    self._wish.set()
                if self._on_event is not None:
                    self._on_event("progress", self._store.job(job.id))
            except LostJob:
                with self._lock:
                    if self._job is job:
                        self.lost = True
                        self._wish.set()
            except MucoreError as problem:
                # a full disk, a locked file: the next beat may pass, and the run need not die of it
                log.warning("no heartbeat: %s", problem)


@contextlib.contextmanager
def _job_log(home: Path, job: Job) -> Generator[None]:
    """Everything logged while a job runs goes to its file too, warnings included."""
    path = home / "logs" / (job.log or f"job-{job.id}.log")
    path.parent.mkdir(parents=True, exist_ok=True)
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    loggers = (log, logging.getLogger("py.warnings"))
    logging.captureWarnings(True)
    log.setLevel(logging.INFO)
    for logger in loggers:
        logger.addHandler(handler)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
        logging.captureWarnings(False)
        handler.close()


def _process(pid: int | None) -> psutil.Process | None:
    try:
        return psutil.Process(pid) if pid else None
    except psutil.NoSuchProcess:
        return None


def stop_on_signals() -> threading.Event:
    """An event that SIGTERM and SIGINT set, for a worker that is a process of its own."""
    stop = threading.Event()
    for name in ("SIGTERM", "SIGINT", "SIGBREAK"):  # SIGBREAK is Windows' way
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: stop.set())
    return stop


def set_threads(count: int | None) -> None:
    """Use `count` CPU threads, or all. Raises `BadValue` for fewer than one."""
    if count is not None and count < 1:
        raise BadValue(
            f"--threads must be a whole number from 1, but got {count}. Leave it out to use all."
        )
    torch.set_num_threads(count or os.cpu_count() or 1)
