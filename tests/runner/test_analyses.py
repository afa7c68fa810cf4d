"""Analyses as jobs: queued before every run, computed by a process of their own or by a worker,
cancelled, failed with a sentence, and taken up again when a process died.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mucore import analysis
from mucore.analysis import Kind, neighbours
from mucore.runner import analyses, estimate, job_process
from mucore.runner.worker import work
from mucore.store import Store, open_store
from mucore.store.pack import write_pack
from tests.builders import make_outputs, make_result, make_spec_row


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "home") as store:
        yield store
    for process in job_process.STARTED:
        process.wait(60)


@pytest.fixture
def parameters(store: Store) -> dict[str, Any]:
    """Of an analysis of two runs whose predictions were kept."""
    return {"keys": fill(store), "count": 2, "k": 3}


def fill(store: Store) -> list[str]:
    keys = []
    for number, method in enumerate(("original", "retrain")):
        outputs = store.artifacts.put_outputs(
            make_outputs(number, splits=("forget", "retain", "validation"))
        )
        store.put_result(result := make_result(method=method, outputs=outputs))
        keys.append(result.key)
    return keys


def ended(store: Store, key: str) -> analyses.State:
    until = time.monotonic() + 60
    while (now := analyses.state(store, key)).state == "running" and time.monotonic() < until:
        time.sleep(0.05)
    return now


def test_it_goes_before_every_queued_run_and_no_page_takes_it_for_one(store, parameters):
    runs = store.enqueue([make_spec_row(training_seed=3).original()])
    job = analyses.enqueue(store, "neighbours", parameters)
    assert job is not None and job.priority < runs[0].priority
    assert store.count_active() == 1
    assert [each.id for each in store.jobs(kind="run")] == [runs[0].id]
    assert estimate.time_of([make_spec_row(training_seed=3)], store)[1] == 1
    claimed = store.claim("somebody")
    assert claimed is not None and claimed.id == job.id
    assert store.claim("another").id == runs[0].id


def test_a_worker_takes_it_too(store, parameters):
    job = analyses.enqueue(store, "neighbours", parameters)
    assert job is not None
    events = []
    work(store, device="cpu", until_done=True, on_event=lambda event, _: events.append(event))
    assert events[0] == "started" and events[-1] == "done"
    assert analysis.find(store.home, "neighbours", parameters) is not None
    assert analyses.work_on(store, job).state == "done"  # nothing is left to do


def test_those_of_a_pack_lie_apart(store, parameters, tmp_path):
    pack = write_pack(store, tmp_path / "pack", outputs=parameters["keys"])
    job = analyses.enqueue(store, "neighbours", parameters, pack=pack)
    assert job is not None and analyses.work_on(store, job).state == "done"
    assert analysis.find(store.home, "neighbours", parameters) is None
    assert analysis.find(analysis.place(store.home, pack), "neighbours", parameters) is not None


@pytest.mark.slow
def test_a_failure_is_a_sentence_and_can_be_tried_again(store, parameters):
    broken = {"keys": ["f" * 24]}
    key = analysis.key("neighbours", broken)
    for tries in (1, 2):
        analyses.start(store, "neighbours", broken)
        state = ended(store, key)
        assert state.state == "failed" and "f" * 24 in state.error
        assert [job.state for job in store.jobs()] == ["failed"] * tries


def test_a_cancelled_one_stops_at_its_next_step(store, parameters, monkeypatch):
    job = analyses.enqueue(store, "neighbours", parameters)
    assert job is not None

    def endless(results, parameters, progress):
        progress(0.5, "thinking")  # before it is asked to end, or a quick beat would know first
        store.cancel(job.id)
        for _ in range(600):
            progress(0.5, "thinking")
            time.sleep(0.05)
        return {"a": np.zeros(1)}

    kind = Kind(endless, neighbours.Parameters, 1)
    monkeypatch.setattr(analysis, "KINDS", {**analysis.KINDS, "neighbours": kind})
    done = analyses.work_on(store, job)
    assert done.state == "cancelled" and (done.step, done.progress) == ("thinking", 0.5)
    assert analyses.state(store, job.key).state == "absent"
    assert not (store.home / "analyses").exists()


@pytest.mark.slow
def test_a_process_that_was_killed_leaves_it_to_the_next(store, parameters):
    job = analyses.enqueue(store, "neighbours", parameters)
    assert job is not None
    code = (
        "import sys, time; from mucore.store import open_store; "
        "from mucore.store.workers import process_id; "
        f"open_store({str(store.home)!r}).claim(process_id()); print(1, flush=True); "
        "time.sleep(600)"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert child.stdout is not None and child.stdout.read(1)
    assert analyses.state(store, job.key).state == "running"
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()
    state = analyses.state(store, job.key)
    assert state.state == "running" and store.job(job.id).state == "queued"
    analyses.start(store, "neighbours", parameters)
    assert ended(store, job.key).state == "absent"
    assert (store.job(job.id).state, store.job(job.id).deaths) == ("done", 1)
