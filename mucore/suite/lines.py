"""Which runs a suite asks for in a division, and which lines of it there cannot be, with the
reason. Imports no torch before something is run.

A line is a method under a task; it has a run for each training seed. Original and Retrain of every
task belong to both divisions. The runs are ordinary ones of the store, so a suite that was stopped
goes on where it was, and what a comparison has computed before is not computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from mucore import catalog
from mucore.catalog import tuning
from mucore.errors import BadValue, MucoreError
from mucore.runner.extra_workers import check_jobs
from mucore.runner.grid import Grid, MethodChoice, ScenarioChoice, expand
from mucore.runner.plan import Plan, plan_specs
from mucore.runs import REFERENCES, RunSpec
from mucore.store import Store
from mucore.store.records import ENDED_WITHOUT_RESULT
from mucore.suite.description import Suite, Task, check
from mucore.suite.description import division as known_division

Kind = Literal["refused", "untuned", "failed", "not run"]
UNTUNED = "No tuned settings found for this task."


@dataclass(frozen=True)
class Missing:
    """A line without a result, or one run of it where `seed` is named."""

    scenario: str
    method: str
    kind: Kind
    reason: str
    seed: int | None = None


@dataclass(frozen=True)
class TaskRuns:
    """The runs of one task: those that train its originals, references under the scenario, then
    methods; and the lines that there cannot be.
    """

    task: Task
    grid: Grid
    specs: tuple[RunSpec, ...]
    missing: tuple[Missing, ...]
    found: Mapping[str, tuning.Tuned] = field(default_factory=dict)  # tuned settings, by method


def methods_of(names: Sequence[str], roster: Sequence[str] = ()) -> list[str]:
    """The ids of methods, "all" for the suite's `roster` or, without one, all that need no file,
    with the baseline that cheats, against which a board is read. References are always there.
    Raises `UnknownName`, `BadValue`.
    """
    if "all" in names and roster:
        found = [*roster]
    elif "all" in names:
        found = [card.id for card in catalog.methods() if not card.needs_file]
    else:
        cards = [catalog.method(name) for name in names]
        if needing := [card.id for card in cards if card.needs_file]:
            raise BadValue(
                f"{needing[0]} works on a file of weights and cannot be a line of a suite. Write a "
                "method of your own (docs/add-a-method.md)."
            )
        found = [card.id for card in cards]
    return [name for name in dict.fromkeys(found) if name not in REFERENCES]


def runs_of(suite: Suite, division: str, methods: Sequence[str]) -> list[TaskRuns]:
    """Task by task, what a division of the suite asks for. Raises `MucoreError`."""
    return [_runs(suite, task, division, methods) for task in suite.tasks]


def _runs(suite: Suite, task: Task, division: str, methods: Sequence[str]) -> TaskRuns:
    missing, choices, settings = [], [], {}
    for name in methods:
        if division == "authors":
            choices.append(MethodChoice(id=name))
        elif (found := tuned(name, task)) is None:
            missing.append(Missing(task.scenario, name, "untuned", UNTUNED))
        else:
            settings[name] = found
            choices.append(MethodChoice(id=name, preset="tuned", parameters=dict(found.values)))
    grid = grid_of(suite, task, choices)
    specs, refused = expand(grid)
    missing += [Missing(task.scenario, r.method, "refused", r.reason) for r in refused]
    return TaskRuns(task, grid, tuple(specs), tuple(missing), settings)


def grid_of(suite: Suite, task: Task, choices: Iterable[MethodChoice]) -> Grid:
    return Grid(
        dataset=task.dataset,
        model=task.model,
        preset=task.preset,
        scenarios=[ScenarioChoice(id=task.scenario, parameters=task.scenario_parameters)],
        methods=list(choices),
        training_seeds=list(suite.training_seeds),
        unlearning_seeds=[suite.unlearning_seed],
        evaluation_seeds=[suite.evaluation_seed],
        mia_samples=suite.mia_samples,
    )


def tuned(method: str, task: Task) -> tuning.Tuned | None:
    """The setting that was found for this very task: of mucore's methods what comes with mucore, of
    a user's own what searches in the home found.
    """
    own = catalog.method(method).family == "own"
    wanted = tuning.TuningTask(
        dataset=task.dataset,
        model=task.model,
        recipe=task.recipe,
        scenario=task.scenario,
        scenario_parameters=task.scenario_parameters,
    )
    known = tuning.own() if own else tuning.shipped()
    return next((each for each in known if each.method == method and each.of(wanted)), None)


def keys(runs: Iterable[TaskRuns]) -> set[str]:
    return {spec.key for each in runs for spec in each.specs}


def failures(store: Store, runs: Sequence[TaskRuns]) -> dict[str, str]:
    """Why runs have no result, by key, as their last job says."""
    jobs = store.jobs(keys=keys(runs), limit=None)
    return {
        job.key: job.error or f"Its run was {job.state}."
        for job in sorted(jobs, key=lambda job: job.id)
        if job.state in ENDED_WITHOUT_RESULT and job.state != "cancelled"
    }


def not_there(
    runs: Sequence[TaskRuns], known: Collection[str], failed: Mapping[str, str]
) -> list[Missing]:
    """The missing lines of a division with the runs that have no result; `failed` says of keys why.

    What only lacks its reference has the reference's reason.
    """
    found = [missing for each in runs for missing in each.missing]
    for spec in (spec for each in runs for spec in each.specs):
        if spec.key not in known and spec.scenario is not None:
            reason = failed.get(spec.key)
            kind = "failed" if reason else "not run"
            said = reason or "It was not run."
            found.append(Missing(spec.scenario, spec.method, kind, said, spec.training_seed))
    return found


def by_reason(missing: Iterable[Missing]) -> dict[str, list[str]]:
    """Each reason once, with the lines that it is about."""
    found: dict[str, dict[str, None]] = {}
    for each in missing:
        found.setdefault(each.reason, {})[f"{each.method} under {each.scenario}"] = None
    return {reason: [*lines] for reason, lines in found.items()}


def check_result(suite: Suite, task: Task, *, data_hash: str, forget_hash: str | None) -> None:
    """Raise `MucoreError` where a result is of other data or of another forget set than the suite
    was frozen with. What is frozen by a published checksum, the loader has checked.
    """
    if task.untried:
        return
    for what, frozen, here in (
        ("data", task.data_hash, data_hash),
        ("forget set", task.forget_hash, forget_hash),
    ):
        if here is not None and here != frozen:
            raise MucoreError(
                f"The {what} of {task.title} has the hash {here[:16]} here, and {suite.id} was "
                f"frozen with {frozen[:16]}: the results would not compare."
            )


# -- to run them


@contextmanager
def one_thread() -> Generator[None]:
    """One thread of PyTorch inside the block: sums then come out alike whatever the number of
    cores.
    """
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def asked(suite: Suite, division: str, methods: Sequence[str]) -> list[TaskRuns]:
    """Task by task what is to be run. Raises `BadValue` where no line is left, or where this
    mucore would give other results than the suite asks for; `UnknownName`.
    """
    check(suite)
    runs = runs_of(suite, known_division(suite, division), methods_of(methods, suite.methods))
    if not any(spec.method not in REFERENCES for each in runs for spec in each.specs):
        reasons = dict.fromkeys(missing.reason for each in runs for missing in each.missing)
        raise BadValue(
            f"No line is left of the division {division} of {suite.id}. "
            f"{' '.join([*reasons][:3]) or 'Name a method with --methods.'}"
        )
    return runs


def plan_of(runs: Sequence[TaskRuns], store: Store, *, jobs: int = 1) -> Plan:
    """One plan of these tasks; which lines there cannot be was said before. Raises as `check_jobs`
    does.
    """
    check_jobs(jobs)
    specs = {spec.key: spec for each in runs for spec in each.specs}
    return plan_specs(runs[0].grid, [*specs.values()], [], store, workers=jobs)


def run(
    suite: Suite,
    division: str,
    runs: Sequence[TaskRuns],
    store: Store,
    compute: Callable[..., object],
    *,
    jobs: int = 1,
    **asked: Any,
) -> None:
    """Task by task, each a comparison of its own; `compute` is `runner.local.compute`, which gets
    what is `asked`, or works as it does. Raises as `check_data` and that.
    """
    check_data(suite)
    for each in runs:
        plan = plan_of([each], store, jobs=jobs)
        asked |= {"name": f"{suite.id}, {division}: {each.task.scenario}", "jobs": jobs}
        with one_thread():
            compute(plan, store, note=f"{suite.id} {suite.hash}", **asked)


def check_data(suite: Suite) -> None:
    """Raise `MucoreError` where a data set is not the one that the suite was frozen with, or is not
    there.
    """
    from mucore import datasets
    from mucore.runs import make_recipe

    for task in {task.dataset: task for task in suite.tasks}.values():
        splits = datasets.load(task.dataset, **make_recipe(task.preset).cut())
        check_result(suite, task, data_hash=splits.data_hash, forget_hash=None)
