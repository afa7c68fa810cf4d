"""What a store promises, on every database it can live in."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa
from builders import (
    START,
    delete_result,
    full_results,
    make_cost,
    make_model,
    make_result,
    make_spec_row,
)
from sqlalchemy.exc import DBAPIError

import mucore
from mucore import titles
from mucore.engine import run
from mucore.errors import BadValue, ReadOnly, StoreError, UnknownName
from mucore.runner.spawn import start_process
from mucore.store import LostJob, Measured, Store, open_store, records
from mucore.store import schema as tables
from mucore.store.result_rows import NOT_A_NUMBER
from mucore.store.results import SUMMARY
from mucore.store.schema import now
from mucore.store.workers import GRACE_SECONDS, host

SPEC = make_spec_row()
ORIGINAL, RETRAIN = SPEC.original(), SPEC.retrained()


def _state(store: Store, job_id: int) -> tuple[str, int]:
    job = store.job(job_id)
    return job.state, job.deaths


def _age(store: Store, job_id: int, seconds: float) -> None:
    """Make the last heartbeat of a job lie in the past."""
    with store.write() as connection:
        update = sa.update(tables.job).where(tables.job.c.id == job_id)
        connection.execute(update.values(heartbeat=now() - timedelta(seconds=seconds)))


# -- results


def test_a_result_comes_back_as_it_went_in(store: Store) -> None:
    result = make_result(
        metrics={"ta": 0.9, "mia_auc": Measured(None, error="Too few samples."), "l2": math.inf},
        gaps={"ta": -0.01},
        cost=make_cost(seconds=np.float64(1.5), steps=np.int64(7)),
        notes=("It fell back to mean and diagonal — ℓ₂.",),
        flags=("TA fell by 12 points.",),
        outputs="ab.parquet",
        stop_reason="ran to the end",
        demo=True,
    )
    store.put_result(result)
    found = store.get_result(result.key)
    assert found == dataclasses.replace(result, cost=make_cost(seconds=1.5, steps=7))
    assert (
        found is not None
        and found.started == START
        and found.finished == START + timedelta(seconds=2)
    )


def test_nan_is_a_missing_metric_with_a_sentence(store: Store) -> None:
    store.put_result(make_result(metrics={"ta": math.nan, "ra": 0.5}, gaps={"ra": math.nan}))
    (found,) = store.results()
    assert found.metrics == {
        "ta": Measured(None, error=NOT_A_NUMBER),
        "ra": Measured(0.5, gap=None),
    }


def test_putting_a_result_again_replaces_it(store: Store) -> None:
    store.put_result(make_result(metrics={"ta": 0.1}))
    store.put_result(make_result(metrics={"ra": 0.2}))
    (found,) = store.results()
    assert set(found.metrics) == {"ra"}
    delete_result(store, found.key)
    assert store.results() == [] and store.get_result(found.key) is None


def test_filters(store: Store) -> None:
    results = full_results(
        methods=["finetune", "salun"], scenarios=["one_class", "class_wise"], seeds=[0, 1]
    )
    store.put_results(results)
    keys = {result.key for result in results}
    assert store.known([*keys, "nobody"]) == keys
    assert store.known([]) == set()
    assert len(store.results()) == len(results)
    expected = {
        result.key
        for result in results
        if result.spec["scenario"] == "one_class" and result.spec["method"] in ("salun", "finetune")
    }
    assert {
        result.key for result in store.results(scenario="one_class", method=["salun", "finetune"])
    } == expected
    assert len(expected) == 4
    assert store.results(keys=[]) == []
    assert [result.key for result in store.results(keys=[results[3].key, "nobody"])] == [
        results[3].key
    ]
    assert len(store.summaries(dataset="digits", model="mlp")) == len(results)
    assert store.summaries(dataset="mnist").empty and store.metric_values(model="cnn").empty
    comparison = store.create_comparison(
        "two", "", {}, [results[1].key, results[2].key, "unfinished"]
    )
    assert set(store.summaries(comparison=comparison.id)["key"]) == {results[1].key, results[2].key}
    assert set(store.metric_values(comparison=comparison.id)["key"]) == {
        results[1].key,
        results[2].key,
    }


def test_recent_results_are_the_newest_of_each_method_and_recipe(store: Store) -> None:
    made = [
        make_result(method="salun", training_seed=seed, finished=START + timedelta(days=seed))
        for seed in range(4)
    ]
    training = make_result(scenario=None, method="original", finished=START)
    row = make_result(method="original", finished=START)
    elsewhere = make_result(dataset="faces")
    store.put_results([*made, training, row, elsewhere])
    found = store.recent_results(dataset="digits", model="mlp", each=2)
    assert {result.key for result in found} == {made[2].key, made[3].key, training.key, row.key}
    assert all(not result.metrics and result.cost == made[0].cost for result in found)


def test_how_many_results_there_are_and_which_kept_predictions(store: Store) -> None:
    assert store.count_results() == 0 and store.with_outputs() == set()
    results = [
        make_result(training_seed=seed, outputs="ab.parquet" if seed == 1 else None)
        for seed in range(3)
    ]
    store.put_results(results)
    assert store.count_results() == 3 and store.with_outputs() == {results[1].key}


def test_more_keys_than_a_statement_has_parameters(store: Store) -> None:
    result = make_result()
    store.put_result(result)
    assert store.known([result.key, *(f"{number:024x}" for number in range(70_000))]) == {
        result.key
    }


def test_summaries_say_what_the_records_say(store: Store) -> None:
    store.put_results([make_result(), make_result(scenario=None, cost={})])
    frame = store.summaries()
    assert {name: str(kind) for name, kind in frame.dtypes.items()} == SUMMARY
    by_scenario = frame.set_index("scenario", drop=False)
    row, training = by_scenario.loc["one_class"], frame[frame["scenario"].isna()].iloc[0]
    assert row["key"] == SPEC.key and row["model_key"] == SPEC.model_key
    assert json.loads(row["parameters"]) == SPEC.parameters
    assert json.loads(row["scenario_parameters"]) == SPEC.scenario_parameters
    assert json.loads(row["recipe"]) == SPEC.recipe.model_dump()
    assert (row["seconds"], row["steps"], row["forget_count"], row["demo"]) == (2.0, 30, 100, False)
    assert row["finished"] == pd.Timestamp(START + timedelta(seconds=2))
    assert (
        math.isnan(training["seconds"])
        and training["steps"] is pd.NA
        and pd.isna(training["forget_hash"])
    )


def test_summaries_name_the_users_own_data_and_weights(store: Store) -> None:
    one, two, three = "a" * 16, "b" * 64, "c" * 64
    made = [
        make_result(data_hash="f" * 64),  # of catalogued data
        make_result(method="ssd", dataset="npz:a.npz"),
        make_result(method="salun"),
        make_result(method="scrub"),
    ]
    given = [{}, {"data_hash": one}, {"original_hash": two, "pretrained_hash": three}, {}]
    made = [
        dataclasses.replace(each, spec={**each.spec, **hashes})
        for each, hashes in zip(made, given, strict=True)
    ]
    store.put_results(made)
    found = store.summaries().set_index("key")["hashes"]
    wanted = ["", f"data={one}", f"original={two} pretrained={three}", ""]
    assert [found[each.key] for each in made] == wanted


def test_metric_values_say_what_the_records_say(store: Store) -> None:
    first = make_result(metrics={"ta": 0.9, "ra": None, "l2": 3.0}, gaps={"ta": -0.05})
    second = make_result(
        method="salun", metrics={"va": 0.8, "ta": 0.7}, finished=START + timedelta(days=1)
    )
    store.put_results([second, first, make_result(method="retrain", metrics={}, finished=START)])
    frame = store.metric_values()
    assert frame[["key", "metric"]].values.tolist() == [
        [first.key, "ta"],
        [first.key, "ra"],
        [first.key, "l2"],
        [second.key, "va"],
        [second.key, "ta"],
    ]
    np.testing.assert_array_equal(frame["value"], [0.9, np.nan, 3.0, 0.8, 0.7])
    np.testing.assert_array_equal(frame["gap"], [-0.05, np.nan, np.nan, np.nan, np.nan])
    assert frame["error"].isna().tolist() == [True, False, True, True, True]
    assert frame["error"][1] == first.metrics["ra"].error


def test_a_row_with_a_spec_of_another_version_is_still_listed(store: Store) -> None:
    old = {
        "dataset": "digits",
        "model": "mlp",
        "method": "gone",
        "scenario": "no_more",
        "surprise": [1],
    }
    store.put_result(make_result(key="0" * 24, spec=old))
    with store.write() as connection:
        record = json.loads(connection.execute(sa.select(tables.result.c.record)).scalar_one())
        record |= {"a_new_field": 1}
        del record["flags"]
        connection.execute(sa.update(tables.result).values(record=json.dumps(record)))
    (found,) = store.results()
    assert found.spec == old and found.flags == ()
    assert store.summaries()["method"].tolist() == ["gone"]


@pytest.mark.parametrize("status", get_args(records.Status))
def test_every_status_is_kept_with_its_reason(store: Store, status: records.Status) -> None:
    store.put_result(make_result(SPEC, status=status, stop_reason="why"))
    (found,) = store.results()
    assert (found.status, found.stop_reason) == (status, "why")
    assert store.summaries()["status"].tolist() == [status]


def test_a_run_can_end_in_every_status_that_the_store_knows() -> None:
    assert set(get_args(run.Status)) == set(get_args(records.Status))


def test_models(store: Store) -> None:
    model = make_model(
        SPEC.model_key,
        spec=SPEC.model_dump(mode="json"),
        weights="ab.safetensors",
        cost={"seconds": 1.0},
        losses=(1.0, 0.5),
        diagnostics={"x": 1.0},
        notes=("a note",),
    )
    assert store.get_model(model.model_key) is None
    store.put_model(model)
    assert store.get_model(model.model_key) == model
    assert store.stored_models([model.model_key, "other"]) == {model.model_key}
    store.put_model(dataclasses.replace(model, weights=None))
    assert store.stored_models([model.model_key]) == set()
    assert store.get_model(model.model_key) == dataclasses.replace(model, weights=None)


# -- comparisons


def test_comparisons(store: Store) -> None:
    first = store.create_comparison(" First ", "why", {"methods": ["a"]}, ["k2", "k1", "k2"])
    second = store.create_comparison("Second", "", {}, [])
    assert (first.name, first.note, first.grid, first.keys) == (
        "First",
        "why",
        {"methods": ["a"]},
        ("k2", "k1"),
    )
    assert [each.id for each in store.comparisons()] == [second.id, first.id]
    assert store.comparison(first.id) == first
    assert store.rename_comparison(first.id, "Renamed", "note").name == "Renamed"
    job = store.enqueue([ORIGINAL], comparison=second.id)[0]
    store.put_result(make_result(SPEC))
    store.delete_comparison(second.id)
    assert store.job(job.id).comparison is None and store.job(job.id).state == "queued"
    assert len(store.results()) == 1
    third = store.create_comparison("Third", "", {}, [])
    assert third.id > second.id
    with pytest.raises(UnknownName, match="no comparison named '99'"):
        store.comparison(99)
    with pytest.raises(UnknownName):
        store.delete_comparison(second.id)
    with pytest.raises(UnknownName):
        store.rename_comparison(second.id, "x", "")
    with pytest.raises(BadValue, match="needs a name"):
        store.create_comparison("  ", "", {}, [])


# -- the change counter


def test_the_change_counter_moves_with_every_change_of_results(store: Store) -> None:
    seen = [store.change_counter()]

    def moves() -> bool:
        seen.append(store.change_counter())
        return seen[-1] > seen[-2]

    store.put_result(make_result())
    assert moves()
    comparison = store.create_comparison("x", "", {}, [])
    assert moves()
    store.rename_comparison(comparison.id, "y", "")
    assert moves()
    worker = store.register_worker("cpu", 1)
    store.beat_worker(worker.id, "busy")
    (job,) = store.enqueue([ORIGINAL])
    store.claim(worker.id)
    store.finish_job(job.id, "done", worker_id=worker.id)
    store.jobs(), store.workers(), store.reap(), store.results(), store.summaries()
    assert not moves()


# -- jobs


def test_a_job_from_queue_to_result(store: Store) -> None:
    comparison = store.create_comparison("x", "", {}, [SPEC.key])
    queued = store.enqueue([ORIGINAL, RETRAIN, SPEC], comparison=comparison.id)
    assert [job.key for job in queued] == [ORIGINAL.key, RETRAIN.key, SPEC.key]
    assert [job.priority for job in queued] == sorted(job.priority for job in queued)
    assert (
        queued[2].needs == (ORIGINAL.key, RETRAIN.key)
        and queued[2].label == SPEC.label
        and queued[2].log is None
    )
    assert queued[2].spec == SPEC.model_dump(mode="json")
    worker = store.register_worker("cpu", 2)
    for job, spec in zip(queued, (ORIGINAL, RETRAIN, SPEC), strict=True):
        claimed = store.claim(worker.id)
        assert claimed is not None and claimed.id == job.id
        assert (claimed.state, claimed.worker, claimed.log) == (
            "running",
            worker.id,
            f"job-{job.id}.log",
        )
        assert store.claim(worker.id) is None  # the next one needs this one
        assert (
            store.beat(job.id, worker.id, progress=0.7, step="epoch 1", losses=[2.0, math.nan])
            is False
        )
        running = store.job(job.id)
        assert (running.progress, running.step, running.losses[0]) == (0.7, "epoch 1", 2.0)
        store.beat(job.id, worker.id)
        assert store.job(job.id).step == "epoch 1"
        store.put_result(make_result(spec))
        store.finish_job(job.id, "done", worker_id=worker.id)
        assert _state(store, job.id) == ("done", 0)
    assert store.enqueue([ORIGINAL, SPEC]) == []
    assert [job.id for job in store.jobs(comparison=comparison.id)] == [job.id for job in queued]


def test_a_key_has_one_active_job(store: Store) -> None:
    first = store.enqueue([ORIGINAL, ORIGINAL])
    again = store.enqueue([RETRAIN, ORIGINAL])
    assert len(first) == 1 and [job.id for job in again] == [again[0].id, first[0].id]
    assert again[0].priority > first[0].priority
    with pytest.raises(StoreError), store.write() as connection:
        query = sa.select(tables.job).where(tables.job.c.id == first[0].id)
        row = dict(zip(tables.job.c.keys(), connection.execute(query).one(), strict=True))
        connection.execute(sa.insert(tables.job).values(row | {"id": 1000}))


def test_claim_only_takes_given_keys_that_are_free(store: Store) -> None:
    other = make_spec_row(training_seed=5).original()
    store.enqueue([ORIGINAL, RETRAIN, other])
    assert store.claim("w", only=[]) is None
    assert store.claim("w", only=[RETRAIN.key]) is None  # its original is queued
    taken = store.claim("w", only=[RETRAIN.key, other.key])
    assert taken is not None and taken.key == other.key


def test_a_queued_job_whose_result_came_another_way_is_done(store: Store) -> None:
    (job,) = store.enqueue([ORIGINAL])
    store.put_result(make_result(ORIGINAL))
    assert store.claim("w") is None
    assert _state(store, job.id) == ("done", 0)


@pytest.mark.parametrize(
    ("end", "words"), [("failed", "No space."), ("cancelled", "it is cancelled")]
)
def test_what_needs_a_run_that_ended_without_result_ends_as_it_did_at_once(
    store: Store, end: str, words: str
) -> None:
    original, retrain, method = store.enqueue([ORIGINAL, RETRAIN, SPEC])
    bystander = store.enqueue([make_spec_row(training_seed=3).original()])[0]
    store.claim("w")
    if end == "cancelled":
        store.cancel(original.id)
        store.finish_job(original.id, "cancelled", worker_id="w")
    else:
        store.finish_job(original.id, "failed", error="No space.", worker_id="w")
    for job in (retrain, method):
        ended = store.job(job.id)
        assert ended.state == end and ended.finished is not None
        assert (
            ended.error is not None
            and titles.run(ORIGINAL.model_dump()) in ended.error
            and words in ended.error
        )
    assert store.job(bystander.id).state == "queued"


def test_a_job_queued_after_its_need_failed_fails_when_claimed_and_retry_brings_the_need_back(
    store: Store,
) -> None:
    (original,) = store.enqueue([ORIGINAL])
    store.claim("w")
    store.finish_job(original.id, "failed", error="It broke.", worker_id="w")
    (method,) = store.enqueue([SPEC])
    assert store.claim("w") is None
    assert store.job(method.id).state == "failed"
    again = store.retry(method.id)
    assert (
        again.key == SPEC.key
        and again.id != method.id
        and again.state == "queued"
        and again.needs == method.needs
    )
    claimed = store.claim("w")
    assert claimed is not None and claimed.key == ORIGINAL.key
    assert store.retry(method.id).id == again.id  # the active one
    store.put_result(make_result(ORIGINAL))
    store.finish_job(claimed.id, "done", worker_id="w")
    taken = store.claim("w")
    assert taken is not None and taken.id == again.id


def test_a_failed_key_may_be_queued_again(store: Store) -> None:
    (first,) = store.enqueue([ORIGINAL])
    store.claim("w")
    store.finish_job(first.id, "failed", error="x", worker_id="w")
    (second,) = store.enqueue([ORIGINAL])
    assert second.id != first.id and second.state == "queued"
    assert [job.id for job in store.jobs(keys=[ORIGINAL.key])] == [first.id, second.id]
    assert [job.id for job in store.jobs(states=["failed"])] == [first.id]
    assert [job.id for job in store.jobs(limit=1)] == [second.id]


def test_jobs_of_a_comparison_include_those_another_one_queued(store: Store) -> None:
    one = store.create_comparison("1", "", {}, [RETRAIN.key])
    two = store.create_comparison("2", "", {}, [RETRAIN.key, SPEC.key])
    original, retrain = store.enqueue([ORIGINAL, RETRAIN], comparison=one.id)
    store.enqueue([ORIGINAL, RETRAIN, SPEC], comparison=two.id)
    assert {job.key for job in store.jobs(comparison=two.id)} == {RETRAIN.key, SPEC.key}
    assert {job.id for job in store.jobs(comparison=one.id)} == {original.id, retrain.id}


def test_cancelling(store: Store) -> None:
    original, retrain = store.enqueue([ORIGINAL, RETRAIN])
    other = store.enqueue([make_spec_row(training_seed=9).original()])[0]
    assert store.cancel(other.id)[0].state == "cancelled"
    store.claim("w")
    (flagged,) = store.cancel(original.id)
    assert flagged.state == "running" and flagged.cancel_requested
    # at once: it might begin if the original ended before its next step
    assert store.job(retrain.id).state == "cancelled"
    assert store.beat(original.id, "w", progress=0.2) is True
    store.finish_job(original.id, "cancelled", worker_id="w")
    assert store.job(original.id).state == "cancelled"
    assert store.cancel(original.id)[0].state == "cancelled"  # nothing left to do
    with pytest.raises(UnknownName, match="no job named '77'"):
        store.cancel(77)


@pytest.mark.parametrize("door", ["retry", "enqueue"])
def test_wanted_again_while_it_still_comes_to_its_end(store: Store, door: str) -> None:
    original, retrain, method = store.enqueue([ORIGINAL, RETRAIN, SPEC])
    store.claim("w")
    store.cancel(original.id)
    again = (
        store.retry(method.id) if door == "retry" else store.enqueue([ORIGINAL, RETRAIN, SPEC])[-1]
    )
    assert again.key == SPEC.key and again.state == "queued" and again.id != method.id
    assert not store.job(original.id).cancel_requested
    store.finish_job(original.id, "cancelled", worker_id="w")  # its worker had read the wish before
    assert [job.key for job in store.jobs(states=["queued"])] == [
        ORIGINAL.key,
        RETRAIN.key,
        SPEC.key,
    ]
    claimed = store.claim("w")
    assert claimed is not None and claimed.id == original.id


def test_dependents_names_what_a_cancelled_job_takes_along(store: Store) -> None:
    original, retrain, method = store.enqueue([ORIGINAL, RETRAIN, SPEC])
    store.enqueue([make_spec_row(training_seed=9).original()])
    assert [job.id for job in store.dependents([original.id])] == [retrain.id, method.id]
    assert [job.id for job in store.dependents([retrain.id])] == [method.id]
    assert [job.id for job in store.dependents([original.id, retrain.id])] == [method.id]
    assert (
        store.dependents([method.id]) == []
        and store.dependents([original.id, retrain.id, method.id]) == []
    )
    assert store.cancel(retrain.id)[0].state == "cancelled"
    assert store.job(method.id).state == "cancelled" and store.job(original.id).state == "queued"
    assert (
        titles.run(RETRAIN.model_dump()) in (store.job(method.id).error or "")
        and store.dependents([retrain.id]) == []
    )


def test_only_what_ended_badly_can_be_retried(store: Store) -> None:
    (job,) = store.enqueue([ORIGINAL])
    with pytest.raises(BadValue, match="is queued"):
        store.retry(job.id)
    store.cancel(job.id)
    store.put_result(make_result(ORIGINAL))
    with pytest.raises(BadValue, match="has a result"):
        store.retry(job.id)
    with pytest.raises(UnknownName):
        store.job(12345)


def test_release_keeps_the_place_in_the_queue(store: Store) -> None:
    first, _second = store.enqueue([ORIGINAL, make_spec_row(training_seed=1).original()])
    store.claim("w")
    store.beat(first.id, "w", progress=0.4, step="epoch 1")
    store.release(first.id, worker_id="w")
    released = store.job(first.id)
    assert (released.state, released.worker, released.progress, released.deaths) == (
        "queued",
        None,
        0.0,
        0,
    )
    taken = store.claim("v")
    assert taken is not None and taken.id == first.id
    store.cancel(first.id)
    store.release(first.id, worker_id="v")
    assert store.job(first.id).state == "cancelled"


def test_a_job_that_is_no_longer_mine(store: Store) -> None:
    (job,) = store.enqueue([ORIGINAL])
    store.claim("w")
    with pytest.raises(LostJob, match=f"Job {job.id}"):
        store.finish_job(job.id, "done", worker_id="somebody else")
    with pytest.raises(LostJob):
        store.beat(job.id, "somebody else")
    assert store.job(job.id).state == "running"
    store.finish_job(job.id, "done", worker_id="w")
    with pytest.raises(LostJob):
        store.beat(job.id, "w", progress=0.1)
    with pytest.raises(LostJob):
        store.release(job.id, worker_id="w")
    assert store.job(job.id).progress == 1.0


def test_reap_knows_wishes_and_results(store: Store) -> None:
    cancelled, finished = store.enqueue([ORIGINAL, make_spec_row(training_seed=1).original()])
    for job in (cancelled, finished):
        store.claim("w")
        _age(store, job.id, GRACE_SECONDS)
    for job in (cancelled, finished):
        store.cancel(job.id)
    store.put_result(make_result(make_spec_row(training_seed=1).original()))
    assert {job.id: job.state for job in store.reap()} == {
        cancelled.id: "cancelled",
        finished.id: "done",
    }


# -- analyses


def test_an_analysis_goes_before_every_run_and_is_asked_for_once(store: Store) -> None:
    runs = store.enqueue([ORIGINAL, RETRAIN])
    spec = {"analysis": "tsne", "parameters": {"keys": ["a"]}, "pack": None}
    job = store.enqueue_other("analysis", "f" * 32, spec, "a map")
    assert (job.kind, job.state, job.needs, job.comparison) == ("analysis", "queued", (), None)
    assert job.spec == spec and job.label == "a map"
    assert store.enqueue_other("analysis", "f" * 32, spec, "a map") == job
    second = store.enqueue_other("analysis", "e" * 32, spec, "another map")
    assert second.priority < job.priority < runs[0].priority
    assert [each.id for each in store.jobs(kind="analysis")] == [job.id, second.id]
    assert [each.id for each in store.jobs(kind="run")] == [each.id for each in runs]
    assert len(store.jobs()) == 4 and store.count_active() == 2
    claimed = [store.claim("w") for _ in range(3)]
    assert [each.id for each in claimed if each] == [second.id, job.id, runs[0].id]


def test_a_search_is_given_to_who_names_its_key_alone(store: Store) -> None:
    (run,) = store.enqueue([ORIGINAL])
    job = store.enqueue_other("search", "f" * 32, {"search": {}}, "a search")
    assert store.enqueue_other("search", "f" * 32, {"search": {}}, "a search") == job
    assert (job.kind, job.needs, store.count_active()) == ("search", (), 1)
    taken = [store.claim("w"), store.claim("w"), store.claim("w", only=[job.key])]
    assert [each and each.id for each in taken] == [run.id, None, job.id]
    store.finish_job(job.id, "failed", error="Why.", worker_id="w")
    again = store.retry(job.id)
    assert (again.kind, again.spec) == ("search", job.spec) and store.claim("w") is None


def test_an_analysis_that_failed_is_run_again_before_every_run(store: Store) -> None:
    job = store.enqueue_other("analysis", "f" * 32, {"analysis": "tsne"}, "a map")
    store.claim("w")
    store.finish_job(job.id, "failed", error="Why.", worker_id="w")
    (run,) = store.enqueue([ORIGINAL])
    again = store.retry(job.id)
    assert (again.kind, again.key, again.spec) == (job.kind, job.key, job.spec)
    assert again.id != job.id and again.priority < run.priority


# -- workers


def test_workers_come_and_go(store: Store) -> None:
    worker = store.register_worker("cuda:1", 4)
    assert store.workers() == [worker] and worker.id.startswith(host())
    assert worker.versions["mucore"] == mucore.__version__
    assert store.register_worker("cpu", 2).id == worker.id and len(store.workers()) == 1
    store.beat_worker(worker.id, "busy")
    assert store.workers()[0].state == "busy"
    with store.write() as connection:
        connection.execute(sa.delete(tables.worker))
    store.beat_worker(worker.id, "busy")  # another machine had taken it for dead
    assert [each.state for each in store.workers()] == ["busy"]
    store.remove_worker(worker.id)
    assert store.workers() == []


def test_a_heartbeat_brings_what_a_worker_says_of_its_device(store: Store) -> None:
    worker = store.register_worker("cuda", 4, facts={"device_id": "a", "memory_used": 1})
    assert store.workers()[0].facts == {"device_id": "a", "memory_used": 1}
    store.beat_worker(worker.id, "idle", facts={"device_id": "a", "memory_used": 2})
    assert store.workers()[0].facts["memory_used"] == 2
    store.beat_worker(worker.id, "idle")
    assert store.workers()[0].facts["memory_used"] == 2


def test_the_end_of_a_log_is_kept_for_others_unless_the_job_is_anothers(store: Store) -> None:
    (job,) = store.enqueue([ORIGINAL])
    assert store.kept_log(job.id) == "" and store.claim("mine") is not None
    for text in ("first", "second\0"):
        store.keep_log(job.id, text, worker_id="mine")
    store.keep_log(job.id, "of one that lost it", worker_id="another")
    assert store.kept_log(job.id) == "second"
    store.finish_job(job.id, "failed", error="x", worker_id="mine")
    store.keep_log(job.id, "its end", worker_id="mine")
    assert store.kept_log(job.id) == "its end" and store.kept_log(job.id + 1) == ""
    store.keep_log(job.id + 1, "of no job", worker_id="mine")
    assert store.kept_log(job.id + 1) == ""


def test_dead_workers_are_removed(store: Store) -> None:
    worker = store.register_worker("cpu", 1)
    gone = [
        # the number was reused
        dataclasses.replace(worker, id=f"{worker.id}0"),
        # above the highest process number
        dataclasses.replace(worker, id=f"{host()}-4194305-1"),
        dataclasses.replace(worker, id="elsewhere-1-1.00"),
    ]
    remote = dataclasses.replace(worker, id="elsewhere-2-1.00")
    for each in (*gone, remote, worker):
        store._put_worker(each)
    for each, seconds in ((gone[2], GRACE_SECONDS + 1), (remote, GRACE_SECONDS / 2)):
        with store.write() as connection:
            beat = sa.update(tables.worker).where(tables.worker.c.id == each.id)
            connection.execute(beat.values(heartbeat=now() - timedelta(seconds=seconds)))
    assert {each.id for each in store.workers()} == {worker.id, remote.id}
    with store.read() as connection:
        assert set(connection.execute(sa.select(tables.worker.c.id)).scalars()) == {
            worker.id,
            remote.id,
        }


# -- read-only


# Every call of a store by what it does: one that is new stands in neither list and fails the test.
READING = """
    among artifacts artifacts_url back_up change_counter check_claim check_writable close comparison
    comparisons count_active count_results dependents disk_use get_model get_result home job
    jobs kept_log known make_read_only metric_values read read_only reap recent_results
    results sentences shown sqlite stored_models summaries talk time url vote_of votes where
    with_outputs workers working_on
""".split()
MODEL = make_model("k")
WRITING: dict[str, Callable[[Store], object]] = {
    "beat": lambda store: store.beat(1, "w"),
    "beat_worker": lambda store: store.beat_worker("w", "idle"),
    "cancel": lambda store: store.cancel(1),
    "cast_vote": lambda store: store.cast_vote("room", "a", "2", "x", "40"),
    "claim": lambda store: store.claim("w"),
    "create_comparison": lambda store: store.create_comparison("x", "", {}, []),
    "delete_comparison": lambda store: store.delete_comparison(1),
    "end_talk": lambda store: store.end_talk("room"),
    "enqueue": lambda store: store.enqueue([SPEC]),
    "enqueue_other": lambda store: store.enqueue_other("search", "k", {}, "x"),
    "finish_job": lambda store: store.finish_job(1, "done", worker_id="w"),
    "gc": lambda store: store.gc("all"),
    "hold_talk": lambda store: store.hold_talk("room", "a", 1),
    "put_model": lambda store: store.put_model(MODEL),
    "put_result": lambda store: store.put_result(make_result()),
    "put_results": lambda store: store.put_results([make_result()]),
    "register_worker": lambda store: store.register_worker("cpu", 1),
    "release": lambda store: store.release(1, worker_id="w"),
    "remove_worker": lambda store: store.remove_worker("w"),
    "rename_comparison": lambda store: store.rename_comparison(1, "x", ""),
    "empty_votes": lambda store: store.empty_votes("room", "2", hands={"40": 1}),
    "vote_again": lambda store: store.vote_again("room", "2", "2 first"),
    "reveal_votes": lambda store: store.reveal_votes("room", "2"),
    "retry": lambda store: store.retry(1),
    "write": lambda store: store.write().__enter__(),
    "keep_log": lambda store: store.keep_log(1, "x", worker_id="w"),
    # what is written beside the database, and processes that write
    "artifacts.put_arrays": lambda store: store.artifacts.put_arrays({"w": np.zeros(2)}),
    "artifacts.put_given": lambda store: store.artifacts.put_given(b"x"),
    "artifacts.sweep": lambda store: store.artifacts.sweep(()),
    "start_process": lambda store: start_process(store, ["worker"]),
}


def test_each_call_of_a_store_reads_or_writes(store: Store) -> None:
    public = {name for name in dir(store) if not name.startswith("_")}
    assert public == {*READING} | {name for name in WRITING if "." not in name} - {"start_process"}


def test_a_read_only_store_refuses_every_write(store: Store) -> None:
    store.put_result(make_result())
    (job,) = store.enqueue([ORIGINAL])
    before = store.change_counter()
    store.make_read_only("Only to be read.")
    for name, write in WRITING.items():
        with pytest.raises(ReadOnly, match="Only to be read"):
            write(store)
            pytest.fail(f"{name} went through")
    assert store.change_counter() == before and store.job(job.id) == job
    assert len(store.results()) == 1 and store.workers() == [] and store.reap() == []
    assert not (store.home / "logs").exists()


def test_the_database_itself_refuses_what_gets_past_a_read_only_store(store: Store) -> None:
    store.put_result(make_result())
    store.make_read_only("Only to be read.")
    statements = (
        sa.delete(tables.result),
        sa.update(tables.store_info).values(value=7),
        sa.insert(tables.store_info).values(name="mine", value=1),
    )
    for statement in statements:
        with store.read() as connection, pytest.raises(DBAPIError):
            connection.execute(statement)
    assert len(store.results()) == 1


def test_making_one_store_read_only_leaves_others_of_the_same_database_alone(
    shared_url: str | None, tmp_path: Path
) -> None:
    with (
        open_store(tmp_path, url=shared_url) as writer,
        open_store(tmp_path, url=shared_url) as reader,
    ):
        reader.make_read_only("Only to be read.")
        writer.put_result(make_result())
        assert len(reader.results()) == 1
        with pytest.raises(ReadOnly):
            delete_result(reader, SPEC.key)
        delete_result(writer, SPEC.key)
        assert reader.results() == []
