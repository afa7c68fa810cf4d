"""What loaders of published data sets share: where an archive lies, what torchvision fetches, and
dividing what was published.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Final, TypeVar

from mucore import catalog
from mucore.catalog import DatasetCard
from mucore.datasets.splits import Split, Splits, assemble, hold_out, hold_out_part
from mucore.errors import BadFile
from mucore.userfiles.sizes import TEST_SHARE

NO_DIVISION = "No division was published; a fifth of the images, drawn by class, is the test set."
T = TypeVar("T")
Loader = Callable[[str, Path], Splits]
_downloads: Final = ContextVar("downloads", default=True)


def archive(*folders: str) -> Callable[[Callable[[DatasetCard, Path], Splits]], Loader]:
    """A loader of an archive from what reads it, which is given the card and the first of `folders`
    that is in the data folder. Raises `BadFile` with what to fetch, from where, and where to put
    it.
    """

    def decorated(read: Callable[[DatasetCard, Path], Splits]) -> Loader:
        @functools.wraps(read)
        def load(name: str, root: Path) -> Splits:
            card = catalog.dataset(name)
            folder = next((root / each for each in folders if (root / each).is_dir()), None)
            if folder is None:
                raise BadFile(
                    f"{card.title} is not in {root}: there is no folder {folders[0]}. {card.where}"
                )
            return read(card, folder)

        return load

    return decorated


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
    except (OSError, RuntimeError, ValueError) as error:
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
    training: Split,
    test: Split | None = None,
    unseen: Split | None = None,
    class_names: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Splits:
    """The published training and test images as a data set: a tenth of training is held out for
    validation, whole persons if known. Without test images a fifth is drawn first.

    `class_names` are the card's where none are given. Raises `ValueError` where there are more or
    fewer than were published, or a part without images.
    """
    card = catalog.dataset(name)
    class_names = class_names or card.class_names
    if len(class_names) != card.classes:
        raise ValueError(f"it has {len(class_names):,} of {card.classes:,} classes")
    if not all(len(part) for part in (training, test, unseen) if part is not None):
        raise ValueError("it names no image for training, testing or as unseen")
    if test is None:
        kept, held = hold_out(training.labels.numpy(), round(TEST_SHARE * len(training)))
        training, test, notes = training[kept], training[held], [NO_DIVISION, *notes]
    train, validation = hold_out_part(training)
    return assemble(
        name,
        train=train,
        validation=validation,
        test=test,
        unseen=unseen,
        class_names=class_names,
        natural=card.augmentation,
        notes=notes,
        task=card.task,
    )


def one_line(error: BaseException) -> str:
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__
