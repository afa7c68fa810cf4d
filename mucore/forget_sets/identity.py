"""The one name of a sample: its row in what the user gave or what was published, in the file's
order; of a folder's images also their path. It holds under every division of the data.

Inside a run samples have other numbers, the ids of its division. This module alone translates, so
that what people write and what they read are rows.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mucore import catalog
from mucore.errors import BadFile, BadValue, warn
from mucore.forget_sets import lists, saved
from mucore.forget_sets.lists import Listed
from mucore.runs import classes
from mucore.runs.spec import scenario_revision
from mucore.userfiles import datasets, paths

if TYPE_CHECKING:
    from mucore.datasets import Splits
    from mucore.datasets.splits import Split
    from mucore.runs import RunSpec

PARAMETER: Final = "ids"  # of a scenario
ROWS_SINCE: Final = 2  # the revision of its card from which on these are rows, not internal ids
SHOWN: Final = 5  # samples that a sentence names
FIRST: Final = 3  # images that a description shows
TRANSLATED: Final = "Saved by an earlier version, whose numbers were those of a division, not rows."


def to_ids(splits: Splits, rows: Iterable[int]) -> np.ndarray:
    """The internal ids (n,) of training samples by their rows. Raises `BadValue` where one is
    named twice, does not exist, or is not in training under this division.
    """
    given = np.asarray([*rows], np.int64)
    train, files = splits.train, splits.train.source.files
    once, times = np.unique(given, return_counts=True)
    if not len(given) or times.max() > 1:
        repeated = _some([str(row) for row in once[times > 1]])
        raise BadValue(
            "At least one sample must be named, such as 3,17,256-260 or a file, and each once, but "
            f"repeated are: {repeated or 'none, as the list is empty'}."
        )
    if len(wrong := np.setdiff1d(given, train.rows)):
        which = [f"{row} ({files[row]})" if 0 <= row < len(files) else str(row) for row in wrong]
        last = train.source.total - 1
        there = bool(((wrong >= 0) & (wrong <= last)).any())
        held = " without those that are held out or left out by the recipe," if there else ""
        way = ", or train on all with recipe.validation_from=test" if there else ""
        raise BadValue(
            f"Samples to forget are rows of the training data, here 0 to {last} of {splits.name},"
            f"{held} but {len(wrong):,} of {len(given):,} are none: {_some(which)}. Take them "
            f"out{way}."
        )
    order = np.argsort(train.rows)
    return train.ids.numpy()[order[np.searchsorted(train.rows, given, sorter=order)]]


def parts(splits: Splits) -> list[Split]:
    """The splits through which internal ids count: all but the test set once more, triggered."""
    return [getattr(splits, name) for name in splits.names if name != "triggered"]


def to_rows(splits: Splits, ids: Iterable[int]) -> np.ndarray:
    """The rows (n,) of samples of any split in its source, by their internal ids."""
    rows = np.concatenate([part.rows for part in parts(splits)])
    return rows[np.asarray([*ids], np.int64)]


def numbers(splits: Splits) -> np.ndarray:
    """What every sample is called where pages and tables number all of them, (n,) int64 by internal
    id: its row where it comes from the training data, and from where these end the rows of the
    other data, one after the other.
    """
    first: dict[int, int] = {}
    found, count = [], 0
    for split in parts(splits):
        if id(split.source) not in first:
            first[id(split.source)], count = count, count + split.source.total
        found.append(first[id(split.source)] + split.rows)
    return np.concatenate(found)


def files(splits: Splits) -> list[str]:
    """By internal id, the path of every sample in the folder of a user's own data; "" where samples
    are no files.
    """
    rows = ((part.source.files, row) for part in parts(splits) for row in part.rows.tolist())
    return [named[row] if named else "" for named, row in rows]


def numbered(known: np.ndarray, wanted: Any) -> np.ndarray:
    """The internal ids of samples by what they are called, `known` being `numbers`; -1 for what is
    none.
    """
    order = np.argsort(known)
    found = order[np.searchsorted(known, wanted, sorter=order).clip(max=len(known) - 1)]
    return np.where(known[found] == wanted, found, -1)


def internal(spec: RunSpec, splits: Splits) -> dict[str, Any]:
    """The scenario parameters of a spec with internal ids, as `scenarios.select` takes them."""
    values = spec.scenario_parameters
    if PARAMETER not in values or scenario_revision(values) < ROWS_SINCE:
        return values
    return {**values, PARAMETER: to_ids(splits, values[PARAMETER]).tolist()}


def here(dataset: str, cut: Mapping[str, Any] | None = None) -> Splits | None:
    """A data set as a recipe cuts it; None where it would have to be downloaded. Raises `BadFile`
    for a user's own data that cannot be read.
    """
    from mucore.datasets import load  # PyTorch: only who names samples waits for it

    try:
        return load(dataset, download=False, **(cut or {}))
    except BadFile:
        if catalog.dataset(dataset).takes_path:
            raise
        return None


def check(specs: Iterable[RunSpec]) -> list[Description]:
    """What those specs forget that name samples, each list once. Raises `BadValue` for samples that
    cannot be forgotten, before anything is trained; what is not on this machine yet is checked when
    the run has it.
    """
    lists = {}
    for spec in specs:
        if (named := spec.scenario_parameters.get(PARAMETER)) is not None:
            place = (spec.dataset, str(spec.recipe.cut()), len(spec.requests), tuple(named))
            lists.setdefault(place, spec)
    found = []
    for spec in lists.values():
        before = {
            row
            for each in spec.requests[:-1]
            for row in each.scenario_parameters.get(PARAMETER, ())
        }
        if again := sorted(before & {*spec.scenario_parameters[PARAMETER]}):
            raise BadValue(
                f"Sample {again[0]} was forgotten by an earlier request of the sequence. Take it "
                "out of this one."
            )
        if (splits := here(spec.dataset, spec.recipe.cut())) is not None:
            found.append(described(splits, internal(spec, splits)[PARAMETER]))
    return found


def chosen(value: Any, dataset: str) -> Any:
    """The rows that a value names: `@FILE` or a path, `set:NAME`, a text, an array, a mask of bool,
    names of files. Warns of what was translated. Raises `BadFile`, `BadValue`.
    """
    found = listed(value)
    if found is None:
        return value
    if found.saved is not None and found.saved.version == 1:
        warn(f"{found.saved.name or 'The set'}: {TRANSLATED}")
    return rows_of(found, dataset)


def listed(value: Any) -> Listed | None:
    """What a value lists, of any data set; None for what is no list."""
    if isinstance(value, os.PathLike):
        return lists.read_file(Path(value))
    if isinstance(value, str):
        if saved.is_reference(value):
            return Listed(saved=saved.resolve(paths.default_home(), value))
        if value.startswith("@"):
            return lists.read_file(paths.path(value[1:]))
        return lists.read_list(value.encode(), name="the list")
    if isinstance(value, np.ndarray) or (isinstance(value, list | tuple) and value):
        try:
            return lists.read_array(np.asarray(value), name="the list")
        except ValueError:
            raise BadValue("A list of samples is one row, but this one holds several.") from None
    return None


def rows_of(listed: Listed, dataset: str) -> list[int]:
    """The rows that a list of samples of a data set names, in its order."""
    if listed.saved is not None:
        return of_saved(listed.saved, dataset).ids.tolist()
    if not listed.files and listed.length is None:
        return list(listed.numbers)
    splits = here(dataset)
    if splits is None:
        raise BadFile(
            f"{dataset} is not on this machine yet, so that files and masks say nothing. Name rows."
        )
    source = splits.train.source
    if listed.length is not None and listed.length != source.total:
        raise BadValue(
            f"A mask has one value for each of the {source.total:,} training samples of {dataset}, "
            f"but this one has {listed.length:,}."
        )
    if not listed.files:
        return list(listed.numbers)
    if not source.files:
        raise BadValue(f"{dataset} has no files with names. Name rows, 0 to {source.total - 1}.")
    known = _names(source.files)
    if unknown := [name for name in listed.files if name not in known]:
        raise BadValue(
            f"Files are named by their path in the folder, such as {source.files[0]}, but "
            f"{len(unknown):,} of {len(listed.files):,} name none, or more than one: "
            f"{_some(unknown)}."
        )
    return [known[name] for name in listed.files]


def _some(texts: Sequence[str]) -> str:
    more = len(texts) - SHOWN
    return ", ".join(texts[:SHOWN]) + f" and {more:,} more" * (more > 0)


def _names(files: Sequence[str]) -> dict[str, int]:
    """Row by path, and by every end of a path that one file alone has: CLASS/NAME, NAME."""
    ends = [(end, row) for row, file in enumerate(files) for end in _ends(file)]
    times = Counter(end for end, _ in ends)
    return {end: row for end, row in ends if times[end] == 1}


def _ends(file: str) -> list[str]:
    parts = file.split("/")
    return ["/".join(parts[first:]) for first in range(len(parts))]


def of_saved(found: saved.NamedSet, dataset: str) -> saved.NamedSet:
    """A saved set as rows of `dataset`; one of an earlier version is translated and says so. Raises
    `BadValue` where it is of other data.
    """
    saved.check_fits(found, dataset, datasets.data_hash(dataset))
    if found.version > 1:
        return found
    if (splits := here(dataset)) is None:
        raise BadFile(
            f"The forget set {found.name!r} was saved by an earlier version and can be read once "
            f"{dataset} is on this machine."
        )
    if found.ids.max() >= len(splits.train):
        raise BadValue(
            f"The forget set {found.name!r} names samples that {dataset} does not have in "
            "training. Build it again."
        )
    rows, made = to_rows(splits, found.ids), (*found.made, TRANSLATED)
    return saved.make(found.dataset, rows, data_hash=found.data_hash, made=made)


def twins(digests: np.ndarray, ids: np.ndarray, forget: np.ndarray) -> np.ndarray:
    """The retained samples, sorted ids (m,) int64, that have an identical image among `forget`.
    `digests` (n,) name the images of the training samples `ids` (n,), equal ones being equal
    images; `forget` are ids among them.
    """
    leaving = np.isin(ids, forget)
    return np.sort(ids[~leaving & np.isin(digests, digests[leaving])])


@dataclass(frozen=True)
class Description:
    """Samples in words: how many of each class or with each attribute, by number and name, and the
    first few with row, class and file.
    """

    count: int
    classes: tuple[dict[str, Any], ...]
    first: tuple[dict[str, Any], ...]
    attributes: bool = False  # that several may be true of one sample

    @property
    def sentence(self) -> str:
        counts = ", ".join(
            f"{each['count']:,} with {each['name']}"
            if self.attributes
            else f"{each['count']:,} of {classes.said(each['number'], each['name'])}"
            for each in self.classes
        )
        shown = ", ".join(
            f"row {each['row']} ({each.get('file', each['name'])})" for each in self.first
        )
        return f"Forgets {self.count:,}: {counts or 'without an attribute'}. The first: {shown}."


def described(splits: Splits, ids: Iterable[int]) -> Description:
    """Training samples by their internal ids."""
    ids = np.sort(np.asarray([*ids], np.int64))
    true = splits.train.labels if splits.true_labels is None else splits.true_labels
    labels, names = true.numpy()[ids], splits.class_names
    counts = labels.sum(axis=0) if labels.ndim == 2 else np.bincount(labels, minlength=len(names))
    files = splits.train.source.files

    def told(row: int, label: np.ndarray) -> dict[str, Any]:
        having = np.flatnonzero(label) if labels.ndim == 2 else [label]
        name = ", ".join(names[number] for number in having) or "no attribute"
        return {"row": row, "name": name} | ({"file": files[row]} if files else {})

    rows = to_rows(splits, ids[:FIRST]).tolist()
    return Description(
        len(ids),
        tuple(
            {"number": int(each), "name": names[each], "count": int(counts[each])}
            for each in np.flatnonzero(counts)
        ),
        tuple(told(row, label) for row, label in zip(rows, labels, strict=False)),
        labels.ndim == 2,
    )
