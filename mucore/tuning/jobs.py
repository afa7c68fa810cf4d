"""A search as a job, for pages: a process of its own works on it, on the machine that was asked,
for studies are files in its home. It is seen, cancelled and started again like any other job.

Imports no torch.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from functools import partial
from typing import TYPE_CHECKING

from mucore import catalog
from mucore.runner import job_process
from mucore.runner.grid import Grid, parse_grid
from mucore.runner.heartbeat import Heartbeat
from mucore.store import Store
from mucore.store.records import Job
from mucore.tuning.plan import FOLDER, Wish, left, revision_of, wish_of
from mucore.tuning.study import Folder

if TYPE_CHECKING:
    from mucore.tuning.search import Event

NAMED = 3  # methods or scenarios that a title names


def enqueue(store: Store, grid: Grid, wish: Wish) -> Job:
    """Queue the search of `wish`, made of `grid`; the job of the same search where one is queued or
    runs already.
    """
    content = {
        "search": grid.model_dump(mode="json"),
        "trials": wish.trials,
        "seed": wish.seed,
        "cap": wish.cap,
    }
    asked = [[task.content(), list(methods)] for task, methods in wish.tasks]
    text = json.dumps([asked, wish.trials, wish.seed, wish.cap], sort_keys=True)
    key = hashlib.sha256(text.encode()).hexdigest()[:32]
    return store.enqueue_other("search", key, content, title(wish))


def start(store: Store, grid: Grid, wish: Wish) -> Job:
    """`enqueue`, and start a detached process that searches, unless one is at it already."""
    job = enqueue(store, grid, wish)
    job_process.start(store, job)
    return job


def title(wish: Wish) -> str:
    """ "Search of settings: SCRUB, DUCK under Whole class"."""
    names = dict.fromkeys(name for _, names in wish.tasks for name in names)
    scenarios = dict.fromkeys(task.scenario for task, _ in wish.tasks)
    methods = _listed([catalog.method(name).title for name in names], "methods")
    where = _listed([catalog.scenario(name).title for name in scenarios], "scenarios")
    return f"Search of settings: {methods} under {where}"


def _listed(names: list[str], what: str) -> str:
    return ", ".join(names) if len(names) <= NAMED else f"{len(names)} {what}"


def work_on(
    store: Store, job: Job, *, device: str = "auto", stop: threading.Event | None = None
) -> Job:
    """Take this job, if it still waits, to its end; the job as it is then."""
    return job_process.work_on(store, job, partial(compute, device=device), stop=stop)


def compute(job: Job, store: Store, heartbeat: Heartbeat, *, device: str = "auto") -> None:
    """Search, and leave what was found in the home. Raises `Cancelled`, `MucoreError`."""
    from mucore.engine.device import resolve_device
    from mucore.tuning.together import search

    grid = parse_grid(job.spec["search"])
    wish, _ = wish_of(grid, **{name: job.spec[name] for name in ("trials", "seed", "cap")})
    heartbeat.report("references", share(store, wish))

    def event(event: Event) -> None:
        study, scenario = event.study, catalog.scenario(event.task.scenario).title
        step = f"references of {scenario}"
        if study is not None:
            step = f"{catalog.method(event.method).title}, {scenario}: {len(study.trials)} trials"
        heartbeat.report(step, share(store, wish))

    search(
        grid,
        wish,
        store,
        store.home / FOLDER,
        jobs=processes(resolve_device(device).type == "cpu"),
        device=device,
        cancelled=heartbeat.cancelled,
        on_event=event,
    )


def processes(on_cpu: bool) -> int:
    """In how many processes a search works: one processor is left to those who read pages, a GPU
    takes one.
    """
    return max((os.cpu_count() or 1) - 1, 1) if on_cpu else 1


def share(store: Store, wish: Wish) -> float:
    """How much of a search is done, 0 to 1: of each study its trials among all that it may come
    to.
    """
    done = []
    for task, methods in wish.tasks:
        folder = Folder(store.home / FOLDER, task)
        for name in methods:
            study = folder.study(name, revision=revision_of(name))
            had = len(study.trials) if study is not None else 0
            done.append(had / (had + left(wish, study)))
    return sum(done) / len(done)
