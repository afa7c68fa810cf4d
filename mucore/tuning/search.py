"""The search: an equal cap of work for every method, and one rule for when it ends, written down
trial by trial.

The authors' setting is tried first, then what the sampler draws, each on three seeds; a clear loser
stops earlier. The best mean of the three wins.

References and trials run on one thread, so that a study comes out alike however many processes
share the work, and a search that was stopped goes on as if it had not been.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mucore.engine.memory import give_back, keep_freed
from mucore.engine.run import Callbacks, Progress
from mucore.errors import Cancelled, MucoreError, StoreError
from mucore.files import write
from mucore.runner.session import Session
from mucore.runner.training_records import threads
from mucore.store import Store
from mucore.store.trouble import awaited, patient, waiting
from mucore.tuning import objective
from mucore.tuning.judge import Judge
from mucore.tuning.plan import OPEN, SLACK, Wish, check_means, revision_of
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
    """Studies that could not go on; all others of the search did, but those `elsewhere`, by task
    and method, on which somebody else works.
    """

    def __init__(self, sentence: str, elsewhere: Sequence[tuple[Task, str]] = ()):
        super().__init__(sentence)
        self.elsewhere = list(elsewhere)


class Search:
    """Works on the studies below `root` until none of `wish` is left that nobody else works on.

    `on_event` is told of each step, `on_progress` of the run in hand; `cancelled` is asked at every
    step of it. What is finished is written down before anything else begins. A store that is
    locked, full or away is waited for. A study that cannot go on keeps no other from it: `failed`
    has the reason, by task and method, and its trials stay.
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
        on_progress: Callable[[Progress], None] | None = None,
    ):
        self.wish, self.root, self.on_event = wish, root, on_event
        self.session = Session(store, device)
        self.callbacks = Callbacks(on_progress=on_progress, cancelled=cancelled)
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
                    with claimed(lock(folder, method)) as mine:
                        if mine:
                            self._isolated(folder, facts, method)
                            give_back()
                        else:
                            elsewhere.append((task, method))
        return elsewhere

    def left(self, task: Task, methods: Sequence[str]) -> list[str]:
        """The methods whose studies of a task are not over."""
        folder = Folder(self.root, task)
        return [
            name
            for name in methods
            if (task.name, name) not in self.failed and not self._done(folder, name)
        ]

    def references(self, task: Task) -> Facts:
        """What all methods of a task share: made where it is missing, else read. Raises
        `MucoreError` before anything is trained where the package that draws settings is missing.
        """
        optimiser()
        folder = Folder(self.root, task)
        mine = claimed(lock(folder, "task"), wait=self.callbacks.cancelled or _never)
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

    def _done(self, folder: Folder, method: str) -> bool:
        study = folder.study(method, revision=revision_of(method))
        return study is not None and study.finished(self.wish.trials)

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
        study = folder.take_up(method, revision=revision_of(method))
        check_means(self.wish, study)  # somebody may have begun it since this search did
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
            if seed == study.seed:  # the card may have changed since the study began
                study = replace(study, space=dict(space.search), drained=False)
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
            folder.write(replace(study, space=dict(space.search), drained=True))

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
        if not space.fits(values, most * judge.whole):
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


@patient
def lock(folder: Folder, name: str) -> Path:
    """What `claimed` takes for a study, or for what a task's studies share ("task"): beside the
    files, so that searches of several homes see each other, too. Git leaves these alone.
    """
    path = folder.path / ".locks"
    if not (path / ".gitignore").exists():
        write(path / ".gitignore", b"*\n")
    return path / f"{name}.lock"


def _never() -> bool:
    return False


@contextlib.contextmanager
def claimed(path: Path, *, wait: Callable[[], bool] | None = None) -> Generator[bool]:
    """Whether this process has the lock `path` for itself inside. With `wait` it waits for whoever
    has it, and asks that function whether to give up, which raises `Cancelled`. Raises `StoreError`
    where there can be no lock.

    The lock is a database's, which every system lets go when a process dies.
    """
    with _told(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, timeout=0, isolation_level=None)
    try:
        while not (mine := _begin(connection, path)) and wait is not None:
            if wait():
                raise Cancelled
            time.sleep(0.2)
        yield mine
    finally:
        connection.close()


def _begin(connection: sqlite3.Connection, path: Path) -> bool:
    with _told(path):
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:  # the lower byte is the kind
                raise
            return False
    return True


@contextlib.contextmanager
def _told(path: Path) -> Generator[None]:
    """A file system that takes no lock, or no file, must not look like somebody else at work."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise StoreError(
            f"{path} cannot be locked: {error}. See that its folder can be written to, or name "
            "another one with --studies."
        ) from error
