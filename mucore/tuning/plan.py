"""What somebody wants searched: methods, tasks, and the means that every method has; and what that
comes to before it begins: references to make, trials to run, and how long.

Imports no torch.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mucore import catalog
from mucore.catalog import plugins
from mucore.errors import BadValue, said
from mucore.numbers import MOST
from mucore.runner.estimate import forecast
from mucore.runner.grid import Grid
from mucore.runs import RunSpec
from mucore.store import Store
from mucore.tuning.study import SEEDS, Folder, Study, seeds_from
from mucore.tuning.task import Task, methods_of, tasks_of

FOLDER = "studies"  # in the home, where nobody names another
TRIALS = 60  # settings of one method at most, the authors' among them
MOST_TRIALS = 10_000
SEED = 100  # the first of the search; results are reported on others
CAP = 1 / 3  # of Retrain's gradient samples, for every setting that is drawn
# Times the cap is still within it, in a search and on a board: 5 of 15 epochs are the cap itself,
# and what a method reads beside its epochs should not shut it out.
SLACK = 1.05
# The cap of a method that can do nothing as cheap as that: a whole Retrain's, with slack.
OPEN = 1.0
JUDGING = 0.5  # seconds that a trial takes beside its method, on the machine of docs/benchmarks.md
USUAL = 30  # trials before a search ends: 10 to 44 in twelve on digits
SPENT = 0.5  # of the cap, where nothing is known of a method yet


@dataclass(frozen=True)
class Wish:
    """What to search: `methods` under each task, at most `trials` settings of each."""

    tasks: Sequence[tuple[Task, Sequence[str]]]
    trials: int = TRIALS
    seed: int = SEED
    cap: float = CAP

    def __post_init__(self) -> None:
        for what, value, fits in (
            (f"1 to {MOST_TRIALS:,} trials", self.trials, 1 <= self.trials <= MOST_TRIALS),
            ("a cap in (0, 1] of Retrain's work", self.cap, 0 < self.cap <= 1),
            (f"a first seed from 0 to {MOST - 2}", self.seed, 0 <= self.seed <= MOST - 2),
        ):
            if not fits:
                raise BadValue(f"A search takes {what}, but got {said(value)}.")


def wish_of(
    grid: Grid, *, trials: int = TRIALS, seed: int = SEED, cap: float = CAP
) -> tuple[Wish, list[str]]:
    """What a grid asks to search, and why some of it is left out. Raises `BadValue` where nothing
    is left.
    """
    tasks, reasons = [], {}
    for task in tasks_of(grid):
        chosen, left_out = methods_of(grid, task)
        reasons |= left_out
        if chosen:
            tasks.append((task, chosen))
    if not tasks:
        raise BadValue(f"Nothing is left to search. {' '.join(dict.fromkeys(reasons.values()))}")
    return Wish(tasks, trials=trials, seed=seed, cap=cap), list(dict.fromkeys(reasons.values()))


def studies_of(wish: Wish, root: Path) -> list[tuple[Task, Study]]:
    """The studies that there are of what was wished for. Raises `BadFile`."""
    return [
        (task, study)
        for task, methods in wish.tasks
        for name in methods
        if (study := Folder(root, task).study(name, revision=revision_of(name))) is not None
    ]


def check_means(wish: Wish, root: Path) -> None:
    """Raise `BadValue` where a study is of another seed or cap than is wished for: all its trials
    have the same means. An open one has a cap of its own, whatever that of the others.
    """
    for task, study in studies_of(wish, root):
        for flag, began, wanted in (
            ("--seed", study.seed, wish.seed),
            ("--cap", study.cap, study.cap if study.open else wish.cap),
        ):
            if began != wanted:
                raise BadValue(
                    f"The study of {study.method} under {task.scenario} began with {flag} {began} "
                    f"and goes on so, but got {wanted}. Give {flag} {began}, or name another "
                    "folder with --studies to begin a second study."
                )


def revision_of(method: str) -> str:
    """What names the code of a method: its card's revision, or the hash of a user's own file."""
    card = catalog.method(method)
    own = plugins.find(method) if card.family == "own" else None
    return own.source_hash if own is not None else str(card.revision)


@dataclass(frozen=True)
class Plan:
    """`references` are trainings, `trials` at most: clear losers stop earlier, and so does a search
    that brings no improvement. `done` are trials that there are. `studies` are not over yet.
    `making` and `trying` are the likely seconds of references and of trials in one process.
    """

    references: int = 0
    trials: int = 0
    done: int = 0
    studies: int = 0
    making: float = 0.0
    trying: float = 0.0

    def time(self, processes: int = 1) -> float:
        """Seconds that it takes so many processes: no two work on one study, and one makes the
        references before the others begin.
        """
        return self.making + self.trying / max(min(processes, self.studies), 1)


def plan(wish: Wish, store: Store, root: Path) -> Plan:
    """Raises `BadFile`, and `BadValue` where a study is of another seed or cap."""
    check_means(wish, root)
    found = Plan()
    for task, methods in wish.tasks:
        folder = Folder(root, task)
        studies = {name: folder.study(name, revision=revision_of(name)) for name in methods}
        counts = {name: left(wish, study) for name, study in studies.items()}
        found = replace(
            found,
            trials=found.trials + sum(counts.values()),
            done=found.done + sum(len(study.trials) for study in studies.values() if study),
            studies=found.studies + sum(map(bool, counts.values())),
        )
        if any(counts.values()):
            missing = missing_references(wish, task, store)
            retrain = task.spec("retrain", seed=wish.seed)
            expected = forecast(store, missing).expect(missing)
            kept = store.get_model(retrain.model_key)
            whole = kept.cost["seconds"] if kept else expected[retrain.key].work
            unknown = SPENT * wish.cap * whole
            seconds = {name: _seconds(study, unknown) for name, study in studies.items()}
            found = replace(
                found,
                references=found.references + len(missing),
                making=found.making + sum(expected[spec.key].seconds for spec in missing),
                trying=found.trying
                + sum(min(n, USUAL) * (seconds[name] + JUDGING) for name, n in counts.items()),
            )
    return found


def missing_references(wish: Wish, task: Task, store: Store) -> list[RunSpec]:
    """The trainings that a task still needs."""
    retrains = [task.spec("retrain", seed=seed) for seed in seeds_from(wish.seed)]
    return [
        spec
        for retrain in retrains
        for spec in (retrain.original(), retrain)
        if (kept := store.get_model(spec.model_key)) is None or kept.weights is None
    ]


def left(wish: Wish, study: Study | None) -> int:
    """Trials that a study still takes at most: those of settings that go on, and all of what may be
    drawn.
    """
    if study is None:
        return SEEDS * wish.trials
    if study.finished(wish.trials):
        return 0
    going_on = sum(SEEDS - len(each.trials) for each in study.pending())
    return going_on + SEEDS * max(wish.trials - len(study.settings), 0)


def _seconds(study: Study | None, otherwise: float) -> float:
    """What a trial of the method takes, from those that there are."""
    known = [trial.seconds for trial in study.trials if trial.seconds] if study else []
    return statistics.fmean(known) if known else otherwise
