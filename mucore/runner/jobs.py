"""One job from the claim to its end, whatever computes it: its log, and how it ended. Imports no
torch.

What may pass (store/transient_errors.py) fails no job. What a run asks of the store is asked again
for some minutes, with the run in hand; where that is not enough, or it was met elsewhere, the job
goes back to the queue and is tried again later.
"""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import os
import traceback
from collections.abc import Callable, Generator
from pathlib import Path

from mucore.errors import Cancelled, MucoreError
from mucore.runner.heartbeat import Heartbeat
from mucore.store import LostJob, Store
from mucore.store.records import Job
from mucore.store.transient_errors import awaited, waiting
from mucore.store.workers import process_lives
from mucore.unforeseen import foreseen

LOG_BYTES = 8000  # of the end of a job's log that the store keeps
# How long a run waits with what it has computed before its job goes back to the queue.
PATIENCE_SECONDS = 300.0
log = logging.getLogger("mucore")


def run_job(job: Job, store: Store, heartbeat: Heartbeat, work: Callable[[], None]) -> None:
    """`work` to its end, whatever that is; only the end of the process itself gets past here."""
    with heartbeat.of(job), waiting(heartbeat.linger):
        heartbeat.tell("started", job)
        with _job_log(_file(store, job)):
            log.info("%s (workers that died at it: %d)", job.label, job.deaths)
            try:
                event = _run(job, store, heartbeat, work)
            except LostJob:
                log.warning("another process took this job over; its work here is dropped")
                event = "released"
            _keep_log(job, store, heartbeat.worker)
        heartbeat.tell(event, job if event == "released" else store.job(job.id))


def _run(job: Job, store: Store, heartbeat: Heartbeat, work: Callable[[], None]) -> str:
    """`work`, and the end of the job in the store; the event that this is to a listener. Raises
    `LostJob`.
    """
    error = trouble = None
    try:
        with (
            store.working_on(job.id, heartbeat.worker),
            waiting(heartbeat.wait, limit=PATIENCE_SECONDS),
        ):
            work()
        state = "done"
    except Cancelled:
        if heartbeat.lost or heartbeat.stopping:
            store.release(job.id, worker_id=heartbeat.worker)
            log.info("stopped; the job goes back to the queue")
            return "released"
        state = "cancelled"
        log.info("cancelled")
    except LostJob:
        raise
    except (KeyboardInterrupt, SystemExit):
        # an interrupted notebook cell: this process lives on, so nobody would find the job dead
        store.release(job.id, worker_id=heartbeat.worker)
        raise
    except Exception as problem:
        # the boundary: a defect in one run must not end the worker, and its text must be kept
        sentence = foreseen(problem)
        state, trouble = "failed", awaited(problem)
        error = str(sentence or f"{type(problem).__name__}: {problem}")
        log.error(error if sentence else traceback.format_exc())
    if trouble is not None:
        store.release(job.id, waits_for=trouble, worker_id=heartbeat.worker)
        log.info("the job goes back to the queue and waits for %s", trouble)
        return "released"
    store.finish_job(job.id, state, error=error, worker_id=heartbeat.worker)
    return state


def _keep_log(job: Job, store: Store, worker: str) -> None:
    """The end of the job's log into the store. A log is worth no trouble."""
    text = tail(_file(store, job), LOG_BYTES)
    try:
        store.keep_log(job.id, text, worker_id=worker)
    except MucoreError as problem:
        log.warning("the end of the log is not kept: %s", problem)


def _file(store: Store, job: Job) -> Path:
    return store.home / "logs" / (job.log or f"job-{job.id}.log")


def tail(path: Path, size: int) -> str:
    """The last `size` bytes of a log, whole lines; "" where there is none."""
    try:
        with path.open("rb") as file:
            start = max(0, file.seek(0, os.SEEK_END) - size)
            file.seek(start)
            text = file.read().decode("utf-8", errors="replace")
    except OSError:
        return ""
    return text.split("\n", 1)[-1] if start else text


def end_of_log(store: Store, job: Job, size: int = LOG_BYTES) -> str:
    """The end of a job's log: from its file where it ran on this machine last, else as the store
    keeps it; "" where there is none.
    """
    here = tail(_file(store, job), size)
    elsewhere = job.worker is not None and process_lives(job.worker) is None
    return here if here and not elsewhere else store.kept_log(job.id)[-size:] or here


@contextlib.contextmanager
def _job_log(path: Path) -> Generator[None]:
    """Everything logged while a job runs goes to its file too, warnings and the stack of a crash
    included. A file that cannot be written costs the log, not the run.
    """
    handler: logging.Handler = logging.NullHandler()
    crashes = False
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = file = logging.FileHandler(path, encoding="utf-8")
        if file.stream is not None and (crashes := not faulthandler.is_enabled()):
            faulthandler.enable(file.stream)
    except OSError as problem:
        log.warning("%s cannot be written: %s", path.name, problem)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    loggers = (log, logging.getLogger("py.warnings"))
    level = log.level
    logging.captureWarnings(True)
    log.setLevel(logging.INFO)
    for logger in loggers:
        logger.addHandler(handler)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
        log.setLevel(level)  # whoever called may log by rules of their own
        logging.captureWarnings(False)
        if crashes:
            faulthandler.disable()
        with contextlib.suppress(OSError):  # what the disk had no room for
            handler.close()
