"""Start, Launch and Queue as a person meets them: on an empty, a one-run and a full store, and
beside another process that writes.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import make_spec_row
from pages import button, open_page, words_on
from streamlit.testing.v1 import AppTest

from mucore.runner.grid import parse_grid
from mucore.store import open_store


def text_field(at: AppTest, label: str):
    return next(one for one in at.text_input if one.label == label)


# --- launch
# --------------------------------------------------------------------------------------------------


SMALL = {"dataset": "digits", "model": "mlp", "preset": "quick"}


def test_launch_counts_starts_and_goes_to_the_queue(home, started):
    at = open_page("launch", **SMALL, methods=["finetune", "scrub"], training_seeds="0,1")
    metrics = {one.label: one.value for one in at.metric}
    # two seeds: training, Original, Retrain, two methods
    assert metrics["Runs"] == "10" and metrics["Already computed"] == "0"
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


@pytest.mark.parametrize(
    "query, sentence",
    [
        ({"training_seeds": "a"}, "whole numbers"),
        ({"one_class.budget": "50"}, ""),
        ({"scenarios": ""}, "at least one scenario"),
        ({"recipe.epochs": "-1"}, "epochs"),
        ({"settings": "own", "methods": "finetune", "finetune.lr": "99"}, "lr must be in"),
        ({"dataset": "npz", "path": "/no/such/file.npz"}, "file.npz"),
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
    at.button_group(key="url:methods").select("ssd").run()
    assert at.query_params["training_seeds"] == "0-2" and "ssd" in at.query_params["methods"]
    again = open_page("launch", **at.query_params)
    assert [one.value for one in again.metric] == [one.value for one in at.metric]
    assert "ssd" in (again.button_group(key="url:methods").value or ())


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
        store.beat(job.id, worker.id, progress=0.4, step="epoch 2 of 5", losses=[1.5, 0.9, 0.4])
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


def test_queue_offers_a_worker_when_none_lives(home, started):
    number = enqueue(home)
    at = open_page("queue", comparison=str(number))
    assert "No worker is running" in words_on(at)
    button(at, "Start a worker").click().run()
    assert started == [home]
