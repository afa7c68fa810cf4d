"""One job from the claim to its end, whatever computes it: heartbeat, progress, the wish to cancel,
its log, and how it ended. Imports no torch.

What may pass (store/retry.py) fails no job. What a run asks of the store is asked again for some
minutes, with the run in hand; where that is not enough, or it was met elsewhere, the job goes back
to the queue and is tried again later.
"""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import os
import threading
import time
import traceback
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any

from mucore.errors import Cancelled, MucoreError
from mucore.store import LostJob, Store
from mucore.store.lease import process_lives
from mucore.store.retry import awaited, waiting
from mucore.store.rows import Job
from mucore.unforeseen import foreseen

BEAT_SECONDS = 2.0  # with progress, if there is any
LOG_BYTES = 8000  # of the end of a job's log that the store keeps
# How long a run waits with what it has computed before its job goes back to the queue.
PATIENCE_SECONDS = 300.0
# A worker that was told to end has so long to give its job back; its death is found otherwise.
LAST_SECONDS = 4.0
log = logging.getLogger("mucore")
# event ("started", "progress", "done", "failed", "cancelled", "lost"), job as it is then
Listener = Callable[[str, Job], None]


def run_job(job: Job, store: Store, pulse: Pulse, work: Callable[[], None]) -> None:
    """`work` to its end, whatever that is; only the end of the process itself gets past here."""
    with pulse.of(job), waiting(pulse.linger):
        pulse.tell("started", job)
        with _job_log(store.home, job):
            log.info("%s (attempt %d)", job.label, job.attempts + 1)
            try:
                event = _run(job, store, pulse, work)
            except LostJob:
                log.warning("another process took this job over; its work here is dropped")
                event = "lost"
            pulse.keep_log(job)
        pulse.tell(event, job if event == "lost" else store.job(job.id))


def _run(job: Job, store: Store, pulse: Pulse, work: Callable[[], None]) -> str:
    """`work`, and the end of the job in the store; the event that this is to a listener. Raises
    `LostJob`.
    """
    error = trouble = None
    try:
        with store.working_on(job.id, pulse.worker), waiting(pulse.wait, limit=PATIENCE_SECONDS):
            work()
        state = "done"
    except Cancelled:
        if pulse.lost or pulse.stopping:
            store.release(job.id, worker_id=pulse.worker)
            log.info("stopped; the job goes back to the queue")
            return "lost"
        state = "cancelled"
        log.info("cancelled")
    except LostJob:
        raise
    except (KeyboardInterrupt, SystemExit):
        # an interrupted notebook cell: this process lives on, so nobody would find the job dead
        store.release(job.id, worker_id=pulse.worker)
        raise
    except Exception as problem:
        # the boundary: a defect in one run must not end the worker, and its text must be kept
        sentence = foreseen(problem)
        state, trouble = "failed", awaited(problem)
        error = str(sentence or f"{type(problem).__name__}: {problem}")
        log.error(error if sentence else traceback.format_exc())
    if trouble is not None:
        store.release(job.id, waits_for=trouble, worker_id=pulse.worker)
        log.info("the job goes back to the queue and waits for %s", trouble)
        return "lost"
    store.finish_job(job.id, state, error=error, worker_id=pulse.worker)
    return state


class Pulse:
    """The thread that beats for a worker and its job; cancelling and stopping come back through
    `cancelled()`.

    `worker` is the id that jobs are claimed under; where it has no row among the workers, only its
    job beats. `facts` gives those of `Worker.facts`.
    """

    def __init__(
        self,
        store: Store,
        worker: str,
        stop: threading.Event | None = None,
        on_event: Listener | None = None,
        facts: Callable[[], Mapping[str, Any]] | None = None,
    ):
        self.worker = worker
        self._store, self._on_event, self._facts = store, on_event, facts
        self._stop = stop or threading.Event()
        self._job: Job | None = None
        self._lock = threading.Lock()
        self._step, self._fraction = "starting", 0.0
        self._awaited = ""
        self._last: float | None = None
        self._losses: list[float] = []
        self._wish = threading.Event()
        self._closed, self._checkpoint = threading.Event(), threading.Event()
        self.lost = False
        self._thread = threading.Thread(target=self._beat_forever, name="pulse", daemon=True)
        self._thread.start()

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    def cancelled(self) -> bool:
        return self._wish.is_set() or self._stop.is_set()

    def tell(self, event: str, job: Job) -> None:
        if self._on_event is not None:
            self._on_event(event, job)

    def report(self, step: str, fraction: float, loss: float | None = None) -> None:
        with self._lock:
            self._step, self._fraction, self._awaited = step, fraction, ""
            if loss is not None:
                self._losses.append(loss)

    def checkpointed(self) -> None:
        """The next try would go on from here: deaths until now count no more."""
        self._checkpoint.set()

    def wait(self, what: str, seconds: float) -> None:
        """Sleep while a run waits for trouble to pass, and say so. Raises `Cancelled` where
        somebody asks for the end.
        """
        with self._lock:
            said, self._awaited = self._awaited, what
        if said != what:
            log.warning("waiting for %s", what)
        ends = time.monotonic() + seconds
        while not self.cancelled() and (left := ends - time.monotonic()) > 0:
            self._stop.wait(min(left, 0.5))
        if self.cancelled():
            raise Cancelled

    def linger(self, what: str, seconds: float) -> None:
        """Sleep while the end of a job cannot be written. Raises `Cancelled` where the worker was
        told to end a while ago; then its death is what others find.
        """
        log.warning("the end of the job waits for %s", what)
        if self._stop.wait(seconds):
            self._last = self._last or time.monotonic() + LAST_SECONDS
            if time.monotonic() > self._last:
                raise Cancelled
            time.sleep(0.2)

    @contextlib.contextmanager
    def of(self, job: Job) -> Generator[None]:
        with self._lock:
            self._job, self._step, self._fraction = job, "starting", 0.0
            self._losses, self._awaited, self.lost = [], "", False
            self._wish.clear()
        self._checkpoint.clear()
        try:
            yield
        finally:
            with self._lock:
                self._job = None

    def keep_log(self, job: Job) -> None:
        """The end of the job's log into the store. A log is worth no trouble."""
        text = log_tail(self._store.home, job.id, LOG_BYTES)
        try:
            self._store.keep_log(job.id, text, worker_id=self.worker)
        except MucoreError as problem:
            log.warning("the end of the log is not kept: %s", problem)

    def close(self) -> None:
        self._closed.set()
        self._thread.join()

    def _beat_forever(self) -> None:
        while not self._closed.wait(BEAT_SECONDS):
            with self._lock:
                job, fraction, losses = self._job, self._fraction, tuple(self._losses)
                step = f"waiting for {self._awaited}" if self._awaited else self._step
            try:
                facts = self._facts() if self._facts is not None else None
                self._store.beat_worker(self.worker, "busy" if job else "idle", facts=facts)
                if job is not None:
                    self._beat(job, step, fraction, losses)
            except LostJob:
                with self._lock:
                    if self._job is job:
                        self.lost = True
                        self._wish.set()
            except Exception as problem:
                # the next beat may pass, and the run need not die of it
                log.warning("no heartbeat: %s", problem)

    def _beat(self, job: Job, step: str, fraction: float, losses: tuple[float, ...]) -> None:
        checkpoint = self._checkpoint.is_set()
        if self._store.beat(
            job.id, self.worker, progress=fraction, step=step, losses=losses, checkpoint=checkpoint
        ):
            self._wish.set()
        if checkpoint:
            self._checkpoint.clear()
        if self._on_event is not None:
            self._on_event("progress", self._store.job(job.id))


def log_tail(home: Path, job_id: int, size: int) -> str:
    """The last `size` bytes of a job's log in this home, whole lines; "" where there is none."""
    try:
        with (home / "logs" / f"job-{job_id}.log").open("rb") as file:
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
    here = log_tail(store.home, job.id, size)
    elsewhere = job.worker is not None and process_lives(job.worker) is None
    return here if here and not elsewhere else store.kept_log(job.id)[-size:] or here


@contextlib.contextmanager
def _job_log(home: Path, job: Job) -> Generator[None]:
    """Everything logged while a job runs goes to its file too, warnings and the stack of a crash
    included. A file that cannot be written costs the log, not the run.
    """
    path = home / "logs" / (job.log or f"job-{job.id}.log")
    handler: logging.Handler = logging.NullHandler()
    crashes = False
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = file = logging.FileHandler(path, encoding="utf-8")
        if file.stream is not None and (crashes := not faulthandler.is_enabled()):
            faulthandler.enable(file.stream)
    except OSError as problem:
        log.warning("the log of job %d cannot be written: %s", job.id, problem)
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
        if crashes:
            faulthandler.disable()
        with contextlib.suppress(OSError):  # what the disk had no room for
            handler.close()
