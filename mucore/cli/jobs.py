"""Commands on the queue and its workers."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Annotated, get_args

from mucore.cli.base import WHOLE, Device, Json, comparison_id, open_home, patient_home
from mucore.cli.flags import split_names
from mucore.cli.printing import print_table, to_json
from mucore.errors import BadValue, UnknownName

if TYPE_CHECKING:
    from mucore.store.records import Job

MOST_THREADS = 4096


def worker(
    *,
    device: Device = "auto",
    number: Annotated[int, WHOLE] = 0,
    threads: Annotated[int | None, WHOLE] = None,
    idle_exit: float | None = None,
    parent_pid: Annotated[int | None, WHOLE] = None,
    job: Annotated[int | None, WHOLE] = None,
) -> None:
    """Take queued jobs and compute them until stopped. Ctrl-C gives the job in hand back to the
    queue, and so does SIGTERM.

    Parameters
    ----------
    number
        Of several workers, from 0: each takes another of the devices, such as cuda:0,cuda:1, or of
        all GPUs that auto finds.
    threads
        CPU threads; default: all.
    idle_exit
        End after this many seconds without work; default: never.
    parent_pid
        End when this process is gone and nothing is left to do.
    job
        Take this job alone, if it still waits, and end.
    """
    if threads is not None and not 1 <= threads <= MOST_THREADS:
        raise BadValue(f"--threads must be a whole number from 1 to {MOST_THREADS}, not {threads}.")
    if idle_exit is not None and not 0 <= idle_exit < math.inf:
        raise BadValue(f"--idle-exit must be a number of seconds from 0, not {idle_exit}.")
    with patient_home() as store:
        only = store.job(job) if job is not None else None
        if only is not None and only.kind == "analysis":  # which may need no torch
            from mucore.engine.memory import keep_freed
            from mucore.runner.analyses import work_on

            keep_freed()  # as other workers do
            work_on(store, only)
            return
        from mucore.runner.worker import set_threads, stop_on_signals, work

        if only is not None and only.kind == "search":
            from mucore.tuning import jobs as searches

            searches.work_on(store, only, device=device, stop=stop_on_signals())
            return
        set_threads(threads)
        work(
            store,
            device=device,
            number=number,
            only=[only.key] if only is not None else None,
            idle_exit=idle_exit if only is None else 0.0,
            parent_pid=parent_pid,
            stop=stop_on_signals(),
        )


def jobs(
    *,
    state: list[str] | None = None,
    comparison: str | None = None,
    limit: Annotated[int, WHOLE] = 50,
    log: Annotated[int | None, WHOLE] = None,
    as_json: Json = False,
) -> None:
    """Show the queue: what waits, runs, and how it ended.

    Parameters
    ----------
    state
        queued, running, done, failed, cancelled or lost; default: all.
    limit
        Most rows.
    log
        The end of the log of this job, wherever it ran, in place of the list.
    """
    from mucore.store.records import JobState

    names = split_names(state or [])
    for name in names:
        if name not in get_args(JobState):
            raise UnknownName("job state", name, get_args(JobState))
    if limit < 1:
        raise BadValue(f"--limit must be at least 1, not {limit}.")
    with open_home() as store:
        if log is not None:
            from mucore.runner.jobs import end_of_log

            print(end_of_log(store, store.job(log)), end="")
            return
        chosen = comparison_id(store, comparison) if comparison is not None else None
        found = store.jobs(
            states=[name for name in get_args(JobState) if name in names] or None,
            comparison=chosen,
            limit=limit,
        )
    if as_json:
        print(to_json([dataclasses.asdict(job) for job in found], indent=2))
        return
    rows = [(job.id, job.state, f"{job.progress:.0%}", job.label, _words(job)) for job in found]
    print_table(("job", "state", "done", "run", "step or error"), rows)


def _words(job: Job) -> str:
    if job.state == "running":
        return job.step
    if job.state == "queued" and job.waits_for:
        return f"waits for {job.waits_for}"
    return job.error or ""


def cancel(job: Annotated[list[int], WHOLE]) -> None:
    """Cancel queued jobs at once and running ones at their next step, with the runs that wait for
    them.

    Parameters
    ----------
    job
        Job numbers, as `jobs` shows them.
    """
    with open_home() as store:
        numbers = [*job, *(one.id for one in store.dependents(job))]
        store.cancel(*job)
        changes = [store.job(number) for number in numbers]
    for changed in changes:
        running = changed.state == "running"
        state = "will stop at its next step" if running else f"is {changed.state}"
        print(f"Job {changed.id} {state}: {changed.label}")


def retry(job: Annotated[list[int], WHOLE]) -> None:
    """Queue failed, cancelled or lost jobs again.

    Parameters
    ----------
    job
        Job numbers, as `jobs` shows them.
    """
    with open_home() as store:
        for number in job:
            print(f"Job {number} is queued again as job {store.retry(number).id}.")
