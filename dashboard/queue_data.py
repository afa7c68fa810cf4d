"""What pages ask of the reader's own queue, and ask it to do: jobs, workers, plans, the time that
is left. `data` reads what came of them.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime

import streamlit as st

from dashboard import access
from dashboard.data import own_store, source
from dashboard.frames.queue import newest
from dashboard.widgets.training_set import stamp
from mucore import catalog
from mucore.catalog import plugins, tuning
from mucore.quality import Originals, plan_experiment
from mucore.runner import estimate, job_process
from mucore.runner.grid import Grid, MethodChoice, ScenarioChoice
from mucore.runner.jobs import end_of_log, tail
from mucore.runner.plan import Plan, make_plan, plan_specs
from mucore.runner.spawn import ensure_workers
from mucore.runner.weight_files import uploaded_files
from mucore.runs import stored_spec
from mucore.store import Store
from mucore.store.records import ACTIVE, Job, JobKind, JobState, Worker
from mucore.userfiles import datasets, weights

MOST_QUEUED = 5000  # jobs that a time left is computed from


def jobs(
    *,
    states: Sequence[JobState] | None = None,
    comparison: int | None = None,
    keys: Sequence[str] | None = None,
    kind: JobKind = "run",
    limit: int = 500,
) -> list[Job]:
    """The newest jobs, runs unless `kind` says otherwise, oldest of them first."""
    return own_store().jobs(states=states, comparison=comparison, keys=keys, kind=kind, limit=limit)


def workers() -> list[Worker]:
    """Those that live."""
    return own_store().workers()


def reap() -> int:
    """Look for dead workers, at most every two seconds however many people watch; the number of
    jobs that lost theirs.
    """
    # a guest's look changes nothing, and must not count as one of those that do
    return _reap(own_store(), str(own_store().home)) if access.presents() else 0


def start_workers() -> None:
    """See to it that a worker lives or is on its way; it goes on when the page and the server are
    gone.
    """
    if not workers_starting():
        _started(str(own_store().home)).extend(ensure_workers(own_store()))


def workers_starting() -> bool:
    """A worker was started from here and has not come up yet (it loads PyTorch first)."""
    store = own_store()
    return not store.workers() and any(
        process.poll() is None for process in _started(str(store.home))
    )


def worker_failure() -> str:
    """The last words of a worker that was started from here and ended with an error, "" where there
    is none.
    """
    started = _started(str(own_store().home))
    if not started or not started[-1].poll():
        return ""
    words = tail(own_store().home / "logs" / "workers.log", 2000).strip()
    return words.splitlines()[-1] if words else f"it ended with code {started[-1].returncode}"


def start_again(job: Job) -> None:
    """Start an analysis or a search once more that ended without a result or that no process has
    taken up. Raises a `MucoreError`.
    """
    store = own_store()
    job_process.start(store, job if job.state in ACTIVE else store.retry(job.id))


def plan(grid: Grid, *, models: int = 0, originals: Originals = "one") -> Plan:
    """What a grid comes to, or with `models` of each kind a forgetting-quality experiment. Raises a
    `MucoreError` with a sentence.
    """
    store = own_store()
    moves, content = _moves(store, grid), grid.model_dump_json()
    return _plan(store, str(store.home), moves, content, models, originals)


def plan_seeds(keys: Sequence[str], count: int) -> Plan:
    """What a line, the runs `keys` of what pages show, lacks of `count` training seeds: its runs
    and their references on its own seeds and the next ones, as far as the reader's own store has
    them not. Raises a `MucoreError` with a sentence.
    """
    found = source().store.results(metrics=False, keys=keys)
    runs = [stored_spec(result.spec) for result in found]
    mine = {run.training_seed for run in runs}
    further = [seed for seed in range(count + len(mine)) if seed not in mine]
    seeds = [*sorted(mine), *further[: max(count - len(mine), 0)]]
    first = min(runs, key=lambda run: (run.unlearning_seed, run.evaluation_seed))
    line = [first.on_seed(seed) for seed in seeds]
    specs = {
        each.key: each
        for run in line
        for request in run.requests
        for each in (request.original(), request.retrained(), request.untouched(), request)
    }
    grid = Grid(
        dataset=first.dataset,
        model=first.model,
        recipe=first.recipe.model_dump(mode="json"),
        scenarios=[ScenarioChoice(id=str(run.scenario)) for run in first.requests],
        methods=[MethodChoice(id=first.method, parameters=first.parameters)],
        training_seeds=seeds,
        original=first.original_hash,
        sequence=first.after is not None,
    )
    return plan_specs(grid, [*specs.values()], (), own_store())


def is_tuned(method: str) -> bool:
    """Whether a search found settings for a method."""
    return bool(tuning.settings(method))


def time_left(jobs: Sequence[Job], *, keys: Sequence[str] | None = None) -> estimate.Left:
    """Time left of the queued and running jobs of `keys` (None: all), `jobs` being the newest of
    each key; other jobs may be ahead.

    Nothing where no worker lives or is on its way, for then nothing moves.
    """
    store = own_store()
    alive = len(store.workers())
    if not alive and not workers_starting():
        return estimate.Left(None)
    known = newest([*store.jobs(states=ACTIVE, kind="run", limit=MOST_QUEUED), *jobs])
    active = [job for job in known if job.state in ACTIVE]
    if not active:
        return estimate.Left(None)
    expected = _expected(store, str(store.home), tuple(job.key for job in active), active)
    waking = 0.0 if alive else estimate.WAKING
    return estimate.time_left(
        active, expected, workers=max(alive, 1), now=datetime.now(UTC), keys=keys, waking=waking
    )


def disk_use() -> dict[str, int]:
    """Bytes by kind, in the reader's own store."""
    return _disk_use(own_store(), str(own_store().home))


def log_tail(job: Job, *, size: int = 4000) -> str:
    """The last `size` bytes of a job's log, whole lines, from its file or, where that lies on
    another machine, from the store; "" where there is none.
    """
    return end_of_log(own_store(), job, size) if job.log else ""


def _moves(store: Store, grid: Grid) -> tuple[object, ...]:
    """What a plan depends on beside the words of its grid: results, how much is queued, the workers
    that live; and the files of which a plan takes more than the name: tuned settings, methods of
    the reader's own, data and weights.
    """
    own = [plugins.find(choice.id) for choice in grid.methods]
    path = catalog.dataset(grid.dataset).takes_path
    return (
        store.change_counter(),
        store.count_active(),
        len(store.workers()),
        tuning.stamps(),
        tuple(plugin.source_hash for plugin in own if plugin is not None),
        stamp(str(datasets.path_of(grid.dataset))) if path else (),
        tuple(weights.file_hash(file, what="A run") for file in uploaded_files(grid)),
    )


@st.cache_resource(show_spinner=False, max_entries=8)
def _started(home: str) -> list[subprocess.Popen]:
    """Processes of workers started by this server, to tell "on its way" from "none"."""
    return []


@st.cache_data(show_spinner=False, max_entries=32)
def _plan(
    _store: Store,
    name: str,
    moves: tuple[object, ...],
    content: str,
    models: int,
    originals: Originals,
) -> Plan:
    grid = Grid.model_validate_json(content)
    if not models:
        return make_plan(grid, _store)
    return plan_experiment(grid, _store, models=models, originals=originals).plan


@st.cache_data(show_spinner=False, max_entries=16)
def _expected(
    _store: Store, name: str, keys: tuple[str, ...], _jobs: Sequence[Job]
) -> dict[str, estimate.Expected]:
    specs = [*estimate.specs_of(_jobs).values()]
    return estimate.forecast(_store, specs).expect(specs)


@st.cache_data(show_spinner=False, max_entries=8, ttl=2.0)
def _reap(_store: Store, name: str) -> int:
    return len(_store.reap())


@st.cache_data(show_spinner=False, max_entries=4, ttl=10)
def _disk_use(_store: Store, name: str) -> dict[str, int]:
    return _store.disk_use()
