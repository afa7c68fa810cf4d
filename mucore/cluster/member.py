"""A worker in a process that Ray has placed: today's loop in a thread, so that questions are
answered while a run computes. Knows nothing of Ray.
"""

from __future__ import annotations

import os
import socket
import threading
from dataclasses import dataclass, field
from pathlib import Path

from mucore.store.workers import process_id

# A run looks for the wish to end at each step; a step may take long on a busy machine.
HAND_BACK_SECONDS = 120.0
AGAIN_SECONDS = 10.0  # between tries to begin


@dataclass(frozen=True)
class Order:
    """What each worker is to be: CPUs as threads, GPUs (0.5 is a half of one), and its store.

    `url` may hold a password, so no representation shows it. `home` is None for that of the user
    on the worker's machine; a `MUCORE_HOME` that is set there goes first, for its disks are its
    own.
    """

    cpus: int = 1
    gpus: float = 0.0
    home: str | None = None
    url: str | None = field(default=None, repr=False)
    artifacts: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Report:
    """How a worker is: `state` is "starting", "working", "ending", "ended" or, where `problem`
    says why it takes no jobs and tries again, "in trouble". `worker` is its id in the store.
    """

    worker: str
    host: str
    pid: int
    state: str
    problem: str
    # whether its Ray lets only those in who know the token
    protected: bool


class Member:
    """One worker. It begins when the object is made, and begins again after any trouble."""

    def __init__(self, order: Order):
        self.order = order
        self._stop = threading.Event()
        self._working, self._problem = False, ""
        self._thread = threading.Thread(target=self._serve, name="worker", daemon=True)
        self._thread.start()

    def report(self) -> Report:
        if not self._thread.is_alive():
            state = "ended"
        elif self._stop.is_set():
            state = "ending"
        elif self._problem:
            state = "in trouble"
        else:
            state = "working" if self._working else "starting"
        return Report(
            process_id(),
            socket.gethostname(),
            os.getpid(),
            state,
            self._problem,
            os.environ.get("RAY_AUTH_MODE", "").lower() == "token",
        )

    def end(self) -> bool:
        """Take no further job, and hand the run in hand back to the queue. Returns whether the
        worker has ended.
        """
        self._stop.set()
        self._thread.join(HAND_BACK_SECONDS)
        return not self._thread.is_alive()

    def _serve(self) -> None:
        while not self._stop.is_set():
            try:
                self._work()
            except Exception as problem:
                # the boundary: `report` tells it, and what was wrong may be mended meanwhile
                said = str(problem) or type(problem).__name__
                self._problem = said.strip().splitlines()[0]
                self._stop.wait(AGAIN_SECONDS)
            finally:
                self._working = False

    def _work(self) -> None:
        from mucore.runner.worker import set_threads, work
        from mucore.store import open_store

        order = self.order
        home = os.environ.get("MUCORE_HOME") or order.home
        with open_store(
            Path(home) if home else None, url=order.url, artifacts=order.artifacts
        ) as store:
            self._working, self._problem = True, ""
            set_threads(order.cpus)
            work(
                store,
                device="cuda" if order.gpus else "cpu",
                gpu_share=min(order.gpus, 1.0) if order.gpus else 1.0,
                stop=self._stop,
            )
