"""docs/findings.md: what the results that come with mucore say together, from the demo results and
the files in data/findings. No number on the page is written by hand. Its parts are in
findings_*.py beside this file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import findings_claims
import findings_data as data
from docs_text import listed, page, table
from findings_data import Task
from findings_machines import machines
from findings_metrics import cheater, metrics
from findings_order import order, seeds
from findings_settings import settings
from findings_words import between, number
from make_tuned import STUDIES

from mucore.spec import make_recipe
from mucore.suite import description
from mucore.suite.lines import REFERENCES, methods_of, runs_of
from mucore.tuning import objective
from mucore.tuning.study import Study, studies_in

MADE = (
    "<!-- Made by scripts/make_docs.py from the demo results and data/findings; change those and "
    "run it again. -->"
)
BENCHMARKS = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
LAPTOP = "mucore-bench-1"  # the suite of which the demo has runs


def findings_page() -> str:
    files = data.summaries()
    bases = {"demo": listed(data.demo_machines())} | {
        each["suite"]: data.said_of(each["machine"]) for each in files if "machine" in each
    }
    return write(
        data.demo_tasks(),
        data.pack_tasks(),
        files,
        data.machine_tasks(),
        studies=studies_in(STUDIES),
        bases=bases,
    )


def write(
    demo: Sequence[Task],
    packed: Sequence[Task],
    files: Sequence[Mapping[str, Any]],
    elsewhere: Sequence[tuple[str, Task]] = (),
    *,
    studies: Sequence[Study] = (),
    bases: Mapping[str, str] | None = None,
) -> str:
    """The page from these tasks; what they cannot answer stands there as missing. What a suite has
    is not taken from the demo as well. `elsewhere` are tasks of other machines, `bases` what
    computed the others, by source.
    """
    every = data.one_each([*packed, *demo])
    every.sort(key=lambda task: task.source != "demo")
    return page(
        [
            "# Findings",
            MADE,
            (
                "Machine unlearning makes a trained network forget a part of its training data "
                "without being trained anew. There are dozens of methods, and papers compare them "
                "by a few numbers on a few runs. This page asks what such a comparison may "
                "conclude, and answers from our own runs. Each part has a question, what was "
                "measured, an answer, and what limits it. Every number is computed by "
                "`scripts/findings.py`; intervals are of 95 %."
            ),
            (
                "*Retrain* is the network that was trained anew without the forgotten data; every "
                "method is meant to end where it does. A method *forgot* where its verdict says so "
                "([metrics.md](metrics.md#verdicts)) and all its runs ended as planned: in "
                "forgetting and in accuracy it ended about where Retrain does. A *task* is a "
                "scenario, which says what is to be forgotten ([scenarios.md](scenarios.md)), on a "
                "data set. *Settings*, such as a learning rate, are those of a method's authors or "
                "tuned ones."
            ),
            distance(every),
            *sources(every, files),
            *order(every),
            *seeds(every),
            *metrics(every),
            *settings(every, studies),
            *cheater(every),
            *findings_claims.section(every),
            *machines(BENCHMARKS.read_text(encoding="utf-8"), every, elsewhere, bases),
            *missing(every),
        ]
    )


def distance(tasks: Sequence[Task]) -> str:
    """What the word means."""
    apart = [it for task in tasks if (it := task.retrain_apart) is not None]
    better = sum(
        task.untouched is not None and any(line.score > task.untouched for line in task.forgot())
        for task in tasks
    )
    some = sum(bool(task.forgot()) for task in tasks)
    return (
        "A method's *distance*: over the numbers that its verdict rests on, the mean gap to the "
        "Retrain of the same seed, each in units of how far two Retrains lie apart (at least "
        f"{100 * objective.FLOOR:g} points; a gap counts as {objective.CAP:g} units at most). "
        + (
            f"Another Retrain lies at {between(apart)}, depending on the task, and less where "
            "Retrains agree to within that least unit. "
            if apart
            else ""
        )
        + "The distance adds up harm and lack of forgetting, so a method that does nothing may lie "
        "nearer than one that forgot"
        + (
            f": in {better} of {some} sets of runs in which some forgot, the untouched original "
            "is nearer than at least one of them."
            if some
            else "."
        )
        + " The score J of [tuning.md](tuning.md) is made like it, of other numbers: those that a "
        "search may see."
    )


# -- where the numbers are from


def sources(tasks: Sequence[Task], files: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = [
        [
            task.source,
            task.division,
            f"`{task.scenario}`",
            task.dataset,
            str(len(task.ran)),
            seeds_text(task),
            *("–" if it is None else number(it) for it in (task.retrain_apart, task.untouched)),
            count(task),
        ]
        for task in tasks
    ]
    on = {task.dataset for task in tasks if task.source == "demo"}
    quick = any(task.source.endswith("-quick") for task in tasks)
    return [
        "## The runs",
        table(
            ("Source", "Settings", "Task", "Data", "Methods", "Seeds")
            + ("Another Retrain", "Untouched original", "Forgot"),
            rows,
        ),
        (
            "Another Retrain, untouched original: their mean distances. The demo's runs are those "
            f"of [results.md](results.md) and [tuning.md](tuning.md): `{data.RECIPE['model']}` for "
            f"{make_recipe(data.RECIPE['preset']).epochs} epochs. They cover the tasks of the "
            f"suite `{LAPTOP}` ([submit.md](submit.md)) on {listed(sorted(on))}, and add more "
            "Retrains where five leave a verdict undecided, and scenarios that the suite does "
            "without. "
            + (
                f"`{LAPTOP}-quick` is that suite's quick twin: a perceptron on digits, to check an "
                "installation and to rank nothing. "
                if quick
                else ""
            )
            + (
                f"The others are from data/findings.[^1]\n\n[^1]: {hashes(files)}"
                if files
                else "There is no pack of a suite yet."
            )
        ),
    ]


def hashes(files: Sequence[Mapping[str, Any]]) -> str:
    packs = [
        f"`{each['suite']}`, {each['division']} ({each['runs']} runs{origin(each)}; this file "
        f"`{each['digest'][:16]}`)"
        for each in files
    ]
    return f"With the first digits of SHA-256 hashes: {listed(packs)}."


def origin(file: Mapping[str, Any]) -> str:
    """The suite and the pack's rows that a file was made from; nothing of runs of our own."""
    if not file["hash"]:
        return ""
    rows = next(name for name in file["rows"] if name.startswith("results/"))
    return f" of the suite `{file['hash']}`; the pack's rows `{file['rows'][rows][:16]}`"


def seeds_text(task: Task) -> str:
    counts = Counter(len(line.scores) for line in task.ran.values())
    low, high = min(counts, default=0), max(counts, default=0)
    return str(high) if low == high else f"{low} to {high}"


def count(task: Task) -> str:
    """How many methods forgot, or why none can have."""
    if task.idle:
        return "nothing to forget"
    return "cannot be told" if task.unclear else str(len(task.forgot()))


# -- what is missing


def missing(tasks: Sequence[Task]) -> list[str]:
    there = {
        (LAPTOP if task.source == "demo" else task.source, task.division, task.title): task
        for task in tasks
    }
    lacking = []
    for name in description.names():
        suite = description.load(name)
        own: set[str] = set()  # keys of the authors' runs, which a search may have kept
        for division in suite.divisions:
            gone = []
            for asked in runs_of(suite, division, methods_of(["all"])):
                title = f"`{asked.task.scenario}` on {asked.task.dataset}"
                specs = [
                    spec
                    for spec in asked.specs
                    if spec.scenario and spec.method not in REFERENCES and spec.key not in own
                ]
                own |= {spec.key for spec in specs}
                runs = [(spec.method, spec.training_seed) for spec in specs]
                if not runs:
                    gone.append(f"{title} (no search has found settings)")
                elif said := lacks(runs, there.get((name, division, title))):
                    gone.append(f"{title} ({said})")
            if gone:
                lacking.append(f"- `{name}`, division {division}: {'; '.join(gone)}.")
    return [
        "## What is missing",
        (
            "These tasks of the [suites](submit.md) have no runs here yet, or lack some. "
            "`python scripts/findings_data.py PACK` takes a pack in, and `python "
            "scripts/make_docs.py` writes this page again with it:"
            if lacking
            else "Every division of every suite has its runs."
        ),
        "\n".join(lacking),
    ]


def lacks(asked: Sequence[tuple[str, int]], task: Task | None) -> str:
    """What a task lacks of the methods and seeds that a suite asks for, in words."""
    if task is None:
        return "all methods"
    gone: dict[str, list[int]] = {}
    for method, seed in asked:
        line = task.line(method)
        if line is None or seed not in line.scores:
            gone.setdefault(method, []).append(seed)
    alike: dict[tuple[int, ...], list[str]] = {}
    for method, seeds_ in gone.items():
        alike.setdefault(tuple(seeds_), []).append(f"`{method}`")
    told = [
        f"{listed(methods)} on {'seed' if len(seeds_) == 1 else 'seeds'} {listed(map(str, seeds_))}"
        for seeds_, methods in alike.items()
    ]
    return "; ".join(told)
