"""What runs are expected to take, and what is left of a job table: known durations in, numbers
derived by hand out.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from builders import make_result, make_spec_row

from mucore.runner.estimate import WAKING, Expected, time_left
from mucore.runner.estimate.past_runs import Forecast
from mucore.runner.estimate.time_left import schedule
from mucore.runs import Recipe, RunSpec
from mucore.store.records import Job, Result

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
ORIGINAL, RETRAIN = make_spec_row(scenario=None), make_spec_row(method="retrain")
LONGER = Recipe(epochs=6, batch_size=64, lr=0.1)


def past(spec: RunSpec, seconds: float, evaluation: float, *, before: float = 0.0) -> Result:
    cost = {
        "seconds": seconds,
        "evaluation_seconds": evaluation,
        "wall_seconds": seconds + evaluation + before,
    }
    return replace(make_result(spec), cost=cost)


def job(
    number: int,
    key: str,
    state: Any,
    *,
    needs: tuple[str, ...] = (),
    took: float = 0.0,
    **changes: Any,
) -> Job:
    """A job that has run for `took` seconds."""
    fields: dict[str, Any] = {
        "spec": {},
        "label": key,
        "priority": number,
        "comparison": None,
        "progress": 0.0,
        "step": "",
        "losses": (),
        "deaths": 0,
        "cancel_requested": False,
        "worker": None,
        "error": None,
        "log": None,
        "queued": NOW - timedelta(hours=1),
        "started": NOW - timedelta(seconds=took) if state == "running" else None,
        "finished": None,
        "heartbeat": None,
    }
    return Job(id=number, key=key, state=state, needs=needs, **(fields | changes))


def known(seconds: float, evaluation: float = 0.0) -> Expected:
    return Expected(seconds, evaluation)


# --- what one run is expected to take


def test_the_same_run_with_other_seeds_takes_the_median_of_past_ones():
    runs = [
        past(make_spec_row(training_seed=seed), seconds, 2.0)
        for seed, seconds in ((1, 3.0), (2, 4.0), (3, 50.0))
    ]
    found = Forecast(runs).expect([spec := make_spec_row(training_seed=9)])[spec.key]
    assert (found.work, found.evaluation) == pytest.approx((4.0, 2.0))


def test_a_longer_training_is_scaled_by_the_samples_that_it_processes():
    # Six epochs are three times two; the evaluation stays.
    spec = make_spec_row(scenario=None, recipe=LONGER)
    found = Forecast([past(ORIGINAL, 10.0, 2.0)]).expect([spec])[spec.key]
    assert (found.work, found.evaluation) == pytest.approx((30.0, 2.0), rel=0.02)


def test_weights_that_are_shared_or_stored_are_counted_once_or_not_at_all():
    again = make_spec_row(scenario=None, evaluation_seed=1)
    assert again.model_key == ORIGINAL.model_key and again.key != ORIGINAL.key
    runs = [past(ORIGINAL, 10.0, 2.0)]
    both = Forecast(runs).expect([ORIGINAL, again])
    assert [both[spec.key].seconds for spec in (ORIGINAL, again)] == pytest.approx([12.0, 2.0])
    there = Forecast(runs, stored={ORIGINAL.model_key}).expect([ORIGINAL])
    assert there[ORIGINAL.key].seconds == 2.0


def test_a_method_without_past_runs_goes_by_the_pace_of_others():
    spec = make_spec_row(method="salun")
    usual = Forecast([]).expect([spec, RETRAIN])
    twice = past(RETRAIN, 2 * usual[RETRAIN.key].work, 3 * usual[RETRAIN.key].evaluation)
    found = Forecast([twice]).expect([spec])[spec.key]
    assert found.work == pytest.approx(2 * usual[spec.key].work)
    assert found.evaluation == pytest.approx(3 * usual[spec.key].evaluation)


# --- the queue


def test_schedule_is_a_sum_for_one_worker_and_waits_for_what_is_needed_with_two():
    tasks = [
        ("t", 10.0, ()),
        ("r", 8.0, ("t",)),
        ("m", 3.0, ("t", "r")),
        ("n", 4.0, ("t", "r")),
        ("u", 5.0, ("elsewhere",)),
    ]
    assert max(schedule(tasks, 1).values()) == 30.0
    # r waits for t until 10; m and n side by side from 18 on; u after m
    assert schedule(tasks, 2) == {"t": 10.0, "r": 18.0, "m": 21.0, "n": 22.0, "u": 26.0}


def test_a_running_job_goes_by_the_forecast_at_first_and_soon_by_its_own_rate():
    def left(job: Job) -> float:
        return time_left([job], {"t": known(40.0, 6.0)}, workers=1, now=NOW).each["t"]

    # 30 s at one half: its rate says 60 s of work, whatever the forecast was; 30 s of it and 6 s of
    # evaluation are left.
    running = job(0, "t", "running", took=30.0, progress=0.5, step="epoch 3 of 6")
    assert left(running) == pytest.approx(36.0)
    # 6 s at a tenth: rate 60 s, forecast 40 s, of which the rate counts for 0.4: 48 s of work, less
    # 6 s, and 6 s of evaluation.
    young = job(0, "t", "running", took=6.0, progress=0.1, step="epoch 1 of 6")
    assert left(young) == pytest.approx(48.0)
    measuring = replace(running, progress=0.5, step="measuring")
    assert left(measuring) == pytest.approx(3.0)
    fresh = replace(running, progress=0.0, started=NOW - timedelta(seconds=1))
    assert left(fresh) == pytest.approx(45.0)


def test_jobs_of_others_that_come_first_count_and_those_behind_do_not():
    jobs = [job(0, "theirs", "queued"), job(1, "mine", "queued"), job(2, "later", "queued")]
    expected = {
        name: known(seconds) for name, seconds in (("theirs", 7.0), ("mine", 3.0), ("later", 100.0))
    }
    left = time_left(jobs, expected, workers=1, now=NOW, keys=["mine"], waking=WAKING)
    assert left.total == pytest.approx(10.0 + WAKING)
    assert time_left(jobs, expected, workers=1, now=NOW, keys=["stored"]).total is None
