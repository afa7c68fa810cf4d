"""`tune`: search settings for methods, with progress, and say what was found."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from mucore.cli.base import (
    FAILED,
    WHOLE,
    Device,
    Json,
    complain,
    end_progress,
    open_home,
    progress,
    say_left_out,
)
from mucore.cli.flags import TaskOptions, build_grid
from mucore.cli.printing import print_frame, to_json
from mucore.errors import BadValue, warn
from mucore.userfiles import paths

if TYPE_CHECKING:
    from mucore.runner.grid import Grid
    from mucore.tuning.plan import Plan, Wish
    from mucore.tuning.search import Event


def tune(
    task: TaskOptions,
    *,
    trials: Annotated[int, WHOLE] = 60,
    seed: Annotated[int, WHOLE] = 100,
    cap: float = 1 / 3,
    jobs: Annotated[int, WHOLE] = 1,
    studies: str = "",
    plan_only: Annotated[bool, Parameter(name="--plan")] = False,
    device: Device = "auto",
    as_json: Json = False,
) -> int:
    """Search settings of methods for a task: what uses up least of the verdict's margin on three
    seeds of validation data wins. Goes on where it was when it is started again.

    Parameters
    ----------
    trials
        Settings that are tried at most, the authors' first, for each method.
    seed
        First of the three seeds on which a setting is judged.
    cap
        What a trial may take at most, as a share of Retrain's work.
    jobs
        Processes that search at once, one thread each.
    studies
        Folder of the study files (default: studies in the home).
    plan_only
        Say what would be searched and how long, and stop.
    """
    from mucore.runner.extra_workers import check_jobs
    from mucore.tuning.plan import FOLDER, plan, wish_of
    from mucore.tuning.together import records_of

    say_left_out()
    check_jobs(jobs)
    grid = _grid(task)
    with open_home() as store:
        root = paths.path(studies, what="--studies") if studies else store.home / FOLDER
        wish, reasons = wish_of(grid, trials=trials, seed=seed, cap=cap)
        for reason in reasons:
            warn(f"Left out: {reason}")
        _say_plan(wish, plan(wish, store, root), jobs)
        if plan_only:
            return 0
        show = partial(_show, wish=wish)
        records, failed = records_of(
            grid, wish, store, root, jobs=jobs, device=device, on_event=show
        )
    if as_json:
        print(to_json(records, indent=2))
    elif records:
        _say_records(records)
    if failed:
        return complain(failed, FAILED)
    if all(each["values"] is None for each in records):
        return FAILED
    print("To use what was found, add --method-preset tuned to `run`.", file=sys.stderr)
    return 0


def _grid(task: TaskOptions) -> Grid:
    grid = build_grid(task)
    if set_by_hand := [f"{each.id}.{name}" for each in grid.methods for name in each.parameters]:
        raise BadValue(
            f"--set of a search is about scenario.KEY or recipe.KEY, but got {set_by_hand[0]}: "
            "what a method is set to is what the search looks for."
        )
    return grid


def _say_plan(wish: Wish, planned: Plan, jobs: int) -> None:
    from mucore.runner.estimate import about
    from mucore.tuning.plan import SLACK
    from mucore.tuning.study import PATIENCE

    names = "; ".join(f"{task.title}: {', '.join(methods)}" for task, methods in wish.tasks)
    print(
        f"{names}. Each method tries settings, the authors' first, on seeds {wish.seed} to "
        f"{wish.seed + 2} until {PATIENCE} in a row are no better than the best, {wish.trials} at "
        f"most. A trial may take {wish.cap:.2g} of Retrain's work, and {SLACK - 1:.0%} of that "
        "beside it. Test data are not looked at.",
        file=sys.stderr,
    )
    if not planned.trials:
        print("All of it is there already.", file=sys.stderr)
        return
    print(
        f"Left: {planned.references} trainings of references and at most {planned.trials} trials, "
        f"{about(planned.time(jobs))}; {planned.done} trials are there already.",
        file=sys.stderr,
    )


def _show(event: Event, wish: Wish) -> None:
    study, where = event.study, f"{event.method} under {event.task.scenario}"
    if study is None:
        progress(0.0, f"references of {event.task.scenario}")
        return
    progress(len(study.settings) / wish.trials, f"{where}, setting {len(study.settings)}")
    if study.finished(wish.trials):
        end_progress()
        authors = study.authors if study.authors and study.authors.candidate else None
        best, before = (f"{it.score:.3g}" if it else "out" for it in (study.choice(), authors))
        said = f"best {best} of {len(study.settings)} settings, the authors' {before}"
        print(f"{where}: {said}", file=sys.stderr)


def _say_records(records: Sequence[dict[str, Any]]) -> None:
    import pandas as pd

    columns = "scenario method open settings trials authors score work values".split()
    print_frame(pd.DataFrame(records)[columns])
    print(
        "Authors, score: how much of the verdict's margin their setting and the best use up, by "
        "the number that uses most, on average over three seeds; at most 1.0 is inside. None: took "
        "too much work, or failed. Work: share of Retrain's.",
        file=sys.stderr,
    )
    for sentence in dict.fromkeys(s for each in records for s in each["cautions"]):
        print(sentence, file=sys.stderr)
