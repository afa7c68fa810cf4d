"""Data sets by name: `load("fashion-mnist-10k") -> Splits`, uint8 tensors with sample ids.

One file a family; each loader takes the name and the data folder and returns `Splits`. A user's own data is named `npz:PATH` or
`folder:PATH`.
"""

from __future__ import annotations

import functools
import importlib
import os
from pathlib import Path

from mucore import catalog, userdata
from mucore.datasets.splits import Split, Splits

__all__ = ["Split", "Splits", "default_root", "load"]

_LOADERS = {
    "digits": "digits:load",
    "fashion-mnist-10k": "fashion_mnist:load_subset",
    "fashion-mnist": "fashion_mnist:load_full",
    "cifar10": "cifar:load",
    "npz": "own:load_npz",
    "folder": "own:load_folder",
}
CACHED = 2  # data sets kept in memory a process; a worker seldom needs more than one at a time


def default_root() -> Path:
    """The folder of downloaded data sets: MUCORE_DATA, or ~/.mucore/data."""
    return Path(os.environ.get("MUCORE_DATA") or Path.home() / ".mucore" / "data")


def load(name: str, root: Path | None = None) -> Splits:
    """The data set of that name, from memory if this process had it just before and its files have not changed.

    `root` is the folder of downloaded sets. Raises `UnknownName`, and `BadFile` or `BadValue` with a sentence for data that is missing or
    cannot be used.
    """
    catalog.dataset(name)
    return _load(name, root or default_root(), userdata.data_hash(name))


@functools.lru_cache(maxsize=CACHED)
def _load(name: str, root: Path, data_hash: str) -> Splits:
    module, _, function = _LOADERS[catalog.dataset(name).id].partition(":")
    return getattr(importlib.import_module(f"mucore.datasets.{module}"), function)(name, root)
