"""Measure what many workers cost the database, and how short jobs scale with workers.

    python scripts/bench_cluster.py --url postgresql://...     workers that sleep instead of compute
    python scripts/bench_cluster.py                            the same on SQLite, in a fresh folder
    python scripts/bench_cluster.py --runs                     40 real runs, by 1, 2 and 4 workers

The store at `--url` must be an empty one; its server, if it is on this machine, is watched for the
processor seconds that it takes. The load model asks at how many workers with runs of 30 s one
processor of the server is busy, and at how many the writes that go one by one are.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Generator, Iterator
from pathlib import Path

import numpy as np
import psutil
import sqlalchemy as sa

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mucore.bench.page import Line, show
from mucore.runner.jobs import BEAT_SECONDS, PROGRESS_SECONDS
from mucore.runner.plan import Grid, MethodChoice, ScenarioChoice, make_plan
from mucore.store import Store, open_store

ROOT = Path(__file__).resolve().parents[1]
PROCESSES = 4  # that the simulated workers are threads of
ROUNDS = 60  # of each statement that is measured alone
RUN_SECONDS = 30.0  # of the load model
Times = dict[str, list[float]]


def grid(first_seed: int) -> Grid:
    """40 runs: five trainings, their originals measured, five retrained, five methods' five."""
    return Grid(
        dataset="digits",
        model="mlp",
        preset="quick",
        scenarios=[ScenarioChoice(id="one_class")],
        methods=[
            MethodChoice(id=name)
            for name in ("finetune", "gradient_ascent", "random_labels", "ssd", "neggrad_plus")
        ],
        training_seeds=list(range(first_seed, first_seed + 5)),
    )


def enqueue(store: Store, count: int) -> None:
    """`count` jobs that need no other, so that only the queue decides who waits."""
    one = make_plan(grid(0), store).specs[0].original()
    specs = [one.model_copy(update={"training_seed": number}) for number in range(count)]
    assert len({spec.key for spec in specs}) == count
    store.enqueue(specs)


# -- workers that sleep


def simulate(
    home: str, url: str | None, name: str, workers: int, seconds: float, sleep: float, queue
) -> None:
    """Threads that claim, beat and finish jobs which only sleep; what each call took goes into
    `queue`.
    """
    times: Times = defaultdict(list)
    with contextlib.ExitStack() as stack:
        threads = [
            threading.Thread(
                target=one_worker,
                args=(
                    stack.enter_context(open_store(home, url=url)),
                    f"{name}-{number}",
                    time.monotonic() + seconds,
                    sleep,
                    times,
                ),
            )
            for number in range(workers)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    queue.put(dict(times))


def one_worker(store: Store, name: str, end: float, sleep: float, times: Times) -> None:
    while time.monotonic() < end:
        began = time.perf_counter()
        job = store.claim(name)
        claimed = time.perf_counter()
        if job is None:
            return
        times["claim"].append(claimed - began)
        time.sleep(sleep)
        began = time.perf_counter()
        store.beat(job.id, progress=0.5, step="half", losses=[1.0], worker_id=name)
        times["beat"].append(time.perf_counter() - began)
        began = time.perf_counter()
        store.finish_job(job.id, "done", worker_id=name)
        times["finish"].append(time.perf_counter() - began)


def contention(url: str | None, home: str, workers: int, seconds: float, sleep: float) -> Times:
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    share = workers // PROCESSES
    processes = [
        context.Process(
            target=simulate, args=(home, url, f"sim-{number}", share, seconds, sleep, answers)
        )
        for number in range(PROCESSES)
    ]
    for process in processes:
        process.start()
    found: Times = defaultdict(list)
    for _ in processes:
        for name, values in answers.get().items():
            found[name] += values
    for process in processes:
        process.join()
    return found


# -- what a statement costs


def server_of(store: Store) -> psutil.Process | None:
    """The process that starts the server's others, if it is on this machine."""
    if store.sqlite:
        return None
    with store.read() as connection:
        number = connection.execute(sa.text("SELECT pg_backend_pid()")).scalar_one()
    try:
        return psutil.Process(number).parent()
    except psutil.NoSuchProcess:
        return None


def server_seconds(server: psutil.Process | None) -> float:
    """Processor seconds of the server's processes so far; those that ended count for it."""
    if server is None:
        return sum(os.times()[:2])  # SQLite computes in this process
    total = 0.0
    for process in (server, *server.children()):
        with contextlib.suppress(psutil.Error):
            used = process.cpu_times()
            total += used.user + used.system
    return total


def alone(store: Store) -> Iterator[tuple[str, float, float]]:
    """Each kind of call by itself: its name, seconds on the clock that one in twenty stays below,
    and processor seconds of the server.
    """
    server = server_of(store)
    worker = store.register_worker("cpu", 1, facts={"memory_used": 1, "memory_total": 2})
    jobs = iter([store.claim(worker.id) for _ in range(ROUNDS)])
    held = [job for job in jobs if job is not None]
    calls = {
        "worker's heartbeat": lambda n: store.beat_worker(worker.id, "busy", facts={"load": n}),
        "job's heartbeat": lambda n: store.beat(
            held[n].id, progress=n / ROUNDS, step="x", losses=[1.0] * 10, worker_id=worker.id
        ),
        "end of a job": lambda n: store.finish_job(held[n].id, "done", worker_id=worker.id),
        "claim": lambda n: store.claim(worker.id),
        "look for the dead": lambda n: store.reap(),
    }
    for name, call in calls.items():
        clocks, used = [], server_seconds(server)
        for number in range(ROUNDS):
            began = time.perf_counter()
            call(number)
            clocks.append(time.perf_counter() - began)
        # what else the machine does makes most calls slower, and none faster
        yield name, float(np.percentile(clocks, 5)), (server_seconds(server) - used) / ROUNDS
    store.remove_worker(worker.id)


def model(costs: dict[str, tuple[float, float]]) -> tuple[float, float]:
    """How many workers with runs of 30 s keep one processor of the server busy, and how many keep
    the lock busy under which jobs end.
    """
    second = {name: cpu for name, (_, cpu) in costs.items()}
    each = (
        second["worker's heartbeat"] / BEAT_SECONDS
        + second["job's heartbeat"] / PROGRESS_SECONDS
        + (second["claim"] + second["end of a job"]) / RUN_SECONDS
    )
    # a run stores a result and, every other time, a network, both as an end of a job does
    locked = 2.5 * costs["end of a job"][0] / RUN_SECONDS
    return 1 / each, 1 / locked


# -- real runs


def real_runs(home: str, url: str | None) -> Iterator[tuple[int, int, float, float]]:
    """For 1, 2 and 4 workers: runs, seconds on the clock until all have ended, and the mean of what
    each run took by itself.
    """
    with open_store(home, url=url) as store:
        for place, workers in enumerate((1, 2, 4)):
            specs = make_plan(grid(100 * (place + 1)), store).specs
            with running(store, workers):
                began = time.perf_counter()
                store.enqueue(specs)
                while store.count_active():
                    time.sleep(0.1)
                took = time.perf_counter() - began
            keys = [spec.key for spec in specs]
            ended = [job for job in store.jobs(keys=keys) if job.state == "done"]
            assert len(ended) == len(specs), [job.error for job in store.jobs(states=["failed"])]
            spans = [job.finished - job.started for job in ended if job.finished and job.started]
            yield workers, len(specs), took, float(np.mean([one.total_seconds() for one in spans]))


@contextlib.contextmanager
def running(store: Store, workers: int) -> Generator[None]:
    """Worker processes of one thread each, once all are up."""
    command = [sys.executable, "-m", "mucore", "worker", "--device", "cpu", "--threads", "1"]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "MUCORE_HOME": str(store.home),
        "MUCORE_STORE_URL": store.url or "",
        "OMP_NUM_THREADS": "1",
    }
    processes = [subprocess.Popen(command, env=environment) for _ in range(workers)]
    try:
        while len(store.workers()) < workers:
            time.sleep(0.2)
        yield
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()


# -- the whole


def milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.2f} ms"


def measure(options: argparse.Namespace, home: str) -> list[Line]:
    url, lines = options.url, []
    base = "Postgres" if url else "SQLite"
    if options.runs:
        for workers, count, took, own in real_runs(home, url):
            lines.append(
                Line(
                    f"{count} short jobs, {workers} worker{'s' if workers > 1 else ''}, {base}",
                    f"{count / took:.2f} jobs/s; {own:.2f} s a job by itself, "
                    f"{workers * took / count - own:+.2f} s beside it",
                )
            )
        return lines
    costs = {}
    with open_store(home, url=url) as store:
        enqueue(store, 2 * ROUNDS + options.jobs)
        for name, clock, used in alone(store):
            costs[name] = (clock, used)
            where = "of the server" if url else "in the worker"
            lines.append(
                Line(
                    f"{name}, {base}",
                    f"{milliseconds(clock)}, {milliseconds(used)} of a processor {where}",
                )
            )
    times = contention(url, home, options.workers, options.seconds, options.sleep)
    for name, values in times.items():
        median, late = np.percentile(values, [50, 99])
        rate = f", {len(values) / options.seconds:.0f} a second" if name == "claim" else ""
        lines.append(
            Line(
                f"{name}, {options.workers} workers whose jobs sleep {options.sleep:g} s, {base}",
                f"median {milliseconds(median)}, p99 {milliseconds(late)}{rate}",
            )
        )
    if url:
        busy, locked = model(costs)
        lines.append(
            Line(
                f"workers with runs of {RUN_SECONDS:.0f} s that keep one processor of the server "
                "busy",
                f"{busy:,.0f}",
            )
        )
        lines.append(Line("workers that keep the lock busy under which jobs end", f"{locked:,.0f}"))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", help="an empty store on Postgres; default: SQLite")
    parser.add_argument("--runs", action="store_true", help="real runs in place of sleeping ones")
    parser.add_argument("--workers", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--sleep", type=float, default=1.0)
    parser.add_argument("--jobs", type=int, default=2000, help="for the workers that sleep")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mucore-cluster-") as home:
        lines = measure(options, home)
    show(lines, judge=False)


if __name__ == "__main__":
    main()
