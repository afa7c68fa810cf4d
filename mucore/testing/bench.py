"""`python -m mucore bench`: measure the speed that the project promises, on this machine, through
the code that users run.

One comparison is computed in a fresh store, then asked for again. The bare loop that training is
compared with is the same model on one random batch that stays on the device: what remains when
loading, augmentation, counting and progress cost nothing. It is timed before and after the
training, so that a machine that slows down on the way slows both.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import psutil
import torch
from torch import nn

from mucore import shipped, training
from mucore.engine.device import describe
from mucore.engine.run import Run
from mucore.errors import BadValue, MucoreError
from mucore.metrics.forgetting_quality import forgetting_quality
from mucore.metrics.representation import linear_cka
from mucore.outputs import Outputs
from mucore.probes.efficacy import squared_gradient_norms
from mucore.runner import estimate
from mucore.runner.estimate import Span, about
from mucore.runner.plan import Grid, MethodChoice, Plan, ScenarioChoice, launch, make_plan
from mucore.runner.session import Session
from mucore.runner.worker import work
from mucore.spec import RunSpec
from mucore.store import Store, open_pack, open_store
from mucore.store.rows import Job, Result
from mucore.testing.synthetic import synthetic_store

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "benchmarks.md"
DEMO = shipped.DATA / "demo"
# length of the bare loop on either side of the training, in passes over the training set
BARE_EPOCHS = 1.0


@dataclass(frozen=True)
class Line:
    """One measured figure beside what was promised; `met` is None where nothing was."""

    what: str
    value: str
    promise: str = ""
    met: bool | None = None


def benchmark(*, quick: bool = False, write: bool = False, device: str = "auto") -> bool:
    """Measure, print, and with `write` put the figures into docs/benchmarks.md. Returns whether
    every promise was kept.

    `quick` runs the same code on digits with two epochs and judges nothing. Raises `BadValue` for
    `quick` with `write`.
    """
    if quick and write:
        raise BadValue(
            "The quick figures say nothing about speed, so they are not written down. Leave "
            "--quick or --write out."
        )
    with tempfile.TemporaryDirectory(prefix="mucore-bench-") as folder:
        store = open_store(Path(folder) / "comparison")
        lines = measure_runs(store, _grid(quick), device, _say)
        store.close()
        _say("metrics of many models and features")
        lines += measure_metrics(quick)
        _say("starting the command line")
        lines.append(measure_start())
        _say("reading a store of many results")
        lines.append(measure_frames(Path(folder) / "many", 500 if quick else 10_000))
    for line in lines:
        mark = "" if line.met is None or quick else "kept     " if line.met else "NOT KEPT "
        print(
            f"{mark}{line.what}: {line.value}"
            + (f"   (promised: {line.promise})" if line.promise else "")
        )
    if write:
        put_section(page(lines, machine(device)))
        print(f"Written to docs/{PAGE.name}.")
    return quick or all(line.met is not False for line in lines)


def benchmark_estimates(*, quick: bool = False, write: bool = False, device: str = "auto") -> None:
    """How right the estimates of time are: said before, at a third and at two thirds of small
    comparisons, and what it was.

    The first comparison is estimated from the demo's runs alone, the second, with other seeds, from
    those of the first. Prints, and with `write` puts a section into docs/benchmarks.md. Raises
    `BadValue` for `quick` with `write`.
    """
    if quick and write:
        raise BadValue(
            "The quick figures say nothing about time, so they are not written down. Leave "
            "--quick or --write out."
        )
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    history = open_pack(DEMO) if DEMO.is_dir() else None
    looks: list[tuple[str, Look]] = []
    with tempfile.TemporaryDirectory(prefix="mucore-bench-") as folder:
        store = open_store(Path(folder))
        for what, seeds in (("from the demo's runs", [0, 1]), ("from own runs", [2, 3])):
            _say(f"a comparison estimated {what}")
            looks += [
                (what, look)
                for look in measure_estimates(store, _small_grid(quick, seeds), device, history)
            ]
        store.close()
    if history is not None:
        history.close()
    for what, look in looks:
        print(
            f"Estimated {what}, {look.when}: {about(look.said)} ({look.said.likely:.1f} s); it "
            f"was {look.was:.1f} s"
        )
    if write:
        put_section(estimates_page(looks, load, machine(device)))
        print(f"Written to docs/{PAGE.name}.")


@dataclass(frozen=True)
class Look:
    """What was said at one moment of a comparison, and what it came to."""

    when: str
    said: Span
    was: float

    @property
    def ratio(self) -> float:
        return self.said.likely / self.was


def _small_grid(quick: bool, seeds: list[int]) -> Grid:
    names = (
        ("finetune",)
        if quick
        else ("finetune", "neggrad_plus", "scrub", "salun", "ssd", "amnesiac")
    )
    return Grid(
        dataset="digits",
        model="mlp",
        preset="quick",
        recipe={"epochs": 1} if quick else {},
        scenarios=[ScenarioChoice(id="one_class")],
        methods=[MethodChoice(id=name) for name in names],
        training_seeds=seeds,
    )


def measure_estimates(store: Store, grid: Grid, device: str, history: Store | None) -> list[Look]:
    """Compute a comparison in this process and look at its estimate before, at a third and at two
    thirds of its runs.
    """
    plan = make_plan(grid, store, history=history, workers=1)
    marks = {
        round(len(plan.to_run) * share): name
        for share, name in ((1 / 3, "at a third"), (2 / 3, "at two thirds"))
    }
    waking = estimate.WAKING if not store.workers() else 0.0
    said = [
        (
            "at the start",
            Span(
                *(max(t - waking, 0.0) for t in (plan.time.low, plan.time.likely, plan.time.high))
            ),
            time.perf_counter(),
        )
    ]
    ended = 0

    def look(event: str, job: Job) -> None:
        nonlocal ended
        ended += event == "done"
        if event == "done" and ended in marks:
            jobs = estimate.counting(store.jobs(keys=plan.keys, limit=len(plan.keys)))
            left = estimate.time_left(
                jobs,
                estimate.of_jobs(store, jobs, history=history),
                workers=1,
                now=datetime.now(UTC),
            )
            assert left.total is not None
            said.append((marks[ended], left.total, time.perf_counter()))

    launch(plan, store, name="bench")
    work(store, device=device, only=set(plan.keys), until_done=True, on_event=look)
    end = time.perf_counter()
    return [Look(when, span, end - moment) for when, span, moment in said]


def estimates_page(looks: Sequence[tuple[str, Look]], load: float, names: dict[str, str]) -> str:
    """The section of docs/benchmarks.md on estimates; a load above the number of cores is said to
    be a busy machine.
    """
    cores = int(names["CPU cores"])
    busy = (
        f" It was busy with other work: a load of {load:.0f} on {cores} cores when this began."
        if load > cores
        else ""
    )
    text = [
        "## Estimates of time",
        "",
        (
            "Written by `python -m mucore bench --estimates --write`: six methods with two "
            "training seeds on `digits`, `mlp`, preset `quick`,"
        ),
        (
            "in an empty store, then with two other seeds. What was said at three moments, and how "
            "long it then took until the end."
        ),
        f"Measured {names['Measured']} on {names['Device']}, {cores} cores.{busy}",
        "",
        "| estimated | when | said | likely | it was | likely / was |",
        "| --- | --- | --- | ---: | ---: | ---: |",
        *(
            (
                f"| {what} | {look.when} | {about(look.said)} | {look.said.likely:.1f} s | "
                f"{look.was:.1f} s | {look.ratio:.2f} |"
            )
            for what, look in looks
        ),
        "",
    ]
    return "\n".join(text)


def _say(what: str) -> None:
    print(f"{what} ...", file=sys.stderr, flush=True)


def _grid(quick: bool) -> Grid:
    return Grid(
        dataset="digits" if quick else "fashion-mnist-10k",
        model="mlp" if quick else "resnet9-small",
        preset="standard",
        recipe={"epochs": 2} if quick else {},
        scenarios=[ScenarioChoice(id="one_class")],
        methods=[MethodChoice(id="finetune")],
    )


def measure_runs(store: Store, grid: Grid, device: str, say: Callable[[str], None]) -> list[Line]:
    """Original, Retrain and one method in an empty store; then the same comparison again."""
    session = Session(store, device)
    plan = make_plan(grid, store)
    original = plan.specs[0]
    say("bare loop, before")
    before = bare_loop(session, original)
    say(f"{len(plan.specs)} runs of {grid.dataset} with {grid.model}, preset {grid.preset}")
    launch(plan, store, name="bench")
    work(store, device=device, only=set(plan.keys), until_done=True)
    say("bare loop, after")
    after = bare_loop(session, original)
    say("gradients of every sample")
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
    evaluation, whole = last.cost["evaluation_seconds"], retrained.cost["seconds"]
    began = time.perf_counter()
    again = make_plan(grid, store)
    frame = store.summaries(keys=list(again.keys))
    second = time.perf_counter() - began
    return [
        Line(
            "Training of the original",
            f"{seconds:.1f} s",
            "at most 45 s on 2 CPU cores",
            seconds <= 45,
        ),
        Line("Its accuracy on the training set", f"{train:.2%}", "100 %", train == 1),
        Line("Its accuracy on the test set", f"{test:.2%}", "at least 88 %", test >= 0.88),
        Line(
            "Training throughput against a bare loop",
            f"{ours / bare:.1%} ({ours:,.0f} of {bare:,.0f} images a second)",
            "at least 90 %",
            ours / bare >= 0.9,
        ),
        Line(
            "Gradients of every training sample, for efficacy, against an epoch of training",
            f"{gradients / epoch:.1f} epochs ({gradients:.1f} s)",
            "at most 3",
            gradients / epoch <= 3,
        ),
        Line("Retrain", f"{whole:.1f} s"),
        Line(
            f"Evaluation of one model ({len(last.metrics)} metrics) against a Retrain",
            f"{evaluation / whole:.1%} ({evaluation:.2f} s)",
            "at most 10 %",
            evaluation / whole <= 0.1,
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


def bare_loop(session: Session, spec: RunSpec) -> float:
    """Images a second of plain SGD steps on one random batch on the device, in the precision of the
    recipe.
    """
    splits, recipe = session.splits(spec), spec.recipe
    model = training.fresh_model(spec, splits, 0).to(session.device).train()
    optimizer = torch.optim.SGD(
        model.parameters(),
        recipe.lr,
        recipe.momentum,
        nesterov=recipe.nesterov,
        weight_decay=recipe.weight_decay,
    )
    generator = torch.Generator().manual_seed(0)
    x = torch.randn((recipe.batch_size, *splits.train.pixels.shape[1:]), generator=generator).to(
        session.device
    )
    y = torch.randint(len(splits.class_names), (recipe.batch_size,), generator=generator).to(
        session.device
    )
    run: Run = session.run(spec, 0)

    def steps(count: int) -> None:
        for _ in range(count):
            optimizer.zero_grad(set_to_none=True)
            with run.autocast():
                loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()

    count = max(10, round(BARE_EPOCHS * len(splits.train.ids) / recipe.batch_size))
    steps(3)  # the first steps allocate and choose kernels
    run.synchronize()
    began = time.perf_counter()
    steps(count)
    run.synchronize()
    return count * recipe.batch_size / (time.perf_counter() - began)


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


def measure_metrics(quick: bool = False) -> list[Line]:
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
        Line(f"CKA of {rows:,} x {width} features", f"{cka:.2f} s", "under 2 s", cka < 2),
        Line(
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


def measure_start(repeats: int = 5) -> Line:
    """Best wall time of `python -m mucore methods --json`, a process from start to end."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "mucore", "methods", "--json"],
            cwd=ROOT,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        times.append(time.perf_counter() - began)
    return Line(
        "Start of the command line (methods --json)",
        f"{min(times):.2f} s",
        "under 1 s",
        min(times) < 1,
    )


def measure_frames(home: Path, count: int) -> Line:
    """Time to read `count` results into the two frames that the pages draw from."""
    store = synthetic_store(home, count)
    began = time.perf_counter()
    runs, values = store.summaries(), store.metric_values()
    seconds = time.perf_counter() - began
    store.close()
    return Line(
        f"Frames of {len(runs):,} results ({len(values):,} values)",
        f"{seconds:.2f} s",
        "under 0.5 s",
        seconds < 0.5,
    )


def machine(device: str) -> dict[str, str]:
    """What the figures depend on, by name."""
    from mucore.engine.device import resolve_device

    return {
        "Device": describe(resolve_device(device)),
        "CPU cores": str(os.cpu_count()),
        "Threads of torch": str(torch.get_num_threads()),
        "Memory": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        "System": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        "torch": torch.__version__,
        "Measured": f"{datetime.now(UTC):%Y-%m-%d}",
    }


def page(lines: list[Line], names: dict[str, str]) -> str:
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
        "| measure | here | promise | |",
        "| --- | --- | --- | --- |",
        *(f"| {line.what} | {line.value} | {line.promise} | {_mark(line)} |" for line in lines),
        "",
        "| machine | |",
        "| --- | --- |",
        *(f"| {name} | {value} |" for name, value in names.items()),
        "",
    ]
    return "\n".join(text)


def put_section(text: str) -> None:
    """Write a section, a heading and what stands under it, into docs/benchmarks.md in the place of
    the one of that heading, else last.
    """
    sections = {
        part.partition("\n")[0]: part
        for part in re.findall(r"^#(?:.|\n(?!#))*", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    }
    sections[text.partition("\n")[0]] = text
    PAGE.write_text("\n".join(f"{part.strip()}\n" for part in sections.values()), encoding="utf-8")


def _mark(line: Line) -> str:
    return "" if line.met is None else "kept" if line.met else "**not kept**"
