"""Data sets by name: `load("fashion-mnist-10k") -> Splits`, uint8 tensors with sample ids.

One file a family; the loader that a card names takes the data set's name and the data folder and
returns `Splits`. A user's own data is named `npz:PATH` or `folder:PATH`.
"""

from __future__ import annotations

import functools
import importlib
import os
import struct
import zlib
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from mucore import catalog
from mucore.datasets.cut import cut
from mucore.datasets.published import downloading, one_line
from mucore.datasets.splits import Splits
from mucore.errors import BadFile
from mucore.userfiles import datasets

# what readers raise for files that are missing, damaged or of another form
FAULTS = (OSError, ValueError, LookupError, EOFError, zlib.error, struct.error, BadZipFile)
CACHED = 2  # data sets kept in memory a process; a worker seldom needs more than one at a time


def default_root() -> Path:
    """The folder of downloaded data sets: MUCORE_DATA, or ~/.mucore/data."""
    return Path(os.environ.get("MUCORE_DATA") or Path.home() / ".mucore" / "data")


def load(name: str, root: Path | None = None, *, download: bool = True, **asked: Any) -> Splits:
    """The data set of that name, from memory if this process had it just before and its files have
    not changed.

    `root` is the folder of downloaded sets; what is not there is downloaded, unless `download` is
    False. The other arguments divide the set as a recipe asks (datasets/cut.py). Raises
    `UnknownName`, and `BadFile` or `BadValue` with a sentence for data that is missing or cannot be
    used.
    """
    catalog.dataset(name)
    with downloading(download):
        splits = _load(name, root or default_root(), datasets.data_hash(name))
    usual: dict[str, Any] = {"validation_from": "training", "per_class": 0, "greyscale": False}
    return cut(splits, **usual | asked)


@functools.lru_cache(maxsize=CACHED)
def _load(name: str, root: Path, data_hash: str) -> Splits:
    card = catalog.dataset(name)
    module, _, function = card.loader.partition(":")
    try:
        return getattr(importlib.import_module(f"mucore.datasets.{module}"), function)(name, root)
    except FAULTS as error:
        reason = f"it lacks {error}" if isinstance(error, LookupError) else one_line(error)
        raise BadFile(f"{card.title} cannot be read: {reason}. {card.where}") from error
