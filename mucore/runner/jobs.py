"""One job from the claim to its end, whatever computes it: heartbeat, progress, the wish to cancel,
its log, and how it ended. Imports no torch.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import traceback
from collections.abc import Callable, Generator
from pathlib import Path

from mucore.errors import Cancelled, MucoreError
from mucore.store import LostJob, Store
from mucore.store.rows import Job

BEAT_SECONDS = 1.0
log = logging.getLogger("mucore")
# event ("started", "progress", "done", "failed", "cancelled", "lost"), job as it is then
Listener = Callable[[str, Job], None]


def run_job(job: Job, store: Store, pulse: Pulse, work: Callable[[], None]) -> None:
    """`work` to its end, whatever that is; only the end of the process itself gets past here."""
    with pulse.of(job):
        _run(job, store, pulse, work)


def _run(job: Job, store: Store, pulse: Pulse, work: Callable[[], None]) -> None:
    pulse.tell("started", job)
    with _job_log(store.home, job):
        log.info("%s (attempt %d)", job.label, job.attempts)
        try:
            work()
            state, error = "done", None
        except Cancelled:
            if pulse.lost:
                log.warning("another process took this job over; its work here is dropped")
                return pulse.tell("lost", job)
            if pulse.stopping:
                store.release(job.id)
                log.info("stopped; the job goes back to the queue")
                return pulse.tell("lost", job)
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
            store.finish_job(job.id, state, error=error, worker_id=pulse.worker)
        except LostJob:
            log.warning("another process took this job over")
    pulse.tell(state, store.job(job.id))


class Pulse:
    """The thread that beats for a worker and its job; cancelling and stopping come back through
    `cancelled()`.

    `worker` is the id that jobs are claimed under; where it has no row among the workers, only its
    job beats.
    """

    def __init__(
        self,
        store: Store,
        worker: str,
        stop: threading.Event | None = None,
        on_event: Listener | None = None,
    ):
        self.worker = worker
        self._store, self._on_event = store, on_event
        self._stop = stop or threading.Event()
        self._job: Job | None = None
        self._lock = threading.Lock()
        self._step, self._fraction = "starting", 0.0
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

    def tell(self, event: str, job: Job) -> None:
        if self._on_event is not None:
            self._on_event(event, job)

    def report(self, step: str, fraction: float, loss: float | None = None) -> None:
        with self._lock:
            self._step, self._fraction = step, fraction
            if loss is not None:
                self._losses.append(loss)

    @contextlib.contextmanager
    def of(self, job: Job) -> Generator[None]:
        with self._lock:
            self._job, self._step, self._fraction = job, "starting", 0.0
            self._losses, self.lost = [], False
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
                job, step, fraction = self._job, self._step, self._fraction
                losses = tuple(self._losses)
            try:
                self._store.beat_worker(self.worker, "busy" if job else "idle")
                if job is None:
                    continue
                if self._store.beat(job.id, progress=fraction, step=step, losses=losses):
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
