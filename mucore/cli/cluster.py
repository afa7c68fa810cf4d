"""Commands on workers of a Ray cluster."""

from __future__ import annotations

import dataclasses
import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import cyclopts
from cyclopts import Parameter

from mucore.cli.base import FAILED, WHOLE, Json, complain, open_home
from mucore.cli.printing import print_table, to_json
from mucore.errors import BadValue

if TYPE_CHECKING:
    from mucore.cluster.crew import Crew, Named
    from mucore.cluster.member import Order, Report
    from mucore.store.records import Job

Address = Annotated[
    str,
    Parameter(help="Ray's head as HOST:PORT; auto: of the cluster that this machine is part of."),
]

app = cyclopts.App(
    name="cluster", help="Workers on the machines of a Ray cluster (docs/cluster.md)."
)


@app.command
def up(
    *,
    workers: Annotated[int, WHOLE],
    gpus_per_worker: float = 1.0,
    cpus_per_worker: Annotated[int, WHOLE] = 4,
    address: Address = "auto",
) -> None:
    """Start workers, which stay until `cluster down`, whatever becomes of this program. They take
    jobs from the store that MUCORE_STORE_URL names here.

    Parameters
    ----------
    workers
        How many.
    gpus_per_worker
        1, a part of one such as 0.5, or 0: the CPU.
    cpus_per_worker
        CPUs, which are threads, of each.
    """
    from mucore.cluster.crew import check

    order = dataclasses.replace(_order(), cpus=cpus_per_worker, gpus=gpus_per_worker)
    check(order, workers)
    with _crew(address) as crew:
        _check_reach(order, crew)
        if there := crew.names():
            raise BadValue(
                f"There are {len(there)} workers already, each with {there[0].takes}. Use `mucore "
                "cluster scale` for another number, or `mucore cluster down`."
            )
        crew.start(order, workers)
    print(f"Workers asked for: {workers}. `mucore cluster status` says how they are.")


@app.command
def status(*, address: Address = "auto", as_json: Json = False) -> None:
    """How the workers are, and what they compute."""
    with _crew(address) as crew, open_home() as store:
        running = {job.worker: job for job in store.jobs(states=["running"], limit=10_000)}
        rows = [_row(*one, running) for one in crew.reports()]
    if as_json:
        print(to_json(rows, indent=2))
        return
    if not rows:
        print("There are no workers. Start some with `mucore cluster up`.")
        return
    columns = ("worker", "machine", "takes", "state", "run")
    print_table(columns, [tuple(row[name] for name in columns) for row in rows])
    for said in dict.fromkeys(row["problem"] for row in rows if row["problem"]):
        print(said, file=sys.stderr)
    if any(row["report"] and not row["report"]["protected"] for row in rows):
        print(
            "This Ray asks for no token: anyone who reaches its ports can run code as you. Start "
            "it with RAY_AUTH_MODE=token.",
            file=sys.stderr,
        )


@app.command
def scale(workers: Annotated[int, WHOLE], *, address: Address = "auto") -> None:
    """Have so many workers: start more like those that are there, or end the last ones as `down`
    does.
    """
    order = _order()
    with _crew(address) as crew:
        _check_reach(order, crew)
        crew.scale(order, workers)
    print(f"Workers asked for: {workers}. `mucore cluster status` says how they are.")


@app.command
def down(*, now: bool = False, address: Address = "auto") -> int:
    """End all workers. Runs in hand go back to the queue with their checkpoints.

    Parameters
    ----------
    now
        End the processes at once; their runs are found dead and go on from their last
        checkpoints elsewhere.
    """
    with _crew(address) as crew:
        there = crew.names()
        cut = [] if now else crew.end(there)
        if now:
            crew.kill(there)
        if left := crew.names():
            return complain(f"Workers still there: {len(left)}. Try again.", FAILED)
    print(f"Workers ended: {len(there)}, of them in the middle of a run: {len(cut)}.")
    return 0


def _order() -> Order:
    """Of the store that this terminal uses."""
    from mucore.cluster.member import Order

    return Order(
        home=os.environ.get("MUCORE_HOME") or None,
        url=os.environ.get("MUCORE_STORE_URL") or None,
        artifacts=os.environ.get("MUCORE_ARTIFACTS") or None,
    )


def _crew(address: str) -> Any:
    from mucore.cluster.crew import connected

    return connected(address)


def _check_reach(order: Order, crew: Crew) -> None:
    """Raise `BadValue` where workers on several machines could not reach the store."""
    machines = len(crew.addresses())
    if order.url is None and machines > 1:
        raise BadValue(
            f"The cluster has {machines} machines, and the store is a file on this one. Set "
            "MUCORE_STORE_URL to a Postgres that all of them reach (docs/cluster.md)."
        )


def _row(one: Named, report: Report | str, running: dict[str | None, Job]) -> dict[str, Any]:
    if isinstance(report, str):
        known = {"machine": "", "state": report, "problem": "", "report": None}
        job = None
    else:
        known = {"machine": report.host, "state": report.state, "problem": report.problem}
        known["report"] = dataclasses.asdict(report)
        job = running.get(report.worker)
    return {
        "worker": one.number,
        "takes": one.takes,
        **known,
        "run": f"{job.label} ({job.progress:.0%})" if job is not None else "",
        "job": job.id if job is not None else None,
    }
