"""`python -m mucore bench`: measure the speed that the project promises, on this machine, through
the code that users run.

One comparison is computed in a fresh store, then asked for again. The bare loop that training is
compared with is the same model on one random batch that stays on the device: what remains when
loading, augmentation, counting and progress cost nothing. It is timed before and after the
training, so that a machine that slows down on the way slows both.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mucore import training
from mucore.bench import page
from mucore.bench.bare import bare_loop
from mucore.engine.run import Run
from mucore.errors import MucoreError
from mucore.metrics import cost
from mucore.metrics.forgetting_quality import forgetting_quality
from mucore.metrics.representation import linear_cka
from mucore.outputs import Outputs
from mucore.probes.efficacy import squared_gradient_norms
from mucore.runner.execute import PREDICTING
from mucore.runner.plan import Grid, MethodChoice, Plan, ScenarioChoice, launch, make_plan
from mucore.runner.session import Session
from mucore.runner.worker import work
from mucore.spec import RunSpec
from mucore.store import Store, open_store
from mucore.store.rows import Result
from mucore.testing.synthetic import synthetic_store


def benchmark(*, quick: bool = False, write: bool = False, device: str = "auto") -> bool:
    """Measure, print, and with `write` put the figures into docs/benchmarks.md. Returns whether
    every promise was kept.

    `quick` runs the same code on digits with two epochs and judges nothing. Raises `BadValue` for
    `quick` with `write`.
    """
    page.refuse_quick_figures(quick, write)
    with tempfile.TemporaryDirectory(prefix="mucore-bench-") as folder:
        store = open_store(Path(folder) / "comparison")
        lines = measure_runs(store, _grid(quick), device)
        store.close()
        page.say("metrics of many models and features")
        lines += measure_metrics(quick)
        page.say("starting the command line")
        lines.append(measure_start())
        page.say("reading a store of many results")
        lines.append(measure_frames(Path(folder) / "many", 500 if quick else 10_000))
    page.show(lines, judge=not quick)
    if write:
        page.put_section(section(lines, page.machine(device)))
        print(f"Written to docs/{page.PAGE.name}.")
    return quick or all(line.met is not False for line in lines)


def _grid(quick: bool) -> Grid:
    return Grid(
        dataset="digits" if quick else "fashion-mnist-10k",
        model="mlp" if quick else "resnet9-small",
        preset="standard",
        recipe={"epochs": 2} if quick else {},
        scenarios=[ScenarioChoice(id="one_class")],
        methods=[MethodChoice(id="finetune")],
    )


def measure_runs(store: Store, grid: Grid, device: str) -> list[page.Line]:
    """Original, Retrain and one method in an empty store; then the same comparison again."""
    session = Session(store, device)
    plan = make_plan(grid, store)
    original = plan.specs[0]
    page.say("bare loop, before")
    before = bare_loop(session, original)
    page.say(f"{len(plan.specs)} runs of {grid.dataset} with {grid.model}, preset {grid.preset}")
    launch(plan, store, name="bench")
    work(store, device=device, only=set(plan.keys), until_done=True)
    page.say("bare loop, after")
    after = bare_loop(session, original)
    page.say("gradients of every sample")
    gradients = efficacy_seconds(session, original)
    results = {key: _result(store, plan, key) for key in plan.keys}
    trained = results[original.key]
    retrained = next(r for r in results.values() if r.spec["method"] == "retrain")
    last = results[plan.keys[-1]]

    seconds = trained.cost["seconds"]
    count = len(session.splits(original).train.ids)
    epoch = seconds / original.recipe.epochs
    ours, bare = count / epoch, 2 / (1 / before + 1 / after)
    test, train = _accuracy(store, trained, "test"), _accuracy(store, trained, "train")
    evaluation, whole = _evaluating(last.cost), cost.taken(retrained.cost)
    assert whole is not None
    predicting = last.cost["measuring_seconds"][PREDICTING] / last.cost["evaluation_seconds"]
    began = time.perf_counter()
    again = make_plan(grid, store)
    frame = store.summaries(keys=list(again.keys))
    second = time.perf_counter() - began
    return [
        page.Line(
            "Training of the original",
            f"{seconds:.1f} s",
            "at most 45 s on 2 CPU cores",
            seconds <= 45,
        ),
        page.Line("Its accuracy on the training set", f"{train:.2%}", "100 %", train == 1),
        page.Line("Its accuracy on the test set", f"{test:.2%}", "at least 88 %", test >= 0.88),
        page.Line(
            "Training throughput against a bare loop",
            f"{ours / bare:.1%} ({ours:,.0f} of {bare:,.0f} images a second)",
            "at least 90 %",
            ours / bare >= 0.9,
        ),
        page.Line(
            "Gradients of every training sample, for efficacy, against an epoch of training",
            f"{gradients / epoch:.1f} epochs ({gradients:.1f} s)",
            "at most 3",
            gradients / epoch <= 3,
        ),
        page.Line(f"Retrain, {cost.clock(retrained.cost)} time", f"{whole:.1f} s"),
        page.Line(
            f"Evaluation of one model ({len(last.metrics)} metrics) against a Retrain",
            f"{evaluation / whole:.1%} ({evaluation:.2f} s), of which {predicting:.0%} predicts "
            "every sample once",
            "at most 5 %",
            evaluation / whole <= 0.05,
        ),
        page.Line(
            "The same comparison a second time",
            f"{second * 1000:.0f} ms, {len(again.to_run)} runs computed, {len(frame)} read",
            "served from the store",
            not again.to_run and len(frame) == len(plan.specs),
        ),
    ]


def _evaluating(costs: Mapping[str, Any]) -> float:
    """Seconds of an evaluation by the clock that `cost.taken` reads for the run itself."""
    processor = costs["evaluation_processor_seconds"]
    return costs["evaluation_seconds"] if processor is None else processor


def _result(store: Store, plan: Plan, key: str) -> Result:
    result = store.get_result(key)
    if result is None:
        errors = [job.error for job in store.jobs(keys=list(plan.keys)) if job.error]
        raise MucoreError(
            "The benchmark's comparison did not finish: "
            f"{errors[0] if errors else 'a run has no result'}"
        )
    return result


def _accuracy(store: Store, result: Result, split: str) -> float:
    """Share of the whole split that is right, from the confusion counts."""
    assert result.outputs is not None
    outputs: Outputs = store.artifacts.get_outputs(result.outputs)
    counts = outputs[split].confusion
    return float(counts.trace() / counts.sum())


def efficacy_seconds(session: Session, spec: RunSpec, samples: int = 2000) -> float:
    """Seconds for the squared gradient norm of every training sample, from a part of them, in full
    precision.
    """
    data = session.samples(spec, "train")
    part = data[torch.arange(min(samples, len(data)))]
    model = training.fresh_model(spec, session.splits(spec), 0).to(session.device)
    run: Run = session.run(spec, 0)
    size = spec.recipe.batch_size
    # the first batch allocates
    squared_gradient_norms(model, part[torch.arange(min(size, len(part)))], run, batch_size=size)
    run.synchronize()
    began = time.perf_counter()
    squared_gradient_norms(model, part, run, batch_size=size)
    run.synchronize()
    return (time.perf_counter() - began) * len(data) / len(part)


def measure_metrics(quick: bool = False) -> list[page.Line]:
    """The two metrics of arrays that could be slow, on made-up numbers of the size that was
    promised.
    """
    rng = np.random.default_rng(0)
    models, samples, rows, width = (32, 50, 500, 64) if quick else (512, 1000, 10_000, 512)
    first, second = rng.normal(size=(2, rows, width)).astype(np.float16)
    cka = _seconds(lambda: linear_cka(first, second))
    unlearned, retrained = (
        rng.normal(0.2, 1.2, (models, samples)),
        rng.normal(size=(models, samples)),
    )
    quality = _seconds(lambda: forgetting_quality(unlearned=unlearned, retrained=retrained))
    return [
        page.Line(f"CKA of {rows:,} x {width} features", f"{cka:.2f} s", "under 2 s", cka < 2),
        page.Line(
            f"Forgetting quality of {models} x {models} models, {samples:,} samples",
            f"{quality:.1f} s",
            "under 10 s",
            quality < 10,
        ),
    ]


def _seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def measure_start(repeats: int = 5) -> page.Line:
    """Best wall time of `python -m mucore methods --json`, a process from start to end."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "mucore", "methods", "--json"],
            cwd=page.ROOT,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        times.append(time.perf_counter() - began)
    return page.Line(
        "Start of the command line (methods --json)",
        f"{min(times):.2f} s",
        "under 1 s",
        min(times) < 1,
    )


def measure_frames(home: Path, count: int) -> page.Line:
    """Time to read `count` results into the two frames that the pages draw from."""
    store = synthetic_store(home, count)
    began = time.perf_counter()
    runs, values = store.summaries(), store.metric_values()
    seconds = time.perf_counter() - began
    store.close()
    return page.Line(
        f"Frames of {len(runs):,} results ({len(values):,} values)",
        f"{seconds:.2f} s",
        "under 0.5 s",
        seconds < 0.5,
    )


def section(lines: list[page.Line], names: dict[str, str]) -> str:
    """The first section of docs/benchmarks.md."""
    text = [
        "# Benchmarks",
        "",
        (
            "Written by `python -m mucore bench --write` (or `make bench`), which measures through "
            "the code that users run: the"
        ),
        (
            "comparison `fashion-mnist-10k`, `resnet9-small`, preset `standard`, scenario "
            "`one_class`, in an empty store. The bare loop"
        ),
        (
            "is the same model on one random batch that stays on the device, timed before and "
            "after the training."
        ),
        "",
        *page.rows(lines),
        "",
        "| machine | |",
        "| --- | --- |",
        *(f"| {name} | {value} |" for name, value in names.items()),
        "",
    ]
    return "\n".join(text)
