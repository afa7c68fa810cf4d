"""`python -m mucore bench --estimates`: how right the estimates of time are."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from mucore import shipped
from mucore.bench import page
from mucore.runner import estimate
from mucore.runner.estimate import Span, about
from mucore.runner.plan import Grid, MethodChoice, ScenarioChoice, launch, make_plan
from mucore.runner.worker import work
from mucore.store import Store, open_pack, open_store
from mucore.store.rows import Job

DEMO = shipped.DATA / "demo"


def benchmark_estimates(*, quick: bool = False, write: bool = False, device: str = "auto") -> None:
    """How right the estimates of time are: said before, at a third and at two thirds of small
    comparisons, and what it was.

    The first comparison is estimated from the demo's runs alone, the second, with other seeds, from
    those of the first. Prints, and with `write` puts a section into docs/benchmarks.md. Raises
    `BadValue` for `quick` with `write`.
    """
    page.refuse_quick_figures(quick, write)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    history = open_pack(DEMO) if DEMO.is_dir() else None
    looks: list[tuple[str, Look]] = []
    with tempfile.TemporaryDirectory(prefix="mucore-bench-") as folder:
        store = open_store(Path(folder))
        for what, seeds in (("from the demo's runs", [0, 1]), ("from own runs", [2, 3])):
            page.say(f"a comparison estimated {what}")
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
        page.put_section(section(looks, load, page.machine(device)))
        print(f"Written to docs/{page.PAGE.name}.")


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


def section(looks: Sequence[tuple[str, Look]], load: float, names: dict[str, str]) -> str:
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
