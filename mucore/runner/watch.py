"""Following a comparison while it is computed: results as they come, steps, Ctrl-C."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Collection
from typing import Any

from mucore import signals
from mucore.errors import Cancelled
from mucore.runner.plan import Plan, call_off
from mucore.store import Store
from mucore.store.records import ENDED_WITHOUT_RESULT, Comparison, Job, Result
from mucore.store.transient_errors import waiting

Show = Callable[[str, Result | None, Job | None], None]  # a run of the plan that came to its end
Step = Callable[[float, str], None]  # the share of runs that have, and what is in hand


def newest(store: Store, keys: Collection[str]) -> dict[str, Job]:
    """The last job of each of these keys that has one."""
    return {job.key: job for job in store.jobs(keys=keys, limit=None)}


class Watch:
    """Follows a comparison in the job table from a second thread: `show` gets every run of the plan
    as it comes, `step` how far it is; passes a Ctrl-C on.

    In the main thread the first Ctrl-C lets the run in hand stop at its next step and then cancels
    this comparison's jobs; a second one ends the process. An error of `show` or `step`, such as a
    closed pipe, ends the work as Ctrl-C does, and is raised where the block ends.
    """

    def __init__(
        self, store: Store, plan: Plan, comparison: Comparison, show: Show | None, step: Step
    ):
        self.store, self.plan, self.comparison, self.show = store, plan, comparison, show
        self.step = step
        self.stopped = threading.Event()  # by Ctrl-C, or by `_problem`
        self._problem: Exception | None = None
        self._shown: set[str] = set()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._handlers: dict[int, Any] = {}

    def __enter__(self) -> Watch:
        if threading.current_thread() is threading.main_thread():
            self._handlers = signals.on_end(self._interrupt)
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._over.set()
        self._thread.join()
        with waiting(lambda _what, seconds: time.sleep(seconds)):
            if self.stopped.is_set() or exception[0] is not None:
                call_off(self.comparison, self.store)
            signals.restore(self._handlers)
            if self._problem is None:
                self._look()
        if self._problem is not None and exception[0] is None:
            raise self._problem

    def _interrupt(self, number: int, frame: object) -> None:
        # Only a flag is set here: the interrupted thread may hold the store's write lock.
        if self.stopped.is_set():
            raise KeyboardInterrupt
        self.stopped.set()

    def _follow(self) -> None:
        # A look at thousands of jobs takes a while, and the runs need the processor.
        pause, over = max(0.4, len(self.plan.to_run) / 1000), False
        while not over:
            try:
                with waiting(self._pause), contextlib.suppress(Cancelled):
                    self._look()
            except Exception as problem:  # `__exit__` raises it, where somebody sees to it
                self._problem = problem
                self.stopped.set()
                return
            over = self._over.wait(pause)

    def _pause(self, what: str, seconds: float) -> None:
        """The store does not answer now: sleep, unless this comes to its end."""
        if self._over.wait(seconds):
            raise Cancelled

    def _look(self) -> None:
        left = [key for key in self.plan.keys if key not in self._shown]
        jobs = newest(self.store, [key for key in left if key not in self.plan.cached])
        known = self.store.known(left)
        for key in left:
            job = jobs.get(key)
            failed = job is not None and job.state in ENDED_WITHOUT_RESULT
            if key in known or (failed and not self.stopped.is_set()):
                if self.show is not None:
                    self.show(key, self.store.get_result(key), job)
                self._shown.add(key)
        running = next((job for job in jobs.values() if job.state == "running"), None)
        words = f"{running.label} · {running.step}" if running else "waiting"
        self.step(len(self._shown) / len(self.plan.keys), words)
