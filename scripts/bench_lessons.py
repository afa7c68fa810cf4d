"""Measure how long the lessons run that launch a comparison: each from an empty store, by a worker
process of its own, as the page starts it.

    python scripts/bench_lessons.py            a table on the screen
    python scripts/bench_lessons.py --write    and into docs/benchmarks.md, under its own heading

The clock runs from the start of the worker to the last result, so loading PyTorch is in it. The
machine should do nothing else.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dashboard.lessons import LESSONS
from dashboard.lessons.records import Lesson
from mucore.bench.page import PAGE, machine, put_section
from mucore.runner.plan import Grid, make_plan
from mucore.store import open_store

ROOT = Path(__file__).resolve().parents[1]
LIMIT = 10.0  # seconds that the runs of a lesson may take on two cores
HEAD = "## Lessons"


@dataclass(frozen=True)
class Measured:
    """A lesson's title, its runs (with trainings) and the seconds until the last one had its
    result.
    """

    title: str
    runs: int
    seconds: float


def measure(lesson: Lesson) -> Measured:
    """Run a lesson in an empty home. Exits with the errors of its runs where one fails."""
    with (
        tempfile.TemporaryDirectory(prefix="mucore-lesson-") as folder,
        open_store(Path(folder)) as store,
    ):
        plan = make_plan(Grid.model_validate(dict(lesson.grid)), store)
        store.enqueue(plan.specs)
        command = [sys.executable, "-m", "mucore", "worker", "--home", folder, "--idle-exit", "30"]
        started = time.perf_counter()
        worker = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stderr=subprocess.DEVNULL,
        )
        try:
            while len(store.known(plan.keys)) < len(plan.keys):
                if worker.poll() is not None or store.jobs(states=["failed", "lost"]):
                    errors = [
                        f"{job.label}: {job.error}" for job in store.jobs(states=["failed", "lost"])
                    ]
                    raise SystemExit(f"The lesson {lesson.title} did not end. " + "\n".join(errors))
                time.sleep(0.1)
            seconds = time.perf_counter() - started
        finally:
            worker.terminate()
            worker.wait(timeout=30)
        return Measured(lesson.title, len(plan.specs), seconds)


def section(found: Sequence[Measured]) -> str:
    """The section of docs/benchmarks.md."""
    names = machine("cpu")
    kept = all(each.seconds <= LIMIT for each in found)
    text = [
        HEAD,
        "",
        (
            "Written by `python scripts/bench_lessons.py --write`: each from an empty store, from "
            "the start of the worker to the last result."
        ),
        f"Promised: within {LIMIT:g} seconds on two cores ({'kept' if kept else '**not kept**'}).",
        "",
        "| lesson | runs | seconds | |",
        "| --- | --- | --- | --- |",
        *(
            (
                f"| {each.title} | {each.runs} | {each.seconds:.0f} | "
                f"{'' if each.seconds <= LIMIT else '**not kept**'} |"
            )
            for each in found
        ),
        "",
        (
            f"{names['Device']}, {names['CPU cores']} cores, Python {names['Python']}, "
            f"{names['Measured']}."
        ),
        "",
    ]
    return "\n".join(text)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="into docs/benchmarks.md")
    given = parser.parse_args()
    found = []
    for lesson in (each for each in LESSONS.values() if each.grid):
        found.append(measure(lesson))
        print(
            f"{found[-1].title:32} {found[-1].runs:3} runs {found[-1].seconds:6.1f} s", flush=True
        )
    if given.write:
        put_section(section(found))
        print(f"Written to docs/{PAGE.name}.")


if __name__ == "__main__":
    main()
