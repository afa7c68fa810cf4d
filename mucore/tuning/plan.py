"""What a search comes to before it begins: references to make, trials to run, and how long."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from pathlib import Path

from mucore import catalog
from mucore.runner.estimate import Span, forecast
from mucore.spec import RunSpec
from mucore.store import Store
from mucore.tuning.study import BEST, Folder, Study
from mucore.tuning.task import Task
from mucore.tuning.wish import SPREAD_SEEDS, Wish, check_means, revision_of

JUDGING = 0.5  # seconds that a trial takes beside its method, on the machine of docs/benchmarks.md
SPENT = 0.5  # of the cap, where nothing is known of a method yet
UNSURE = 1.6  # an estimate may be as many times too long or too short


@dataclass(frozen=True)
class Plan:
    """`references` are trainings, `trials` at most: the second stage ends earlier where nobody can
    win any more. `done` are trials that there are, those of `aside` studies among them, which were
    put aside for other code and are brought back. `studies` are not over yet. `making` and `trying`
    are the likely seconds of references and of trials in one process.
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
        missing = missing_references(wish, task, store, spread=folder.facts() is None)
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
            trying += count * (_seconds(studies[name], unknown) + JUDGING)
    return Plan(references, trials, done, aside, unfinished, making, trying)


def missing_references(wish: Wish, task: Task, store: Store, *, spread: bool) -> list[RunSpec]:
    """The trainings that a task still needs; `spread`: those behind the noise units, too."""
    card = catalog.scenario(task.scenario)
    wanted = []
    for seed in (wish.seed, wish.seed + 1, wish.seed + 2):
        retrain = task.spec("retrain", seed=seed)
        wanted += [retrain.original(), retrain]
    for seed in SPREAD_SEEDS if spread else ():
        retrain = task.spec("retrain", seed=seed)
        wanted += [retrain.original()] * bool(card.needs & {"losses", "downstream"}) + [retrain]
    return [
        spec
        for spec in wanted
        if (kept := store.get_model(spec.model_key)) is None or kept.weights is None
    ]


def left(wish: Wish, study: Study | None) -> int:
    """Trials that a study still takes at most: what is missing of the first stage, and the second
    one of all settings that may be among the best then. Any of these may be one of the missing;
    only those that no five of them can push out have no more to run than what they have not run.
    """
    if study is None:
        return wish.most
    if study.finished(wish.trials):
        return 0
    first = max(wish.trials - len(study.first), 0)
    new, later = min(first, BEST), len(study.seeds()) - 1
    totals = [study.total(trial.values) for trial in study.best()[: BEST - new]]
    return first + new * later + sum(1 + later - count for _, count, fit in totals if fit)


def _seconds(study: Study | None, otherwise: float) -> float:
    """What a trial of the method takes, from those that there are."""
    known = [trial.seconds for trial in study.trials if trial.seconds] if study else []
    return statistics.fmean(known) if known else otherwise
