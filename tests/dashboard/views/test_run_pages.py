"""Start, Launch and Queue as a person meets them: on an empty, a one-run and a full store, and
beside another process that writes.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
import streamlit as st
import torch
from builders import make_result, make_spec_row
from facts import tells
from pages import button, fill, open_page, words_on
from streamlit.testing.v1 import AppTest

from dashboard import queue_data
from mucore import catalog, models
from mucore.runner.plan import parse_grid
from mucore.store import open_store, trouble
from mucore.store.liveness import host

ROOT = Path(__file__).resolve().parents[3]


def text_field(at: AppTest, label: str):
    return next(one for one in at.text_input if one.label == label)


# --- launch
# --------------------------------------------------------------------------------------------------


SMALL = {"dataset": "digits", "model": "mlp", "preset": "quick"}


def test_launch_counts_starts_and_goes_to_the_queue(home, started):
    at = open_page("launch", **SMALL, methods=["finetune", "scrub"], training_seeds="0,1")
    metrics = {one.label: one.value for one in at.metric}
    # two seeds: training, Original, Retrain, two methods
    assert metrics["Runs"] == "10" and metrics["In the store already"] == "0"
    at.text_input(key="name").set_value("First try").run()
    button(at, "Start 10 runs").click().run()
    assert not at.exception
    with open_store(home) as store:
        (comparison,) = store.comparisons()
        assert comparison.name == "First try" and len(comparison.keys) == 10
        grid = parse_grid(comparison.grid)
        assert {one.id for one in grid.methods} == {
            "finetune",
            "scrub",
        } and grid.training_seeds == [0, 1]
        assert {job.state for job in store.jobs()} == {"queued"} and len(store.jobs()) == 10
    assert started == [home]


def test_launch_counts_what_is_there_already(home):
    at = open_page("launch", **SMALL, methods=["finetune"])
    assert {one.label: one.value for one in at.metric}["Runs"] == "4"
    plan = queue_data.plan(
        parse_grid({**SMALL, "scenarios": [{"id": "class_wise"}], "methods": [{"id": "finetune"}]})
    )
    with open_store(home) as store:
        for spec in plan.specs:
            store.put_result(make_result(spec))
    at.run()
    assert {one.label: one.value for one in at.metric}["In the store already"] == "4"
    assert button(at, "Save").disabled is False


def test_launch_takes_several_budgets_and_own_parameters(home):
    query = {
        "methods": ["gradient_ascent"],
        "settings": "own",
        "gradient_ascent.lr": "0.001",
        "scenarios": ["all_classes"],
    }
    at = open_page("launch", **SMALL, **query, **{"all_classes.budget": "0.1, 20%, 30"})
    assert not at.exception
    # one training, then three rows a budget
    assert {one.label: one.value for one in at.metric}["Runs"] == "10"
    button(at, "Start").click().run()
    with open_store(home) as store:
        specs = [job.spec for job in store.jobs() if job.spec["method"] == "gradient_ascent"]
    assert [spec["scenario_parameters"]["budget"] for spec in specs] == [0.1, 0.2, 30]
    assert {spec["parameters"]["lr"] for spec in specs} == {0.001}


@pytest.mark.slow
def test_launch_takes_weights_that_were_made_elsewhere(home, tmp_path):
    """The page asks for the path whatever the settings; the store gets a copy of the file."""
    path = tmp_path / "mine.pt"
    torch.save(
        models.build("mlp", in_channels=1, classes=10, image_size=8, seed=0).state_dict(), path
    )
    at = open_page("launch", **SMALL, methods=["uploaded"])
    assert not at.exception
    title = catalog.method("uploaded").title
    assert tells(words_on(at), title, "file", "none", "uploaded.file")
    text_field(at, "file").set_value(str(tmp_path / "nowhere.pt")).run()
    assert "cannot be read" in words_on(at) and not at.exception
    text_field(at, "file").set_value(str(path)).run()
    button(at, "Start").click().run()
    with open_store(home) as store:
        (job,) = [job for job in store.jobs() if job.spec["method"] == "uploaded"]
        assert (
            store.artifacts.file(job.spec["parameters"]["file"]).read_bytes() == path.read_bytes()
        )


@pytest.mark.parametrize(
    "query, sentence",
    [
        ({"training_seeds": "a"}, "whole numbers"),
        ({"one_class.budget": "50"}, ""),
        ({"one_class.budget": "1.5"}, "must lie in"),
        ({"scenarios": ""}, "at least one scenario"),
        ({"scenarios": "ids"}, "needs the ids"),
        ({"recipe.epochs": "-1"}, "epochs"),
        ({"settings": "own", "methods": "finetune", "finetune.lr": "99"}, "lr must be in"),
        ({"dataset": "npz", "path": "/no/such/file.npz"}, "file.npz"),
        (
            {
                "training_seeds": "0-99",
                "unlearning_seeds": "0-99",
                "methods": ["finetune", "scrub", "ssd"],
            },
            "Choose fewer",
        ),
    ],
)
def test_launch_answers_bad_input_in_words(home, query, sentence):
    at = open_page("launch", **{**SMALL, "scenarios": "one_class", **query})
    assert not at.exception
    start = next(one for one in at.button if one.key == "start")
    assert start.disabled == bool(sentence)
    assert sentence.lower() in words_on(at).lower()


def test_launch_address_round_trip(home):
    at = open_page("launch", **SMALL)
    text_field(at, "Training seeds").set_value("0-2").run()
    next(one for one in at.checkbox if one.label == catalog.method("ssd").title).check().run()
    assert at.query_params["training_seeds"] == "0-2" and "ssd" in at.query_params["methods"]
    again = open_page("launch", **at.query_params)
    assert [one.value for one in again.metric] == [one.value for one in at.metric]
    assert (
        next(one for one in again.checkbox if one.label == catalog.method("ssd").title).value
        is True
    )


@pytest.mark.slow
def test_launch_all_and_none(home):
    at = open_page("launch", **SMALL)
    button(at, "All").click().run()
    allowed = {
        card.id
        for card in catalog.all_methods()
        if card.family != "reference" and catalog.serves(card, "class_wise")
    }
    assert set(at.query_params["methods"]) == allowed
    apart = {catalog.method(name).title for name in ("uploaded", "head_distillation")}
    assert all(one.value != (one.disabled or one.label in apart) for one in at.checkbox)
    button(at, "None").click().run()
    assert at.query_params["methods"] == "" and not any(one.value for one in at.checkbox)


# --- queue
# --------------------------------------------------------------------------------------------------


def enqueue(home: Path, methods: tuple[str, ...] = ("finetune", "scrub")) -> int:
    """A comparison of jobs; the training runs under this test's own process and the others wait."""
    specs = [
        make_spec_row(scenario=None),
        *(make_spec_row(method=name) for name in ("original", "retrain", *methods)),
    ]
    with open_store(home) as store:
        comparison = store.create_comparison(
            "Watched", "A note to read.", {}, [spec.key for spec in specs]
        )
        store.enqueue(specs, comparison=comparison.id)
        return comparison.id


def test_queue_shows_progress_loss_and_what_waits(home):
    number = enqueue(home)
    with open_store(home) as store:
        worker = store.register_worker("cpu", 2)
        job = store.claim(worker.id)
        assert job is not None
        store.beat(job.id, progress=0.4, step="epoch 2 of 5", losses=[1.5, 0.9, 0.4])
        at = open_page("queue", comparison=str(number))
        assert not at.exception and not at.error
        assert "A note to read" in words_on(at)
        assert "Running (1)" in words_on(at) and "Waiting (4)" in words_on(at)
        assert "epoch 2 of 5" in words_on(at) and "by the forecast" not in running_bar(at)
        figure = json.loads(at.get("plotly_chart")[0].proto.spec)
        assert figure["data"][0]["y"] == [1.5, 0.9, 0.4]
        table = at.dataframe[0].value
        assert (
            len(table) == 4 and table["Waits for"].str.startswith("Training of the original").any()
        )
        assert "No worker is running" not in words_on(at)


def running_bar(at: AppTest) -> str:
    return at.get("progress")[1].proto.text  # below that of all runs


def test_queue_cancels_and_retries(home, started):
    number = enqueue(home)
    at = open_page("queue", comparison=str(number))
    button(at, "Cancel all").click().run()
    with open_store(home) as store:
        assert {job.state for job in store.jobs()} == {"cancelled"}
    assert "Stopped (5)" in words_on(at)
    button(at, "Retry all 5").click().run()
    with open_store(home) as store:
        assert sum(job.state == "queued" for job in store.jobs()) == 5
    assert started == [home]
    assert "Waiting (5)" in words_on(at)


def test_a_ticked_run_stays_the_ticked_one_while_the_queue_moves_on(home):
    number = enqueue(home)
    with open_store(home) as store:
        *_, ticked, last = sorted(store.jobs(), key=lambda job: job.id)
        at = open_page("queue", comparison=str(number))
        at.session_state["keep:waiting_ticked"] = [ticked.id]
        # the first of the list runs, the last is cancelled: other rows in the same places each time
        for moves_on in (
            lambda: store.claim(store.register_worker("cpu", 2).id),
            lambda: store.cancel(last.id),
        ):
            moves_on()
            at.run()
            assert button(at, "Cancel 1 selected run").key == "cancel_selected"
        press(at, "cancel_selected")
        assert {job.id for job in store.jobs() if job.state == "cancelled"} == {ticked.id, last.id}
        assert next(one for one in at.button if one.key == "cancel_selected").disabled


def test_queue_asks_before_it_cancels_a_training_that_others_wait_for(home):
    number = enqueue(home)
    with open_store(home) as store:
        worker = store.register_worker("cpu", 2)
        job = store.claim(worker.id)
        assert job is not None
        at = open_page("queue", comparison=str(number))
        press(at, f"cancel:{job.id}")
        assert (
            not store.job(job.id).cancel_requested
            and "4 runs wait for it" in words_on(at)
            and "Retrain, seed 0" in words_on(at)
        )
        press(at, f"keep:job:{job.id}")
        assert "wait for it" not in words_on(at) and store.count_active() == 5
        press(at, f"cancel:{job.id}")
        press(at, f"sure:job:{job.id}")
        assert store.job(job.id).cancel_requested and "wait for it" not in words_on(at)
        assert sorted(one.state for one in store.jobs()) == ["cancelled"] * 4 + ["running"]
        assert next(one for one in at.button if one.key == f"cancel:{job.id}").label == "Stopping"


def press(at, key):
    next(one for one in at.button if one.key == key).click().run()


def test_launch_and_queue_say_the_same_time(home, started):
    with open_store(home) as store:
        store.register_worker("cpu", 2)
    at = open_page("launch", dataset="digits", model="mlp", methods=["finetune", "scrub"])
    said = {one.label: one.value for one in at.metric}["Time"]
    next(one for one in at.button if one.label.startswith("Start ")).click().run()
    with open_store(home) as store:
        assert store.count_active() == 5
    (bar,) = open_page("queue").get("progress")
    assert f"{said} left" in bar.proto.text


def test_queue_shows_the_whole_error_and_the_log(home):
    number = enqueue(home)
    why = "the budget is too large"
    with open_store(home) as store:
        worker = store.register_worker("cpu", 2)
        job = store.claim(worker.id)
        assert job is not None
        store.finish_job(
            job.id,
            "failed",
            error=f"Traceback of many lines\nBadValue: {why}.",
            worker_id=worker.id,
        )
        if name := store.job(job.id).log:
            (store.home / "logs").mkdir(exist_ok=True)
            (store.home / "logs" / Path(name).name).write_text("first line\nlast line\n")
    at = open_page("queue", comparison=str(number))
    assert why in words_on(at)
    assert any("Traceback of many lines" in one.value for one in at.code)


def test_queue_says_what_a_released_run_waits_for(home):
    number = enqueue(home)
    with open_store(home) as store:
        job = store.claim("worker")
        assert job is not None
        store.release(job.id, waits_for=trouble.DISK)
    at = open_page("queue", comparison=str(number))
    assert not at.exception and not at.error
    waiting = next(frame.value for frame in at.dataframe if "Waits for" in frame.value)
    assert waiting["Waits for"].str.startswith(trouble.DISK).sum() == 1


@pytest.mark.slow
def test_queue_stays_up_while_the_database_is_locked(home, monkeypatch):
    number = enqueue(home)
    monkeypatch.setattr("mucore.store.engine.BUSY_SECONDS", 0.1)
    with open_store(home) as store:
        store.claim(f"{host()}-4194305-1.00")  # a process that is not there: it is to be reaped
    other = sqlite3.connect(home / "store.sqlite", isolation_level=None)
    with contextlib.closing(other):
        other.execute("BEGIN IMMEDIATE")
        at = open_page("queue", comparison=str(number))
        assert not at.exception
        assert any(trouble.LOCK in warning.value for warning in at.warning)
        other.execute("ROLLBACK")
    assert not open_page("queue", comparison=str(number)).warning


def test_queue_offers_a_worker_when_none_lives(home, started):
    number = enqueue(home)
    at = open_page("queue", comparison=str(number))
    assert "No worker is running" in words_on(at)
    button(at, "Start a worker").click().run()
    assert started == [home]


@pytest.mark.slow
@pytest.mark.parametrize(
    "code, sentence",
    [
        ("import time; time.sleep(60)", "A worker is starting"),
        ("raise SystemExit(3)", "ended with code 3"),
    ],
)
def test_queue_tells_a_worker_on_its_way_from_one_that_failed(home, monkeypatch, code, sentence):
    number = enqueue(home)
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        if "time" not in code:
            process.wait(timeout=30)
        monkeypatch.setattr(queue_data, "ensure_workers", lambda store: [process])
        at = open_page("queue", comparison=str(number))
        button(at, "Start a worker").click().run()
        assert sentence in words_on(at)
    finally:
        process.kill()
        process.wait()


WRITER = """
import sys
from datetime import timedelta
sys.path.insert(0, sys.argv[1])
from builders import make_result, make_spec_row
from mucore.store import open_store, trouble
from mucore.store.liveness import host
store = open_store()
worker = store.register_worker("cpu", 1)
store.enqueue([make_spec_row(scenario=None)])
job = store.claim(worker.id)
store.beat(job.id, progress=0.5, step="half way", losses=[1.0, 0.5])
store.put_result(make_result())
import os
os._exit(9)  # as a kill would: no clean-up
"""


@pytest.mark.slow
def test_pages_follow_another_process_that_dies(home):
    fill(home, "empty")
    queue = open_page("queue")
    assert "not launched anything yet" in words_on(queue)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MUCORE_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-c", WRITER, str(ROOT / "tests")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 9, done.stderr
    # what two seconds of waiting would do to the cached look for dead workers
    st.cache_data.clear()
    queue.run()
    assert not queue.exception
    assert "Waiting (1)" in words_on(queue) and "No worker is running" in words_on(queue)


@pytest.mark.slow
def test_queue_shows_workers_by_machine_and_device(home):
    facts = {"device_name": "A GPU", "memory_used": 2e9, "memory_total": 8e9, "load": 0.5}
    with open_store(home) as store:
        worker = store.register_worker("cuda", 4, facts={**facts, "device_id": "GPU-1"})
        at = open_page("queue")
        assert tells(words_on(at), "1 worker", "4 threads", "A GPU", "2.0 GB", "50 %")
        assert not at.dataframe
        for number in (1, 2):
            remote = dataclasses.replace(
                worker,
                id=f"elsewhere-{number}-1.00",
                host="elsewhere",
                facts={"device_id": f"GPU-{number}", "device_name": f"GPU {number}"},
            )
            store._put_worker(remote)
        table = next(one.value for one in open_page("queue").dataframe if "Machine" in one.value)
    assert len(table) == 3 and list(table["Machine"]).count("elsewhere") == 2
    assert set(table["Device"]) == {"A GPU", "GPU 1", "GPU 2"}


@pytest.mark.slow
def test_queue_shows_the_end_of_a_log_that_lies_on_another_machine(home):
    with open_store(home) as store:
        (job,) = store.enqueue([make_spec_row(scenario=None)])
        store.claim("elsewhere-7-1.00")
        store.keep_log(job.id, "what was said there", worker_id="elsewhere-7-1.00")
        store.finish_job(job.id, "failed", error="It failed.", worker_id="elsewhere-7-1.00")
    at = open_page("queue")
    assert any("what was said there" in one.value for one in at.code)
