"""What a search comes to before it begins: references to make, trials to run, and how long."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from pathlib import Path

from mucore.runner.estimate import Span, forecast
from mucore.spec import RunSpec
from mucore.store import Store
from mucore.tuning.study import SEEDS, Folder, Study, seeds_from
from mucore.tuning.task import Task
from mucore.tuning.wish import Wish, check_means, revision_of

JUDGING = 0.5  # seconds that a trial takes beside its method, on the machine of docs/benchmarks.md
USUAL = 30  # trials before a search ends: 10 to 44 in twelve on digits
SPENT = 0.5  # of the cap, where nothing is known of a method yet
UNSURE = 1.6  # an estimate may be as many times too long or too short


@dataclass(frozen=True)
class Plan:
    """`references` are trainings, `trials` at most: clear losers stop earlier, and so does a search
    that brings no improvement. `done` are trials that there are, those of `aside` studies among
    them, which were put aside for other code and are brought back. `studies` are not over yet.
    `making` and `trying` are the likely seconds of references and of trials in one process.
    """

    references: int
    trials: int
    done: int
    aside: int
    studies: int
    making: float
    trying: float

    def time(self, processes: int = 1) -> Span:
        """How long it takes so many processes: no two work on one study, and one makes the
        references before the others begin.
        """
        likely = self.making + self.trying / max(min(processes, self.studies), 1)
        return Span(likely / UNSURE, likely, likely * UNSURE)


def plan(wish: Wish, store: Store, root: Path) -> Plan:
    """Raises `BadFile` where the folder is another task's, `BadValue` where a study in it is of
    another seed or cap.
    """
    references, trials, done, aside, unfinished = 0, 0, 0, 0, 0
    making, trying = 0.0, 0.0
    for task, methods in wish.tasks:
        folder = Folder(root, task)
        folder.facts()  # a damaged file is told of before anything is trained
        studies = {name: folder.study(name, revision=revision_of(name)) for name in methods}
        for name in methods:
            if (before := folder.aside(name, revision=revision_of(name))) is not None:
                studies[name] = before
                aside += 1
        for study in studies.values():
            check_means(wish, study)
        counts = {name: left(wish, study) for name, study in studies.items()}
        done += sum(len(study.trials) for study in studies.values() if study is not None)
        if not any(counts.values()):
            continue
        missing = missing_references(wish, task, store)
        expected = forecast(store, missing).expect(missing)
        references += len(missing)
        making += sum(expected[spec.key].seconds for spec in missing)
        retrain = task.spec("retrain", seed=wish.seed)
        kept = store.get_model(retrain.model_key)
        whole = kept.cost["seconds"] if kept else expected[retrain.key].work
        unknown = SPENT * wish.cap * whole
        for name, count in counts.items():
            trials += count
            unfinished += count > 0
            trying += min(count, USUAL) * (_seconds(studies[name], unknown) + JUDGING)
    return Plan(references, trials, done, aside, unfinished, making, trying)


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
        return wish.most
    if study.finished(wish.trials):
        return 0
    going_on = sum(SEEDS - len(each.trials) for each in study.pending())
    return going_on + SEEDS * max(wish.trials - len(study.settings), 0)


def _seconds(study: Study | None, otherwise: float) -> float:
    """What a trial of the method takes, from those that there are."""
    known = [trial.seconds for trial in study.trials if trial.seconds] if study else []
    return statistics.fmean(known) if known else otherwise
