"""What somebody wants searched: methods, tasks, and the means that every method has.

Imports no torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mucore import catalog
from mucore.catalog import plugins
from mucore.errors import BadValue, said
from mucore.numbers import MOST
from mucore.runner.plan import Grid
from mucore.tuning.study import SEEDS, Folder, Study
from mucore.tuning.task import Task, methods_of, tasks_of

FOLDER = "studies"  # in the home, where nobody names another
TRIALS = 60  # settings of one method at most, the authors' among them
MOST_TRIALS = 10_000
SEED = 100  # the first of the search; results are reported on others
CAP = 1 / 3  # of Retrain's gradient samples, for every setting that is drawn
# Times the cap is still within it, in a search and on a board: 5 of 15 epochs are the cap itself,
# and what a method reads beside its epochs should not shut it out.
SLACK = 1.05
OPEN = (
    1.0  # the cap of a method that can do nothing as cheap as that: a whole Retrain's, with slack
)


@dataclass(frozen=True)
class Wish:
    """What to search: `methods` under each task, at most `trials` settings of each."""

    tasks: Sequence[tuple[Task, Sequence[str]]]
    trials: int = TRIALS
    seed: int = SEED
    cap: float = CAP

    def __post_init__(self) -> None:
        if not 1 <= self.trials <= MOST_TRIALS:
            raise BadValue(
                f"A search has one trial at least and {MOST_TRIALS:,} at most for each method, but "
                f"got {said(self.trials)}."
            )
        if not 0 < self.cap <= 1:
            raise BadValue(
                f"The cap is a share of Retrain's work, in (0, 1], but got {self.cap:g}. At 1 a "
                "method may take as long as what it should spare."
            )
        if not 0 <= self.seed <= MOST - 2:
            raise BadValue(
                f"The first seed of a search is a whole number from 0 to {MOST - 2}, but got "
                f"{said(self.seed)}."
            )

    @property
    def most(self) -> int:
        """The most trials of one method."""
        return SEEDS * self.trials


def wish_of(
    grid: Grid, *, trials: int = TRIALS, seed: int = SEED, cap: float = CAP
) -> tuple[Wish, list[str]]:
    """What a grid asks to search, and why some of it is left out. Raises `BadValue` where nothing
    is left.
    """
    tasks, reasons = [], {}
    for task in tasks_of(grid):
        chosen, left_out = methods_of(grid, task)
        reasons |= left_out
        if chosen:
            tasks.append((task, chosen))
    if not tasks:
        raise BadValue(f"Nothing is left to search. {' '.join(dict.fromkeys(reasons.values()))}")
    return Wish(tasks, trials=trials, seed=seed, cap=cap), list(dict.fromkeys(reasons.values()))


def studies_of(wish: Wish, root: Path) -> list[tuple[Task, Study]]:
    """The studies that there are of what was wished for."""
    pairs = []
    for task, methods in wish.tasks:
        folder = Folder(root, task)
        for name in methods:
            study = folder.study(name, revision=revision_of(name))
            if study is not None:
                pairs.append((task, study))
    return pairs


def refuse_other_means(wish: Wish, root: Path) -> None:
    """Raise `BadValue` where there is a study that `wish` cannot go on with; asked before anything
    is trained for it.
    """
    for task, methods in wish.tasks:
        folder = Folder(root, task)
        for name in methods:
            revision = revision_of(name)
            check_means(
                wish,
                folder.study(name, revision=revision) or folder.aside(name, revision=revision),
            )


def check_means(wish: Wish, study: Study | None) -> None:
    """Raise `BadValue` where a study is of another seed or cap than is wished for: all its trials
    have the same means. An open one has a cap of its own, whatever that of the others.
    """
    if study is None:
        return
    who = f"The study of {study.method} under {study.task['scenario']}"
    second = "or name another folder with --studies to begin a second study."
    if study.seed != wish.seed:
        raise BadValue(
            f"{who} began on seed {study.seed} and goes on there, but got seed {wish.seed}. Give "
            f"--seed {study.seed}, {second}"
        )
    if not study.open and study.cap != wish.cap:
        raise BadValue(
            f"{who} lets a trial take {said(study.cap)} of Retrain's work and goes on so, but got "
            f"a cap of {said(wish.cap)}. Give --cap {said(study.cap)}, {second}"
        )


def revision_of(method: str) -> str:
    """What names the code of a method: its card's revision, or the hash of a user's own file."""
    card = catalog.method(method)
    own = plugins.find(method) if card.family == "own" else None
    return own.source_hash if own is not None else str(card.revision)
