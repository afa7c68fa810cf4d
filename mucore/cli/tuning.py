"""`tune`: search settings for methods, with progress, and say what was found."""

from __future__ import annotations

import math
import os
import shlex
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from mucore import signals
from mucore.cli.base import (
    FAILED,
    INTERRUPTED,
    WHOLE,
    Device,
    Json,
    complain,
    open_home,
    say_left_out,
)
from mucore.cli.flags import GridOptions, TaskOptions, build_grid, split_names
from mucore.cli.printing import print_table, to_json
from mucore.errors import BadValue, Cancelled
from mucore.userfiles import paths

if TYPE_CHECKING:
    from mucore.engine.run import Progress as Step
    from mucore.runner.plan import Grid
    from mucore.tuning.plan import Wish
    from mucore.tuning.search import Event
    from mucore.tuning.study import Study
    from mucore.tuning.task import Task

LONG = 120  # seconds from which a second process is worth a word


def tune(
    task: TaskOptions,
    *,
    changes: Annotated[
        list[str] | None,
        Parameter(
            name="--set",
            negative="",
            help="scenario.KEY=VALUE or recipe.KEY=VALUE; may be repeated.",
        ),
    ] = None,
    trials: Annotated[
        int,
        WHOLE,
        Parameter(help="Settings that are tried at most, the authors' first, for each method."),
    ] = 60,
    seed: Annotated[
        int, WHOLE, Parameter(help="First of the three seeds on which a setting is judged.")
    ] = 100,
    cap: Annotated[
        float, Parameter(help="What a trial may take at most, as a share of Retrain's work.")
    ] = 1 / 3,
    jobs: Annotated[
        int, WHOLE, Parameter(help="Processes that search at once, one thread each.")
    ] = 1,
    studies: Annotated[
        str, Parameter(help="Folder of the study files (default: studies in the home).")
    ] = "",
    plan_only: Annotated[
        bool,
        Parameter(
            name="--plan", negative="", help="Say what would be searched and how long, and stop."
        ),
    ] = False,
    device: Device = "auto",
    as_json: Json = False,
) -> int:
    """Search settings of methods for a task: what uses up least of the verdict's margin on three
    seeds of validation data wins. Goes on where it was when it is started again.
    """
    from mucore.runner.together import check_jobs
    from mucore.tuning.plan import FOLDER, plan, studies_of, wish_of
    from mucore.tuning.search import StudiesFailed
    from mucore.tuning.together import search

    say_left_out()
    check_jobs(jobs)
    grid = _grid(task, changes or [])
    with open_home() as store:
        root = paths.path(studies, what="--studies") if studies else store.home / FOLDER
        wish, reasons = wish_of(grid, trials=trials, seed=seed, cap=cap)
        for reason in reasons:
            print(f"Left out: {reason}", file=sys.stderr)
        planned = plan(wish, store, root)
        _say_plan(wish, planned, jobs)
        if plan_only:
            return 0
        with _Shown(wish, root, planned.trials + planned.done) as shown:
            elsewhere: list[tuple[Task, str]] = []
            failed = ""
            try:
                elsewhere = search(
                    grid,
                    wish,
                    store,
                    root,
                    jobs=jobs,
                    device=device,
                    cancelled=shown.stopped.is_set,
                    on_event=shown.event,
                    on_progress=shown.step,
                )
            except Cancelled:
                pass
            except StudiesFailed as error:
                failed, elsewhere = str(error), error.elsewhere  # after what the others came to
        found = studies_of(wish, root)
        busy = {(each.name, method) for each, method in elsewhere}
        usable = [
            study
            for each, study in found
            if study.choice() is not None and (each.name, study.method) not in busy
        ]
        use = _command(task, changes or [], grid, usable) if usable else ""
        _say_found(found, elsewhere, wish, root, use, as_json=as_json)
    if shown.stopped.is_set():
        done = sum(len(study.trials) for _, study in found)
        return complain(
            f"Interrupted with {done} trials kept in {root}; the same command goes on from there.",
            INTERRUPTED,
        )
    if failed:
        return complain(failed, FAILED)
    return 0 if any(study.choice() is not None for _, study in found) else FAILED


def _grid(task: TaskOptions, changes: Sequence[str]) -> Grid:
    for change in changes:
        owner = change.partition(".")[0]
        if owner not in ("scenario", "recipe", *split_names(task.scenario or [])):
            raise BadValue(
                f"--set of a search is about scenario.KEY or recipe.KEY, but got {change!r}: what "
                "a method is set to is what the search looks for."
            )
    options = GridOptions(**vars(task), changes=list(changes))
    grid, notes = build_grid(options)
    for note in notes:
        print(note, file=sys.stderr)
    return grid


def _say_plan(wish: Wish, planned: Any, jobs: int) -> None:
    from mucore.runner.estimate import about
    from mucore.tuning.plan import SLACK
    from mucore.tuning.study import PATIENCE

    studies = sum(len(methods) for _, methods in wish.tasks)
    names = "; ".join(task.title for task, _ in wish.tasks)
    print(
        f"{studies} {'study' if studies == 1 else 'studies'} ({names}): each tries settings, the "
        f"authors' first, on seeds {wish.seed} to {wish.seed + 2} until {PATIENCE} in a row are no "
        f"better than the best, {wish.trials} at most. A trial may take {wish.cap:.2g} of "
        f"Retrain's work, and {SLACK - 1:.0%} of that beside it. Test data are not looked at.",
        file=sys.stderr,
    )
    if planned.aside:
        some = "1 study is" if planned.aside == 1 else f"{planned.aside} studies are"
        print(f"{some} brought back, put aside for other code.", file=sys.stderr)
    if not planned.trials:
        print("All of it is there already.", file=sys.stderr)
        return
    text = about(planned.time(jobs))
    some = "1 trial is" if planned.done == 1 else f"{planned.done} trials are"
    had = f" {some} there already." if planned.done else ""
    print(
        f"{planned.references} trainings of references and at most {planned.trials} trials are "
        f"left, {text}.{had}",
        file=sys.stderr,
    )
    cores = os.cpu_count() or 1
    if jobs == 1 < cores and planned.studies > 1 and planned.trying > LONG:
        print(
            f"This machine has {cores} cores: --jobs {min(cores, planned.studies)} searches "
            "several methods at once.",
            file=sys.stderr,
        )


class _Shown:
    """Progress on stderr, and Ctrl-C: the first lets the trial in hand go and keeps all others, the
    second ends the process.
    """

    def __init__(self, wish: Wish, root: Path, total: int):
        self.wish, self.root, self.total = wish, root, total
        self.stopped = threading.Event()
        self._handlers: dict[int, Any] = {}

    def __enter__(self) -> _Shown:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        self._console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._what = "references"
        self._task = self._bar.add_task(self._what, total=self.total, completed=self._done())
        self._bar.start()
        self._handlers = signals.on_end(self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        signals.restore(self._handlers)
        self._bar.stop()

    def _interrupt(self, number: int, frame: object) -> None:
        if self.stopped.is_set():
            raise KeyboardInterrupt
        self.stopped.set()

    def _done(self) -> int:
        from mucore.tuning.plan import studies_of

        return sum(len(study.trials) for _, study in studies_of(self.wish, self.root))

    def step(self, step: Step) -> None:
        self._bar.update(self._task, description=f"{self._what} · {step.step} {step.fraction:.0%}")

    def event(self, event: Event) -> None:
        study = event.study
        if study is None or event.trial is None:
            self._what = f"references of {event.task.scenario}"
            self._bar.update(self._task, description=self._what)
            return
        count = len(study.settings)
        self._what = f"{event.method} under {event.task.scenario}, setting {count}"
        self._bar.update(self._task, completed=self._done(), description=self._what)
        if study.finished(self.wish.trials):
            self._console.print(_line(event.task, study), highlight=False, markup=False)


def _line(task: Task, study: Study) -> str:
    choice, authors = study.choice(), study.authors
    tried = f"{len(study.settings)} settings"
    before = _score(authors.score) if authors and authors.candidate else "out"
    best = "no candidate" if choice is None else _score(choice.score)
    return f"{study.method} under {task.scenario}: {best} in {tried}, the authors' {before}"


def _score(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def _say_found(
    found: Sequence[tuple[Task, Study]],
    elsewhere: Sequence[tuple[Task, str]],
    wish: Wish,
    root: Path,
    use: str,
    *,
    as_json: bool,
) -> None:
    from mucore.tuning.report import record
    from mucore.tuning.together import say_elsewhere

    records = [record(task, study, wish.trials, root) for task, study in found]
    if as_json:
        print(to_json(records, indent=2))
    elif records:
        _say_records(records)
    for sentence in say_elsewhere(elsewhere):
        print(sentence, file=sys.stderr)
    if use and not as_json:
        print(f"To use what was found: {use}", file=sys.stderr)


def _say_records(records: Sequence[dict[str, Any]]) -> None:
    print_table(
        ("scenario", "method", "settings", "trials", "authors'", "best", "work", "setting"),
        [
            (
                each["scenario"],
                each["method"] + (" (open)" if each["open"] else ""),
                str(each["settings"]),
                str(each["trials"]),
                "out" if each["authors"] is None else _score(each["authors"]),
                "none" if each["score"] is None else _score(each["score"]),
                "" if each["work"] is None else f"{each['work']:.2f}",
                ", ".join(f"{name} {_value(v)}" for name, v in (each["values"] or {}).items()),
            )
            for each in records
        ],
    )
    print(
        "Scores: how much of the verdict's margin is used up, by the number that uses most, on "
        "average over three seeds; at most 1.0 is inside. Out: took too much work, or failed. "
        "Work: share of Retrain's.",
        file=sys.stderr,
    )
    for sentence in dict.fromkeys(s for each in records for s in each["cautions"]):
        print(sentence, file=sys.stderr)


def _command(task: TaskOptions, changes: Sequence[str], grid: Grid, usable: Sequence[Study]) -> str:
    """The `run` of the very tasks that were searched, with the methods that came to a setting."""
    methods = dict.fromkeys(study.method for study in usable)
    words = ["python", "-m", "mucore", "run", "--dataset", grid.dataset, "--model", grid.model]
    words += ["--preset", grid.preset, "--scenario", ",".join(each.id for each in grid.scenarios)]
    words += [] if task.budget is None else ["--budget", task.budget]
    for change in changes:
        words += ["--set", change]
    words += ["--methods", ",".join(methods), "--method-preset", "tuned", "--seeds", "0-4"]
    return shlex.join(words)


def _value(value: Any) -> str:
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:.3g}"
    return "none" if value is None else str(value)
