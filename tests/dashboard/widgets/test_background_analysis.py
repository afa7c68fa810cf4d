"""Long analyses as a page meets them: absent, started, ready, failed; of the reader's own runs and
of the demo's.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dashboard import data, queue_data
from mucore import analysis
from mucore.errors import UnknownName
from mucore.runner import analyses, job_process
from mucore.store import open_pack, open_store
from mucore.store.pack import write_pack
from tests.builders import make_outputs, make_result
from tests.pages import open_page, words_on


@pytest.fixture
def home(home: Path) -> Iterator[Path]:
    yield home
    for process in job_process.STARTED:
        process.wait(60)


def fill(home: Path) -> dict[str, Any]:
    """A store with two runs, and the parameters of an analysis of them."""
    keys = []
    with open_store(home) as store:
        for number, method in enumerate(("original", "retrain")):
            outputs = store.artifacts.put_outputs(
                make_outputs(number, splits=("forget", "retain", "validation"))
            )
            store.put_result(result := make_result(method=method, outputs=outputs))
            keys.append(result.key)
    return {"keys": keys, "count": 2, "k": 3}


def ended(parameters: dict[str, Any]) -> data.AnalysisState:
    until = time.monotonic() + 60
    while (
        now := data.analysis("neighbours", parameters)
    ).state == "running" and time.monotonic() < until:
        time.sleep(0.05)
    return now


@pytest.mark.slow
def test_an_analysis_of_own_runs(home):
    parameters = fill(home)
    assert data.analysis("neighbours", parameters).state == "absent"
    data.start_analysis("neighbours", parameters)
    assert data.analysis("neighbours", parameters).state in ("running", "ready")
    found = ended(parameters)
    assert (
        found.state == "ready"
        and found.progress == 1.0
        and found.error == ""
        and found.value is not None
    )
    assert found.value[parameters["keys"][1]].shape == (2, 3)
    assert data.analysis("neighbours", {**parameters, "count": 1}).state == "absent"


def test_what_no_analysis_takes_is_a_sentence_and_no_traceback(home):
    fill(home)
    assert (
        "analysis neighbours: count"
        in data.analysis("neighbours", {"keys": ["a"], "count": "many"}).error
    )
    assert data.analysis("nothing", {}).state == "failed"
    with pytest.raises(UnknownName):
        data.start_analysis("nothing", {})


def test_an_analysis_may_come_with_the_pack(home, tmp_path, monkeypatch):
    parameters = fill(tmp_path / "maker")
    with open_store(tmp_path / "maker") as store:
        pack = write_pack(store, tmp_path / "pack", outputs=parameters["keys"])
    with open_pack(pack) as packed:
        made = analysis.compute("neighbours", parameters, packed, pack)
    monkeypatch.setattr(data, "DEMO", pack)
    found = data.analysis("neighbours", parameters)
    assert found.state == "ready" and found.value is not None
    assert (found.value["queries"] == np.asarray(made.value["queries"])).all()
    data.start_analysis("neighbours", parameters)  # nothing to do
    assert not list(home.rglob("*.npz"))


def test_the_queue_page_lists_them_cancels_and_tries_again(home, monkeypatch):
    parameters = fill(home)
    with open_store(home) as store:
        failed = analyses.enqueue(store, "neighbours", {**parameters, "count": 1})
        assert failed is not None and store.claim("w") is not None
        store.finish_job(failed.id, "failed", error="It has no features.", worker_id="w")
        waiting = analyses.enqueue(store, "neighbours", parameters)
        assert waiting is not None
    started = []
    monkeypatch.setattr(job_process, "start", lambda store, job: started.append(job))
    at = open_page("queue")
    assert not at.exception
    assert waiting.label in words_on(at) and "It has no features." in words_on(at)
    at.button(key=f"cancel_analysis:{waiting.id}").click().run()
    at.button(key=f"retry_analysis:{failed.id}").click().run()
    assert [job.spec for job in started] == [failed.spec] and started[0].state == "queued"
    with open_store(home) as store:
        assert store.job(waiting.id).state == "cancelled"
    assert data.analysis("neighbours", parameters).state == "absent"


def test_no_page_takes_an_analysis_for_a_run(home):
    parameters = fill(home)
    with open_store(home) as store:
        assert analyses.enqueue(store, "neighbours", parameters) is not None
    assert queue_data.jobs() == [] and len(queue_data.jobs(kind="analysis")) == 1
    assert queue_data.time_left(queue_data.jobs()).total is None
    for page in ("start", "queue", "launch"):
        assert not open_page(page).exception
