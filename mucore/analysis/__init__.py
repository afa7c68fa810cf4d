"""Analyses that take longer than a second: computed once, in a process of their own, kept as small
files `<home>/analyses/<key>.npz`.

A kind is a function of stored results and checked parameters, registered in `KINDS` with a revision
number. What it gives is a flat mapping of names to arrays or JSON values; files outlive the
predictions and weights that they were computed from. Imports no torch: a kind that needs it imports
it when it runs.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ValidationError

from mucore.analysis import layers, neighbours, relearn, replay, requests, samples, tsne
from mucore.errors import BadFile, BadValue, UnknownName
from mucore.files import write
from mucore.runs.recipe import first_problem
from mucore.store import Store

Progress = Callable[[float, str], None]  # what is done, in 0..1, and what is being done
_JSON = "json"  # the entry of an .npz file that holds what is no array


@dataclass(frozen=True)
class Kind:
    """`compute(results, parameters, progress)` gives the value; `revision` is raised when the value
    of the same parameters can change; `title` is what people read.
    """

    compute: Callable[[Store, Any, Progress], Mapping[str, Any]]
    parameters: type[BaseModel]
    revision: int
    title: str = ""


@dataclass(frozen=True)
class Found:
    """A stored analysis. `value` maps names to arrays, which nobody writes to, and JSON values."""

    key: str
    path: Path
    value: Mapping[str, Any]


KINDS: Mapping[str, Kind] = {
    "tsne": Kind(tsne.compute, tsne.Parameters, 1, "t-SNE map"),
    "samples": Kind(samples.compute, samples.Parameters, 1, "Map of the images"),
    "layers": Kind(layers.compute, layers.Parameters, 1, "Similarity of layers"),
    "neighbours": Kind(neighbours.compute, neighbours.Parameters, 1, "Nearest neighbours"),
    "relearn": Kind(relearn.compute, relearn.Parameters, 1, "Relearn curves"),
    "replay": Kind(replay.compute, replay.Parameters, 1, "Replay"),
    "requests": Kind(requests.compute, requests.Parameters, 1, "Earlier requests"),
}


def complete(kind: str, parameters: Mapping[str, Any]) -> BaseModel:
    """The parameters with every default filled in. Raises `UnknownName`, `BadValue`."""
    if kind not in KINDS:
        raise UnknownName("analysis", kind, KINDS)
    try:
        return KINDS[kind].parameters.model_validate(dict(parameters))
    except ValidationError as error:
        raise BadValue(first_problem(f"analysis {kind}: ", error)) from None


def key(kind: str, parameters: Mapping[str, Any]) -> str:
    """32 hexadecimal digits that name the analysis: its kind, revision and every parameter, the
    keys of the runs among them.
    """
    asked = complete(kind, parameters).model_dump(mode="json")
    content = [kind, KINDS[kind].revision, asked]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]


def folder(home: Path) -> Path:
    return home / "analyses"


def place(home: Path, pack: Path | None) -> Path:
    """What stands for `home` where the runs are those of a pack: a part of it, since a pack holds
    samples of the splits alone.

    Raises `BadFile` where `pack` is none.
    """
    if pack is None:
        return home
    try:
        content = (pack / "pack.json").read_bytes()
    except OSError as error:
        raise BadFile(
            f"{pack} is no pack of results: its pack.json cannot be read "
            f"({error.strerror or error})."
        ) from None
    return home / "packs" / hashlib.sha256(content).hexdigest()[:12]


def find(home: Path, kind: str, parameters: Mapping[str, Any]) -> Found | None:
    """The stored analysis, or None where there is none or a damaged one, which is then computed
    anew. Raises `UnknownName`, `BadValue`.
    """
    name = key(kind, parameters)
    path = folder(home) / f"{name}.npz"
    value = _read(path)
    return None if value is None else Found(name, path, value)


def stored(home: Path) -> Iterator[Found]:
    """Every analysis under `home`, of whatever kind, by name; damaged ones are passed over."""
    for path in sorted(folder(home).glob("[!.]*.npz")):
        if (value := _read(path)) is not None:
            yield Found(path.stem, path, value)


def compute(
    kind: str,
    parameters: Mapping[str, Any],
    results: Store,
    home: Path,
    progress: Progress | None = None,
) -> Found:
    """Compute an analysis of the runs in `results` and keep it under `home`; the stored one where
    there is one.

    Raises `MucoreError` with a sentence where it cannot be had.
    """
    if (found := find(home, kind, parameters)) is not None:
        return found
    value = KINDS[kind].compute(
        results, complete(kind, parameters), progress or (lambda done, what: None)
    )
    arrays = {name: each for name, each in value.items() if isinstance(each, np.ndarray)}
    others = {name: each for name, each in value.items() if name not in arrays}
    text = json.dumps(others, allow_nan=False)
    sink = io.BytesIO()
    np.savez_compressed(sink, **{_JSON: np.frombuffer(text.encode(), np.uint8)}, **arrays)  # ty: ignore[invalid-argument-type]
    name = key(kind, parameters)
    path = folder(home) / f"{name}.npz"
    write(path, sink.getvalue())
    return Found(name, path, dict(value))


def _read(path: Path) -> Mapping[str, Any] | None:
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files if name != _JSON}
            return {**json.loads(file[_JSON].tobytes()), **arrays}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
