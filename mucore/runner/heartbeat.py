"""The thread that beats for a worker and its job: it tells the store that they live and how far
they are, and brings back the wish that they end. What a missing heartbeat means is said in
mucore/store/workers.py. Imports no torch.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Generator, Mapping
from typing import Any

from mucore.errors import Cancelled
from mucore.store import LostJob, Store
from mucore.store.records import Job

BEAT_SECONDS = 2.0  # with progress, if there is any
# A worker that was told to end has so long to give its job back; its death is found otherwise.
LAST_SECONDS = 4.0
log = logging.getLogger("mucore")
# event ("started", "progress", "done", "failed", "cancelled"; "released": it goes on elsewhere or
# later), job as it is then
Listener = Callable[[str, Job], None]


class Heartbeat:
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
        self._thread = threading.Thread(target=self._beat_forever, name="heartbeat", daemon=True)
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

    def close(self) -> None:
        self._closed.set()
        self._thread.join()

    def _beat_forever(self) -> None:
        while not self._closed.wait(BEAT_SECONDS):
            with self._lock:
                job, fraction, losses = self._job, self._fraction, tuple(self._losses)
                step = f"waiting for {self._awaited}" if self._awaited else self._step
            try:
                if job is not None:  # first: whoever cannot tell its facts has not lost its job
                    self._beat(job, step, fraction, losses)
                facts = self._facts() if self._facts is not None else None
                self._store.beat_worker(self.worker, "busy" if job else "idle", facts=facts)
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
