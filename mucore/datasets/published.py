"""What loaders of published data sets share: reading through torchvision, and dividing what was
published.
"""

from __future__ import annotations

import urllib.error
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Final, TypeVar

import numpy as np

from mucore import catalog
from mucore.catalog import DatasetCard
from mucore.datasets.splits import Part, Splits, assemble, hold_out, hold_out_part
from mucore.errors import BadFile
from mucore.userfiles.sizes import TEST_SHARE

NO_DIVISION = "No division was published; a fifth of the images, drawn by class, is the test set."
T = TypeVar("T")
_downloads: Final = ContextVar("downloads", default=True)


@contextmanager
def downloading(on: bool) -> Generator[None]:
    """Whether a data set that is not here is downloaded in the block."""
    before = _downloads.set(on)
    try:
        yield
    finally:
        _downloads.reset(before)


def fetched(card: DatasetCard, root: Path, read: Callable[[bool], T]) -> T:
    """What torchvision finds in `root`, or downloads into it where it may, which `read` is told.
    Raises `BadFile` with what to fetch by hand.
    """
    download = _downloads.get()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return read(download)
    except (OSError, RuntimeError, ValueError, urllib.error.URLError) as error:
        if not download:
            raise BadFile(
                f"{card.title} is not on this machine yet, and pages download nothing. A run on it "
                'does, and so does python -c "from mucore.datasets import load; '
                f"load('{card.id}')\". {card.where}"
            ) from error
        raise BadFile(
            f"{card.title} is not in {root} and could not be downloaded ({one_line(error)}). "
            f"{card.where}"
        ) from error


def divided(
    name: str,
    *,
    training: Part,
    test: Part | None = None,
    unseen: Part | None = None,
    class_names: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Splits:
    """The published training and test images as a data set: a tenth of training is held out for
    validation, whole persons if known. Without test images a fifth is drawn first.

    `class_names` are the card's where none are given.
    """
    card = catalog.dataset(name)
    if test is None:
        kept, held = hold_out(training.y, round(TEST_SHARE * len(training.y)))
        training, test, notes = training[kept], training[held], [NO_DIVISION, *notes]
    train, validation = hold_out_part(training)
    return assemble(
        name,
        train=train,
        validation=validation,
        test=test,
        unseen=unseen,
        class_names=class_names or card.class_names,
        natural=card.augmentation,
        notes=notes,
        task=card.task,
    )


def folder_of(card: DatasetCard, root: Path, *names: str) -> Path:
    """The first of the folders `names` that is in `root`. Raises `BadFile` with what to fetch, from
    where, and where to put it.
    """
    for name in names:
        if (root / name).is_dir():
            return root / name
    raise BadFile(f"{card.title} is not in {root}: there is no folder {names[0]}. {card.where}")


def require(card: DatasetCard, path: Path) -> Path:
    """`path`, which the archive has. Raises `BadFile`."""
    if not path.exists():
        raise BadFile(f"{card.title} lacks {path}. {card.where}")
    return path


def lines_of(card: DatasetCard, path: Path) -> list[str]:
    """The lines of a text file of the archive that are not empty. Raises `BadFile`."""
    try:
        return [
            line
            for line in require(card, path).read_text(encoding="utf-8-sig").splitlines()
            if line.strip()
        ]
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(
            f"{path} cannot be read ({one_line(error)}). Unpack the archive again."
        ) from error


def check_count(card: DatasetCard, folder: Path, found: int) -> None:
    """Raise `BadFile` unless there are as many classes as were published."""
    if found != card.classes:
        raise BadFile(
            f"{folder} holds {found:,} {'class' if found == 1 else 'classes'}, but {card.title} "
            f"has {card.classes:,}. Unpack the whole archive. {card.where}"
        )


def numbered(values: Sequence[str]) -> np.ndarray:
    """Names as numbers from 0 in sorted order, (n,) int64."""
    return np.unique(np.array(values), return_inverse=True)[1].astype(np.int64)


def one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
