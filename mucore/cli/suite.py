"""Commands on suites: `suite list`, `run`, `verify`, `board`, `repeat`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import cyclopts
from cyclopts import Parameter

from mucore.cli.base import (
    FAILED,
    INTERRUPTED,
    WHOLE,
    Device,
    Json,
    complain,
    end_progress,
    patient_home,
    progress,
    say_left_out,
)
from mucore.cli.comparisons import compute
from mucore.cli.flags import split_names
from mucore.cli.printing import print_table, say_time, to_json
from mucore.errors import BadFile

if TYPE_CHECKING:
    from mucore.engine.run import Progress
    from mucore.store import Store
    from mucore.suite.description import Suite
    from mucore.suite.lines import Missing, TaskRuns

SHOWN = 5  # problems or reasons that are told one by one before the rest is counted

app = cyclopts.App(
    name="suite", help="Frozen benchmarks, and packs of their results (docs/submit.md)."
)


@app.command(name="list")
def listed(*, as_json: Json = False) -> None:
    """List the suites: tasks, seeds, divisions, and the hash that results carry."""
    from mucore.suite.description import changed, load, names

    suites = [load(name) for name in names()]
    if as_json:
        found = [{**suite.model_dump(mode="json"), "hash": suite.hash} for suite in suites]
        print(to_json(found, indent=2))
        return
    rows = []
    for suite in suites:
        tasks = ", ".join(task.scenario for task in suite.tasks)
        divisions, seeds = ", ".join(suite.divisions), len(suite.training_seeds)
        rows.append((suite.id, suite.hash, tasks, divisions, seeds))
    print_table(("suite", "hash", "tasks", "divisions", "seeds"), rows)
    for suite in suites:
        print(f"{suite.id}: {suite.meaning} {suite.caveat}".rstrip(), file=sys.stderr)
        if found := "; ".join(changed(suite)):
            print(f"{suite.id} needs another version of mucore: {found}.", file=sys.stderr)


@app.command
def run(
    name: str,
    /,
    *,
    division: str = "authors",
    methods: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None,
    jobs: Annotated[int, WHOLE] = 1,
    out: Path | None = None,
    features: bool = False,
    weights: bool = False,
    plan_only: Annotated[bool, Parameter(name="--plan")] = False,
    pack_only: bool = False,
    device: Device = "auto",
) -> int:
    """Run a division of a suite and write its pack: rows, predictions, and what is missing and why.
    Goes on where it was when it is started again.

    Parameters
    ----------
    division
        Where settings come from: authors or tuned.
    methods
        Method ids or files of methods (mine.py), separated by commas or spaces; default: those
        of the suite, or all.
    jobs
        Processes, of one thread each.
    out
        The pack: a folder, or a file that ends in .zip. Default: NAME-DIVISION.
    features
        Features go into the pack as well, which makes it several times as large; then what
        rests on them can be verified, too.
    weights
        The networks go into the pack as well, in half precision: mu.load_model reads them.
    plan_only
        Say what would be run and how long, and stop.
    pack_only
        Run nothing; write the pack of what is there.
    """
    from mucore.suite import lines as suites
    from mucore.suite.description import load
    from mucore.suite.pack import pack_of, write

    say_left_out()
    suite = load(name)
    runs = suites.asked(suite, division, _methods(methods or ["all"]))
    place = out or Path(f"{suite.id}-{division}")
    with patient_home() as store:
        left = _say_plan(suite, division, runs, store, jobs)
        if plan_only:
            return 0
        if left and not pack_only:
            try:
                suites.run(suite, division, runs, store, compute, jobs=jobs, device=device)
            except KeyboardInterrupt as stop:
                also = "With --pack-only it writes the pack of what is there."
                return complain(f"{stop} {also}", INTERRUPTED)
        pack = pack_of(suite, division, runs, store)
        print(write(pack, place, features=features, weights=weights))
    _say_missing(pack.missing)
    return FAILED if any(each.kind in ("failed", "not run") for each in pack.missing) else 0


def _methods(given: Sequence[str]) -> list[str]:
    """Names of methods; a file's folder joins those of a user's own methods."""
    from mucore.catalog import plugins

    names = []
    for name in split_names(list(given)):
        if not name.endswith(".py"):
            names.append(name)
            continue
        path = Path(name)
        names.append(plugins.read(path).card.id)
        folders = [os.environ.get(plugins.FOLDERS, ""), str(path.resolve().parent)]
        os.environ[plugins.FOLDERS] = os.pathsep.join(filter(None, folders))
    return names


def _say_plan(
    suite: Suite, division: str, runs: Sequence[TaskRuns], store: Store, jobs: int
) -> int:
    """What is asked for and about how long it takes, on stderr; returns how many runs are left."""
    from mucore.suite.lines import plan_of

    plan = plan_of(runs, store, jobs=jobs)
    methods = {spec.method for spec in plan.specs} - {"original", "retrain"}
    print(
        f"{suite.id} ({suite.hash}), division {division}: {len(suite.tasks)} tasks, "
        f"{len(methods)} methods, {len(suite.training_seeds)} seeds: {len(plan.specs)} runs, "
        f"{len(plan.cached)} of them in the store.",
        file=sys.stderr,
    )
    _say_missing([each for one in runs for each in one.missing])
    if plan.to_run:
        print(say_time(plan), file=sys.stderr)
    return len(plan.to_run)


def _say_missing(missing: Iterable[Missing]) -> None:
    from mucore.suite.lines import by_reason

    for reason, lines in by_reason(missing).items():
        more = f" and {len(lines) - SHOWN} more" if len(lines) > SHOWN else ""
        print(f"Missing: {', '.join(lines[:SHOWN])}{more}. {reason}", file=sys.stderr)


@app.command
def verify(pack: Path, /, *, as_json: Json = False) -> int:
    """Compute every number of a pack again from its predictions, and name each that differs. Needs
    neither a GPU nor the data.
    """
    from mucore.judged import check as check_own
    from mucore.store import pack_provenance
    from mucore.suite.pack import opened, unpacked
    from mucore.suite.verify import name_of
    from mucore.suite.verify import verify as check

    try:
        with unpacked(pack) as folder:
            if pack_provenance(folder).get("own"):
                return _say_own(*check_own(folder))
        with opened(pack) as content:
            found = check(content, _progress)
    except BadFile as error:
        return complain(str(error), FAILED)
    suite, kept = content.suite, sorted(found.kept)
    if as_json:
        about = {
            "suite": suite.id,
            "hash": suite.hash,
            "division": content.division,
            "runs": {key: name_of(result.spec) for key, result in content.results.items()},
            "numbers": found.numbers,
            "not_computed": kept,
            "problems": [asdict(each) for each in found.problems],
        }
        print(to_json(about, indent=2))
    else:
        for problem in found.problems:
            print(f"{problem.line}: {problem.sentence}")
    if kept:
        print(
            f"Not computed again, because predictions do not determine them: {', '.join(kept)}.",
            file=sys.stderr,
        )
    print(
        f"{suite.id}, division {content.division}: {found.numbers:,} numbers of {found.runs} runs "
        f"computed again; {len(found.problems)} problems.",
        file=sys.stderr,
    )
    return FAILED if found.problems else 0


def _say_own(wrong: list[str], numbers: int) -> int:
    """What the check of a network of somebody's own, judged as it was brought, has found."""
    print(*wrong, sep="\n", end="\n" * bool(wrong))
    print(f"{numbers:,} numbers computed again, {len(wrong)} things are wrong.", file=sys.stderr)
    return FAILED if wrong else 0


def _progress(done: int, of: int) -> None:
    progress(done / of, f"{done} of {of} runs")
    if done == of:
        end_progress()


@app.command
def board(packs: list[Path], /, *, out: Path) -> int:
    """Verify packs and show them as a static site: methods by division and task, verdicts, noise,
    cost, and the evidence of each line.

    Parameters
    ----------
    packs
        Packs of one suite, folders or zips.
    out
        The folder of the site.
    """
    from mucore.suite.site import publish

    try:
        print(publish(packs, out, _progress))
    except BadFile as error:
        return complain(str(error), FAILED)
    return 0


@app.command
def repeat(pack: Path, /, *, key: str, device: Device = "auto", as_json: Json = False) -> int:
    """Run one line of a pack again, from the training of its original on, and compare.

    Parameters
    ----------
    key
        The run's key, or its first letters.
    """
    from mucore.engine.run import Callbacks
    from mucore.suite.pack import opened
    from mucore.suite.repeat import repeat as again
    from mucore.suite.verify import name_of

    def show(step: Progress) -> None:
        progress(step.fraction, step.step)

    try:
        with opened(pack) as content:
            found = again(content, key, device=device, callbacks=Callbacks(show))
    except BadFile as error:
        return complain(str(error), FAILED)
    finally:
        end_progress()
    if as_json:
        differences = [{**asdict(each), "beyond": each.beyond} for each in found.differences]
        about = {"key": found.result.key, "same": found.same, "agrees": found.agrees}
        print(to_json(about | {"differences": differences}, indent=2))
    else:
        print_table(
            ("metric", "in the pack", "repeated", "band"),
            [(d.metric, d.packed, d.repeated, d.band) for d in found.differences],
        )
    beyond = ", ".join(each.metric for each in found.differences if each.beyond)
    print(
        f"{name_of(found.result.spec)}: predictions equal bit by bit: "
        f"{'yes' if found.same else 'no'}. Numbers of the verdict beyond the 95 % band of two "
        "seeds of Retrain or of the method: "
        f"{beyond or 'none'}.",
        file=sys.stderr,
    )
    return 0 if found.agrees else FAILED
