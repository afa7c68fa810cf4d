"""What a grid means now, as a plan: its runs, what the store has already, what is left and how long
it takes; and `launch`, which queues that.

Imports no torch, so the launch page counts and estimates while a person is still choosing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mucore.errors import MucoreError
from mucore.runner import estimate
from mucore.runner.estimate import Fit
from mucore.runner.grid import Grid, Refusal, expand
from mucore.runner.weight_files import named_by_hash, uploaded_files
from mucore.runs import RunSpec
from mucore.store import Store
from mucore.store.comparisons import check_texts
from mucore.store.records import ACTIVE, Comparison
from mucore.userfiles import weights


@dataclass(frozen=True)
class Plan:
    """`specs` in running order, references before what needs them."""

    grid: Grid
    specs: tuple[RunSpec, ...]
    cached: frozenset[str]
    refused: tuple[Refusal, ...]
    time: float  # wall seconds until the last of them has ended, other jobs in the queue included
    ahead: int  # jobs of others that are queued or running
    basis: str  # what the time is estimated from
    # of the runs that are missing, the one that takes most memory; None where nothing is known
    fit: Fit | None = None

    @property
    def estimate(self) -> dict[str, Any]:
        """As JSON has it: seconds, what they are estimated from, and memory in bytes."""
        return {
            "seconds": self.time,
            "jobs_ahead": self.ahead,
            "basis": self.basis,
            "memory": self.fit.content() if self.fit else None,
        }

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(spec.key for spec in self.specs)

    @property
    def to_run(self) -> tuple[RunSpec, ...]:
        return tuple(spec for spec in self.specs if spec.key not in self.cached)


def make_plan(grid: Grid, store: Store, *, workers: int | None = None) -> Plan:
    """Expand a grid and set aside what the store has. Where nobody chose how pixels are
    preprocessed, a `normalize` layer in a file of weights does. Raises `BadFile` where neither that
    nor a batch norm in the file can tell.

    `workers` share the work (None: those that live).
    """
    if "preprocess" not in grid.recipe and (files := uploaded_files(grid)):
        from mucore.models.checkpoints import preprocess_of  # torch, where there is such a file

        said = max(preprocess_of(weights.stored(store.artifacts, text)) for text in files)
        recipe = grid.recipe | ({"preprocess": said} if said else {})
        grid = grid.model_copy(update={"recipe": recipe})
    return plan_specs(grid, *expand(grid), store, workers=workers)


def plan_specs(
    grid: Grid,
    specs: Sequence[RunSpec],
    refused: Sequence[Refusal],
    store: Store,
    *,
    workers: int | None = None,
) -> Plan:
    """A plan of these runs, references first, as `make_plan` makes it of a grid's."""
    cached = store.known([spec.key for spec in specs])
    left = [spec for spec in specs if spec.key not in cached]
    time, ahead, basis = estimate.time_of(left, store, workers=workers)
    device, free = estimate.available(store)
    return Plan(
        grid=grid,
        specs=tuple(specs),
        cached=frozenset(cached),
        refused=tuple(refused),
        time=time,
        ahead=ahead,
        basis=basis,
        fit=estimate.fit_of(left, device, free, estimate.whole_memory(store.home, device)),
    )


def launch(plan: Plan, store: Store, *, name: str, note: str = "") -> Comparison:
    """Write the comparison down and queue what is missing. Launching the same grid again queues
    nothing that is queued or done.

    Files of weights are copied into the store first. Raises `BadFile` where one is gone.
    """
    if not plan.specs:
        raise MucoreError("Nothing to launch: every chosen method refuses every chosen scenario.")
    check_texts(name, note)
    weights.keep(store.artifacts, uploaded_files(plan.grid))
    comparison = store.create_comparison(
        name, note, named_by_hash(plan.grid).model_dump(mode="json"), plan.keys
    )
    store.enqueue(plan.specs, comparison=comparison.id)
    return comparison


def call_off(comparison: Comparison, store: Store) -> None:
    """Cancel the jobs that a comparison queued, as far as they have not ended; those that a later
    one asked for too, or that another one's wait for, go on.
    """
    active = store.jobs(states=ACTIVE, limit=None)
    others = [job.needs for job in active if job.comparison != comparison.id]
    later = [each.keys for each in store.comparisons() if each.id > comparison.id]
    wanted = set().union(*others, *later)
    mine = [job for job in active if job.comparison == comparison.id]
    store.cancel(*(job.id for job in mine if job.key not in wanted))
