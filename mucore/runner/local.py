"""A plan that is computed here and now, in this process and its helpers: for Python and the command
line. Brings torch only where something is left to run.
"""

from __future__ import annotations

import threading

from mucore.errors import BadValue, warn
from mucore.runner.grid import Grid
from mucore.runner.helpers import helpers
from mucore.runner.plan import Plan, launch
from mucore.store import Store
from mucore.store.rows import Comparison


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


def queue(
    plan: Plan, store: Store, *, name: str, note: str, device: str, anyway: bool, insist: str
) -> Comparison:
    """Queue what a plan lacks. Warns of runs that may not fit into memory; raises as `check`."""
    if plan.to_run:
        from mucore.runner.preflight import check

        if said := check(plan, store, device=device, anyway=anyway, insist=insist):
            warn(said)
    return launch(plan, store, name=name, note=note)


def work_on(
    plan: Plan, store: Store, *, device: str, jobs: int = 1, stop: threading.Event | None = None
) -> None:
    """Work on what was queued, in `jobs` processes, until it is done or somebody stops it."""
    if plan.to_run:
        from mucore.runner.worker import work

        keys = {spec.key for spec in plan.to_run}
        with helpers(store, jobs - 1, device=device):
            work(store, device=device, only=keys, until_done=True, stop=stop)
