"""From a suite to a pack: what is to be computed, whether data and code are those of the suite, and
what came of it.

The runs are ordinary ones of the store, so a suite that was stopped goes on where it was, and what
a comparison has computed before is not computed again.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from mucore.errors import BadValue
from mucore.runner.plan import Plan, plan_specs
from mucore.store import Store
from mucore.suite import lines
from mucore.suite.description import Suite, check
from mucore.suite.lines import TaskRuns


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
    mucore would give other results than the suite asks for.
    """
    check(suite)
    runs = lines.runs_of(suite, division, lines.methods_of(methods))
    if not any(spec.method not in lines.REFERENCES for each in runs for spec in each.specs):
        reasons = dict.fromkeys(missing.reason for each in runs for missing in each.missing)
        raise BadValue(
            f"No line is left of the division {division} of {suite.id}. "
            f"{' '.join([*reasons][:3]) or 'Name a method with --methods.'}"
        )
    return runs


def plan_of(runs: Sequence[TaskRuns], store: Store, *, jobs: int = 1) -> Plan:
    """One plan of these tasks; which lines there cannot be was said before."""
    specs = {spec.key: spec for each in runs for spec in each.specs}
    return plan_specs(runs[0].grid, [*specs.values()], [], store, workers=jobs)


def title(suite: Suite, division: str, each: TaskRuns) -> str:
    """Of the comparison that a task is in the store."""
    return f"{suite.id}, {division}: {each.task.scenario}"


def check_data(suite: Suite) -> None:
    """Raise `MucoreError` where a data set is not the one that the suite was frozen with, or is not
    there.
    """
    from mucore import datasets
    from mucore.spec import make_recipe

    for task in {task.dataset: task for task in suite.tasks}.values():
        splits = datasets.load(task.dataset, **make_recipe(task.preset).cut())
        lines.check_result(suite, task, data_hash=splits.data_hash, forget_hash=None)
