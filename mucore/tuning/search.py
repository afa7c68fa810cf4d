"""The search: an equal cap of work for every method, and one rule for when it ends, written down
trial by trial.

The authors' setting is tried first, then what the sampler draws, each on three seeds; a clear loser
stops earlier. The best mean of the three wins.

References and trials run on one thread, so that a study comes out alike however many processes
share the work, and a search that was stopped goes on as if it had not been.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from filelock import FileLock, Timeout

from mucore.engine.memory import give_back, keep_freed
from mucore.engine.run import Callbacks
from mucore.errors import Cancelled, MucoreError, StoreError
from mucore.runner.session import Session
from mucore.runner.training_records import threads
from mucore.store import Store
from mucore.store.transient_errors import awaited, waiting
from mucore.tuning import objective
from mucore.tuning.judge import Judge
from mucore.tuning.plan import OPEN, SLACK, Wish, revision_of
from mucore.tuning.space import Space, draw, optimiser
from mucore.tuning.study import Facts, Folder, Study, Trial, seeds_from
from mucore.tuning.task import Task

log = logging.getLogger("mucore")
Values = Mapping[str, object]


@dataclass(frozen=True)
class Event:
    """What just happened: a reference was made (`trial` None), or a trial ended."""

    task: Task
    method: str
    study: Study | None = None
    trial: Trial | None = None


class StudiesFailed(MucoreError):
    """Studies that could not go on; all others of the search did."""


class Search:
    """Works on the studies below `root` until none of `wish` is left that nobody else works on.

    `on_event` is told of each trial, `cancelled` is asked at every step of one. What is finished is
    written down before anything else begins. A store that is locked, full or away is waited for. A
    study that cannot go on keeps no other from it: `failed` has the reason, by task and method, and
    its trials stay.
    """

    def __init__(
        self,
        wish: Wish,
        store: Store,
        root: Path,
        *,
        device: str = "auto",
        cancelled: Callable[[], bool] | None = None,
        on_event: Callable[[Event], None] = lambda _: None,
    ):
        self.wish, self.root, self.on_event = wish, root, on_event
        self.session = Session(store, device)
        self.callbacks = Callbacks(cancelled=cancelled)
        self.failed: dict[tuple[str, str], str] = {}
        self._judges: dict[int, Judge] = {}
        if self.session.device.type == "cpu":
            keep_freed()  # as a worker does

    def run(self) -> list[tuple[Task, str]]:
        """Returns the studies, by task and method, that are left to somebody else who works on
        them. Raises `Cancelled` where a person asked for the end, and `MucoreError`. Those in
        `failed` are not tried again.
        """
        elsewhere = []
        with threads(1), waiting(self._wait):
            for task, methods in self.wish.tasks:
                folder = Folder(self.root, task)
                left = self.left(task, methods)
                if not left:
                    continue
                facts = self.references(task)
                for method in left:
                    with claimed(folder.path, method) as mine:
                        if mine:
                            self._isolated(folder, facts, method)
                            give_back()
                        else:
                            elsewhere.append((task, method))
        return elsewhere

    def left(self, task: Task, methods: Sequence[str]) -> list[str]:
        """The methods whose studies of a task are not over."""
        folder = Folder(self.root, task)
        studies = {name: folder.study(name, revision=revision_of(name)) for name in methods}
        return [
            name
            for name, study in studies.items()
            if (task.name, name) not in self.failed
            and not (study is not None and study.finished(self.wish.trials))
        ]

    def references(self, task: Task) -> Facts:
        """What all methods of a task share: made where it is missing, else read. Raises
        `MucoreError` before anything is trained where the package that draws settings is missing.
        """
        optimiser()
        folder = Folder(self.root, task)
        mine = claimed(folder.path, "task", wait=self.callbacks.cancelled or (lambda: False))
        with mine, threads(1), waiting(self._wait):
            before, seeds, sizes = folder.facts(), {}, {}
            for seed in seeds_from(self.wish.seed):
                judge = self._judge(task, seed)
                self.on_event(Event(task, "retrain"))
                seeds[str(seed)] = {"original": judge.original, "retrain": judge.retrain}
                sizes = judge.sizes()
            facts = Facts(task.content(), sizes, seeds | (dict(before.seeds) if before else {}))
            folder.write_facts(facts)
        return facts

    def _judge(self, task: Task, seed: int) -> Judge:
        if any(judge.task != task for judge in self._judges.values()):
            self._judges = {}  # only one task's networks and data stay in memory
        if seed not in self._judges:
            self._judges[seed] = Judge(task, seed, self.session, self.callbacks)
        return self._judges[seed]

    def _isolated(self, folder: Folder, facts: Facts, method: str) -> None:
        """The boundary: what one study raises must not end those after it, and is kept."""
        try:
            self._study(folder, facts, method)
        except (Cancelled, StoreError):
            raise
        except Exception as error:
            if awaited(error) is not None:
                raise
            known = isinstance(error, MucoreError)
            reason = str(error) if known else f"{type(error).__name__}: {error}"
            log.error("%s under %s: %s", method, folder.task.scenario, reason, exc_info=not known)
            self.failed[folder.task.name, method] = (
                f"The search of {method} under {folder.task.scenario} could not go on: {reason}"
            )
            self._judges = {}  # it may have changed what it was lent

    def _study(self, folder: Folder, facts: Facts, method: str) -> None:
        """Bring one study to its end."""
        judge = self._judge(folder.task, self.wish.seed)
        space = judge.space(method)
        study = folder.study(method, revision=revision_of(method))
        if study is None:
            most = SLACK * self.wish.cap * judge.whole
            fits = draw(space, [], seed=self.wish.seed, most=most)
            study = Study(
                task=folder.task.content(),
                method=method,
                revision=revision_of(method),
                seed=self.wish.seed,
                cap=self.wish.cap if fits is not None else OPEN,
                open=fits is None,
            )
        study = replace(study, asked=self.wish.trials)
        while (wanted := self._next(study, space, judge)) is not None:
            values, seed, had = wanted
            # what fitted on one seed is not cut short on another, whose data cost a bit more
            most = SLACK * max(study.cap, had)
            trial = self._trial(
                folder.task,
                facts,
                study,
                values,
                seed,
                most=most if study.trials else SLACK * OPEN,  # the authors' setting
                cap=most,
            )
            study = replace(study, trials=(*study.trials, trial))
            folder.write(study)
            self.on_event(Event(folder.task, method, study, trial))
        if not study.finished(self.wish.trials):  # or it would be gone on with at every start
            folder.write(replace(study, drained=True))

    def _next(self, study: Study, space: Space, judge: Judge) -> tuple[Values, int, float] | None:
        """The next setting, its seed, and the work that it took on those before."""
        if not study.trials:
            return space.authors(), study.seed, 0.0
        if waiting := study.pending():
            best = waiting[0]
            return best.values, study.seed + len(best.trials), best.trials[0].work
        if study.finished(self.wish.trials):
            return None
        most = SLACK * study.cap * judge.whole
        drawn = draw(space, study.tried(), seed=study.seed, most=most)
        return None if drawn is None else (drawn, study.seed, 0.0)

    def _trial(
        self,
        task: Task,
        facts: Facts,
        study: Study,
        values: Values,
        seed: int,
        *,
        most: float,
        cap: float,
    ) -> Trial:
        judge = self._judge(task, seed)
        space = judge.space(study.method)
        predicted = space.predicted(values) / judge.whole
        if predicted > most:
            return Trial(
                seed=seed,
                values=values,
                score=objective.WORST,
                work=float(f"{predicted:.6g}"),
                seconds=0.0,
                over=True,
                ended=f"it would take {predicted:.3g} of Retrain's gradient samples",
            )
        limits = facts.limits(study.seed)
        return judge.attempt(study.method, values, limits, most=most, cap=cap)

    def _wait(self, what: str, seconds: float) -> None:
        """Sleep until trouble of the store is looked at again. Raises `Cancelled`."""
        log.warning("waiting for %s", what)
        ends = time.monotonic() + seconds
        while (left := ends - time.monotonic()) > 0:
            if self.callbacks.cancelled is not None and self.callbacks.cancelled():
                raise Cancelled
            time.sleep(min(left, 0.5))


@contextmanager
def claimed(folder: Path, name: str, *, wait: Callable[[], bool] | None = None) -> Generator[bool]:
    """Whether this process has a study for itself inside, or what a task's studies share ("task").
    The lock lies beside the files, so that searches of several homes see each other, too, and goes
    with a process that dies. With `wait` it waits for whoever has it, and asks that function
    whether to give up, which raises `Cancelled`. Raises `StoreError` where there can be no lock.
    """
    path = folder / ".locks" / f"{name}.lock"
    lock = FileLock(path, poll_interval=0.2)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(Timeout):
            lock.acquire(timeout=0 if wait is None else 1e9, cancel_check=wait)
    except (OSError, NotImplementedError) as error:
        raise StoreError(
            f"{path} cannot be locked: {error}. See that its folder can be written to, or name "
            "another one with --studies."
        ) from error
    if wait is not None and not lock.is_locked:
        raise Cancelled
    try:
        yield lock.is_locked
    finally:
        lock.release()
