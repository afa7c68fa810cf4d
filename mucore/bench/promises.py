"""`python -m mucore bench`: measure the speed that the project promises, on this machine, through
the code that users run.

One comparison is computed in a fresh store, then asked for again. The bare loop that training is
compared with is timed before and after it, so that a machine that slows down on the way slows both.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from mucore.bench import page
from mucore.bench.page import Line, bare_rate
from mucore.errors import MucoreError
from mucore.metrics import cost
from mucore.metrics.accuracy import accuracy
from mucore.runner.grid import Grid, MethodChoice, ScenarioChoice
from mucore.runner.plan import Plan, launch, make_plan
from mucore.runner.session import Session
from mucore.runner.worker import work
from mucore.store import Store, open_store
from mucore.store.records import Result
from mucore.testing.synthetic import synthetic_store

ABOUT = (
    "Written by `python -m mucore bench --write` (or `make bench`), which measures through the "
    "code that users run: the comparison `fashion-mnist-10k`, `resnet9-small`, preset `standard`, "
    "scenario `one_class`, in an empty store. The bare loop is the same model on one random batch "
    "that stays on the device, timed before and after the training."
)


def benchmark(*, quick: bool = False, write: bool = False, device: str = "auto") -> bool:
    """Measure and report. Returns whether every promise was kept.

    `quick` runs the same code on digits with two epochs and judges nothing.
    """
    grid = Grid(
        dataset="digits" if quick else "fashion-mnist-10k",
        model="mlp" if quick else "resnet9-small",
        preset="standard",
        recipe={"epochs": 2} if quick else {},
        scenarios=[ScenarioChoice(id="one_class")],
        methods=[MethodChoice(id="finetune")],
    )
    with tempfile.TemporaryDirectory(prefix="mucore-bench-") as folder:
        with open_store(Path(folder) / "comparison") as store:
            lines = measure_runs(store, grid, device)
        page.say("the command line, and a store of many results")
        lines += [measure_start(), measure_frames(Path(folder) / "many", 500 if quick else 10_000)]
    return page.report("# Benchmarks", ABOUT, lines, device=device, quick=quick, write=write)


def measure_runs(store: Store, grid: Grid, device: str) -> list[Line]:
    """Original, Retrain and one method in an empty store; then the same comparison again."""
    session, plan = Session(store, device), make_plan(grid, store)
    original = plan.specs[0]
    page.say(f"{len(plan.specs)} runs of {grid.dataset} with {grid.model}, preset {grid.preset}")
    before = bare_rate(session, original)
    launch(plan, store, name="bench")
    work(store, device=device, only=set(plan.keys), until_done=True)
    after = bare_rate(session, original)
    results = {key: _result(store, plan, key) for key in plan.keys}
    trained, last = results[original.key], results[plan.keys[-1]]
    retrained = next(r for r in results.values() if r.spec["method"] == "retrain")

    taken = trained.cost["seconds"]
    epoch = taken / original.recipe.epochs
    ours = len(session.splits(original).train.ids) / epoch
    bare = 2 / (1 / before + 1 / after)
    test, train = (
        accuracy(confusion=np.array(trained.confusion[split])) for split in ("test", "train")
    )
    # by the clock of the run itself
    whole, clock = cost.taken(retrained.cost), cost.clock(retrained.cost)
    assert whole is not None
    evaluation = last.cost[f"evaluation_{'processor_' if clock == 'processor' else ''}seconds"]
    began = time.perf_counter()
    again = make_plan(grid, store)
    frame = store.summaries(keys=list(again.keys))
    second = time.perf_counter() - began
    return [
        Line(
            "Training of the original", f"{taken:.1f} s", "at most 45 s on 2 CPU cores", taken <= 45
        ),
        Line("Its accuracy on the training set", f"{train:.2%}", "100 %", train == 1),
        Line("Its accuracy on the test set", f"{test:.2%}", "at least 88 %", test >= 0.88),
        Line(
            "Training throughput against a bare loop",
            f"{ours / bare:.1%} ({ours:,.0f} of {bare:,.0f} images a second)",
            "at least 90 %",
            ours / bare >= 0.9,
        ),
        Line(f"Retrain, {clock} time", f"{whole:.1f} s"),
        Line(
            f"Evaluation of one model ({len(last.metrics)} metrics) against a Retrain",
            f"{evaluation / whole:.1%} ({evaluation:.2f} s)",
            "at most 5 %",
            evaluation / whole <= 0.05,
        ),
        Line(
            "The same comparison a second time",
            f"{second * 1000:.0f} ms, {len(again.to_run)} runs computed, {len(frame)} read",
            "served from the store",
            not again.to_run and len(frame) == len(plan.specs),
        ),
    ]


def _result(store: Store, plan: Plan, key: str) -> Result:
    result = store.get_result(key)
    if result is None:
        errors = [job.error for job in store.jobs(keys=list(plan.keys)) if job.error]
        raise MucoreError(f"The benchmark's comparison did not finish: {errors[:1]}")
    return result


def measure_start(repeats: int = 5) -> Line:
    """Best wall time of `python -m mucore methods --json`, a process from start to end."""
    command = [sys.executable, "-m", "mucore", "methods", "--json"]
    best = min(
        _seconds(
            lambda: subprocess.run(command, cwd=page.ROOT, check=True, stdout=subprocess.DEVNULL)
        )
        for _ in range(repeats)
    )
    what = "Start of the command line (methods --json)"
    return Line(what, f"{best:.2f} s", "under 1 s", best < 1)


def measure_frames(home: Path, count: int) -> Line:
    """Time to read `count` results into the two frames that the pages draw from."""
    with synthetic_store(home, count) as store:
        taken = _seconds(lambda: (store.summaries(), store.metric_values()))
    return Line(f"Frames of {count:,} results", f"{taken:.2f} s", "under 0.5 s", taken < 0.5)


def _seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began
