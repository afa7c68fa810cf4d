"""Following a comparison while it runs: progress for a person, results as they come, Ctrl-C."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mucore import signals
from mucore.cli.base import end_progress, progress, tell
from mucore.cli.printing import duration
from mucore.errors import Cancelled

if TYPE_CHECKING:
    from mucore.runner.plan import Plan
    from mucore.store import Store
    from mucore.store.rows import Comparison, Job, Result


def describe_failure(job: Job) -> dict[str, Any]:
    """A run without a result as one JSON object, beside those of finished runs."""
    return {
        "key": job.key,
        "spec": dict(job.spec),
        "cached": False,
        "status": job.state,
        "error": job.error,
        "verdict": None,
        "metrics": {},
        "cost": {},
        "seconds": None,
    }


class Watch:
    """Follows a comparison in the job table from a second thread: prints results as they come,
    shows progress, passes a Ctrl-C on.

    The first Ctrl-C lets the run in hand stop at its next step and then cancels this comparison's
    jobs; a second one ends the process. An error of `show` or of the screen, such as a closed pipe,
    ends the work as Ctrl-C does, and is raised where the block ends.
    """

    def __init__(
        self,
        store: Store,
        plan: Plan,
        comparison: Comparison,
        show: Callable[[str, Result | None, Job | None], None],
    ):
        self.store, self.plan, self.comparison, self.show = store, plan, comparison, show
        self.stopped = threading.Event()  # by Ctrl-C, or by `_problem`
        self._problem: Exception | None = None
        self.failed: dict[str, Job] = {}
        self._shown: set[str] = set()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._handlers: dict[int, Any] = {}
        self._labels = {spec.key: spec.label for spec in plan.specs}

    def __enter__(self) -> Watch:
        self._handlers = signals.on_end(self._interrupt)
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        # a second that the other commands do not need
        from mucore.runner.plan import call_off
        from mucore.store.retry import waiting

        self._over.set()
        self._thread.join()
        try:
            with waiting(lambda _what, seconds: time.sleep(seconds)):
                if self.stopped.is_set() or exception[0] is not None:
                    call_off(self.comparison, self.store)
                signals.restore(self._handlers)
                if self._problem is None:
                    self._step()
        finally:
            end_progress()
        if self._problem is not None and exception[0] is None:
            raise self._problem

    def _interrupt(self, number: int, frame: object) -> None:
        # Only a flag is set here: the interrupted thread may hold the store's write lock.
        if self.stopped.is_set():
            raise KeyboardInterrupt
        self.stopped.set()

    def _follow(self) -> None:
        from mucore.store.retry import waiting

        # A look at thousands of jobs takes a while, and the runs need the processor.
        pause, over = max(0.4, len(self.plan.to_run) / 1000), False
        while not over:
            try:
                with waiting(self._pause), contextlib.suppress(Cancelled):
                    self._step()
            except Exception as problem:  # `__exit__` raises it, where somebody sees to it
                self._problem = problem
                self.stopped.set()
                return
            over = self._over.wait(pause)

    def _pause(self, what: str, seconds: float) -> None:
        """The store does not answer now: sleep, unless this comes to its end."""
        if self._over.wait(seconds):
            raise Cancelled

    def newest(self) -> dict[str, Job]:
        """The last job of each key of the plan that is not in the store from before and has not
        come to an end since.
        """
        keys = [spec.key for spec in self.plan.to_run if spec.key not in self._shown]
        jobs = self.store.jobs(keys=keys, limit=1_000_000) if keys else []
        return {job.key: job for job in sorted(jobs, key=lambda job: job.id)}

    def unfinished(self) -> list[str]:
        known = self.store.known(list(self.plan.keys))
        return [key for key in self.plan.keys if key not in known]

    def _step(self) -> None:
        from mucore.store.rows import ENDED_WITHOUT_RESULT

        jobs = self.newest()
        waiting = [key for key in self.plan.keys if key not in self._shown]
        known = self.store.known(waiting) if waiting else set()
        for key in waiting:
            job = jobs.get(key)
            if key in known:
                self._finish(key, self.store.get_result(key), job)
            elif (
                job is not None and job.state in ENDED_WITHOUT_RESULT and not self.stopped.is_set()
            ):
                self.failed[key] = job
                self._finish(key, None, job)
        running = [job for job in jobs.values() if job.state == "running"]
        words = f"{running[0].label} · {running[0].step}" if running else "waiting"
        progress(len(self._shown) / len(self.plan.keys), words)

    def _finish(self, key: str, result: Result | None, job: Job | None) -> None:
        self.show(key, result, job)
        self._shown.add(key)
        if key in self.plan.cached or self.stopped.is_set():
            return
        state, took = job.state if job is not None else "", ""
        if result is not None:
            state, took = result.status, f" in {duration(result.cost.get('wall_seconds') or 0.0)}"
        count = f"{len(self._shown)}/{len(self.plan.keys)}"
        tell(f"{count} {state}: {self._labels[key]}{took}")
