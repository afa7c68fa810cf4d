"""A plan that is computed here and now, in this process and its helpers: for Python and the command
line. Brings torch only where something is left to run.
"""

from __future__ import annotations

from collections.abc import Iterable

from mucore.errors import BadValue, warn
from mucore.runner.extra_workers import extra_workers
from mucore.runner.grid import Grid
from mucore.runner.plan import Plan, launch
from mucore.runner.watch import Show, Step, Watch, newest
from mucore.store import Store
from mucore.store.records import Job


def say_refused(plan: Plan, *, every: bool = False) -> None:
    """Warn of combinations that were asked for and cannot run. Raises `BadValue` for a method that
    has no run at all, unless `every` method was asked for.
    """
    planned = {spec.method for spec in plan.specs}
    never = dict.fromkeys(each.method for each in plan.refused if each.method not in planned)
    if never and not every:
        raise BadValue(
            f"{' and '.join(never)} runs in none of the chosen scenarios and scopes. Choose "
            "others, or all methods to leave it out."
        )
    for reason in dict.fromkeys(refusal.reason for refusal in plan.refused):
        warn(f"Left out: {reason}")


def title(grid: Grid) -> str:
    """What a comparison is called that nobody named."""
    names = (", then " if grid.sequence else ", ").join(choice.id for choice in grid.scenarios)
    return f"{grid.dataset} · {grid.model} · {names}"


def compute(
    plan: Plan,
    store: Store,
    *,
    name: str | None = None,
    note: str = "from Python",
    device: str = "auto",
    anyway: bool = False,
    insist: str = "insist with anyway=True",
    jobs: int = 1,
    show: Show | None = None,
    step: Step = lambda *_: None,
) -> list[Job]:
    """Queue what a plan lacks and work on it, in `jobs` processes, until it is done; returns the
    last job of each run that came to no result. `show` and `step` are told as a `Watch` tells.

    Warns of runs that may not fit into memory; raises as `preflight.check`, and `KeyboardInterrupt`
    with a sentence where somebody stopped it, which cancels what is left.
    """
    if plan.to_run:
        from mucore.runner.preflight import check

        if said := check(plan, store, device=device, anyway=anyway, insist=insist):
            warn(said)
    comparison = launch(plan, store, name=name or title(plan.grid), note=note)
    with Watch(store, plan, comparison, show, step) as watch:
        if plan.to_run:
            from mucore.runner.worker import work

            keys = {spec.key for spec in plan.to_run}
            with extra_workers(store, jobs - 1, device=device):
                work(store, device=device, only=keys, until_done=True, stop=watch.stopped)
    missing = {*plan.keys} - store.known(plan.keys)
    if watch.stopped.is_set():
        every = len(plan.keys)
        raise KeyboardInterrupt(
            f"Interrupted with {every - len(missing)} of {every} results stored; the same command "
            "goes on from there."
        )
    return [*newest(store, missing).values()]


def reasons(failed: Iterable[Job]) -> list[str]:
    """Why runs have no result, each reason once, with the runs that it stopped; what only lacks a
    failed reference shares the reference's reason.
    """
    found: dict[str, list[str]] = {}
    # a reference's own error is part of its dependants'
    for job in sorted(failed, key=lambda job: len(job.error or "")):
        error = job.error or f"It is {job.state}; see {job.log or 'its log'}."
        reason = next((known for known in found if error.endswith(known)), error)
        found.setdefault(reason, []).append(job.label)
    return [f"{reason} ({', '.join(labels)})" for reason, labels in found.items()]
