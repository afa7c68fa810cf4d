"""Several processes on one store: nothing is computed twice, nothing is lost, and a killed worker's
job is found.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from builders import make_result, make_spec_row

from mucore.runs import RunSpec
from mucore.store import Store, open_store

TESTS = Path(__file__).parents[1]


class Child:
    """`child.py` in a process of its own."""

    def __init__(self, command: str, home: Path, url: str | None, *arguments: Any):
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(TESTS.parent), str(TESTS)]),
            "OMP_NUM_THREADS": "1",
        }
        line = [
            sys.executable,
            str(TESTS / "store" / "child.py"),
            command,
            str(home),
            url or "-",
            *map(str, arguments),
        ]
        self.process = subprocess.Popen(
            line,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()  # closes the pipes

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.communicate()[1]
        return json.loads(line)

    def go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def rest(self) -> list[dict[str, Any]]:
        """What it says until it ends by itself."""
        out, error = self.process.communicate(timeout=120)
        assert self.process.returncode == 0, error
        return [json.loads(line) for line in out.splitlines()]


def _grid(seeds: int) -> list[RunSpec]:
    specs: list[RunSpec] = []
    for seed in range(seeds):
        rows = [
            make_spec_row(training_seed=seed, method=method)
            for method in ("retrain", "finetune", "gradient_ascent", "salun", "ssd")
        ]
        specs += [rows[0].original(), *rows]
    return specs


def _together(
    command: str, home: Path, url: str | None, processes: int, *arguments: Any
) -> list[list[dict[str, Any]]]:
    children = [Child(command, home, url, *arguments) for _ in range(processes)]
    try:
        for child in children:
            child.hear()
        for child in children:
            child.go()
        return [child.rest() for child in children]
    finally:
        for child in children:
            child.__exit__()


@pytest.mark.slow
def test_no_key_is_computed_twice_and_needs_come_first(
    shared_url: str | None, tmp_path: Path
) -> None:
    specs = _grid(seeds=4)
    with open_store(tmp_path, url=shared_url) as store:
        store.enqueue(specs)
        said = [line for lines in _together("work", tmp_path, shared_url, 2) for line in lines]
        assert Counter(line["key"] for line in said) == Counter(spec.key for spec in specs)
        times = {line["key"]: line for line in said}
        for spec in specs:
            for need in spec.needs():
                assert times[need.key]["ended"] <= times[spec.key]["begun"], (
                    f"{spec.label} began before {need.label} had ended"
                )
        assert {job.state for job in store.jobs()} == {"done"} and len(store.results()) == len(
            specs
        )
        assert store.workers() == []


@pytest.mark.slow
def test_read_modify_write_loses_nothing(shared_url: str | None, tmp_path: Path) -> None:
    with open_store(tmp_path, url=shared_url) as store:
        before = store.change_counter()
        _together("add", tmp_path, shared_url, 2, 50)
        assert store.change_counter() - before == 100


@pytest.mark.slow
def test_two_processes_may_make_the_same_store_at_once(
    shared_url: str | None, tmp_path: Path
) -> None:
    home = tmp_path / "new" / "home"
    _together("add", home, shared_url, 2, 5)
    with open_store(home, url=shared_url) as store:
        assert store.change_counter() == 10


def test_a_killed_worker_is_found_and_its_job_goes_back(
    shared_url: str | None, tmp_path: Path
) -> None:
    with open_store(tmp_path, url=shared_url) as store:
        (queued,) = store.enqueue([make_spec_row().original()])
        with Child("hang", tmp_path, shared_url) as child:
            said = child.hear()
            assert said["job"] == queued.id
            assert [worker.id for worker in store.workers()] == [said["worker"]]
            assert store.reap() == []
            os.kill(child.process.pid, signal.SIGKILL)
            # Its parent, this test, has not asked for its fate yet: a zombie counts as dead.
            os.waitid(os.P_PID, child.process.pid, os.WEXITED | os.WNOWAIT)
            (found,) = store.reap()
            assert (found.id, found.state, found.deaths) == (queued.id, "queued", 1)
            assert store.workers() == []
        taken = store.claim("somebody else")
        assert taken is not None and taken.id == queued.id


def test_threads_may_share_a_store(store: Store) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda seed: store.put_result(make_result(training_seed=seed)), range(40)))
        assert len(set(pool.map(lambda _: len(store.results()), range(40)))) == 1
    assert sorted(store.summaries()["training_seed"]) == list(range(40))
