"""Packs: results and comparisons as JSON lines, small enough to be committed, readable without a
database.

A pack is a folder of `pack.json` (what it is, who made it, the hashes of the others),
`comparisons.jsonl` and files in `results/`, compressed by Zstandard (older packs: by gzip).
Predictions and features of chosen runs come along as ordinary artifacts, thinned to some samples of
each split and rounded, and where they are asked for, weights in half precision; the metrics of a
result were measured on all samples and with weights as they were.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import platform
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

import mucore
from mucore import catalog
from mucore.errors import BadFile, said
from mucore.outputs import Outputs, SplitOutputs
from mucore.store.artifacts import Artifacts
from mucore.store.records import Comparison, Measured, Result
from mucore.store.schema import from_json, now, to_json
from mucore.store.store import Store

FORMAT = 2
ARTIFACTS = "artifacts"
_COMPARISONS, _RESULTS = "comparisons", "results"  # how the names of their files open
# nothing that is drawn from a pack looks at their features
_WITHOUT_FEATURES = ("validation", "triggered")


def write_pack(
    store: Store,
    path: Path | str,
    *,
    keys: Collection[str] | None = None,
    outputs: Collection[str] = (),
    samples: int | None = 300,
    features: bool = True,
    weights: bool = False,
    comparisons: bool = True,
    beside: Mapping[str, Any] | None = None,
) -> Path:
    """Write the results of `keys` (default: all) and, unless `comparisons` is False, the
    comparisons that hold any of them to the folder `path`, which is returned.

    Of the runs `outputs`, predictions and, with `features`, features of up to `samples` samples of
    each split go along, the same for every run, or all of them as they are (None), and with
    `weights` those, in half precision; files of an earlier pack are removed. `beside` is what
    pack.json says besides. The same results give the same bytes in every file but `pack.json`.
    Raises `BadFile` where a file is missing.
    """
    folder = Path(path)
    results = sorted(store.results(keys=keys), key=lambda each: to_json(each.spec))  # packs better
    fresh = folder.with_name(f"{folder.name}.new")  # an earlier pack stays until this one is whole
    shutil.rmtree(fresh, ignore_errors=True)
    kept = Artifacts(fresh / ARTIFACTS)
    chosen, found = [each for each in results if each.key in outputs], store.artifacts
    thinned = {
        each.key: kept.put_outputs(thin(found.get_outputs(each.outputs), samples, features))
        for each in chosen
        if each.outputs is not None
    }
    halved = {
        each.key: kept.put_arrays({k: _half(a) for k, a in found.get_arrays(each.weights).items()})
        for each in chosen
        if weights and each.weights is not None
    }
    packed = {result.key for result in results}
    # everything as a reader gets it, so that packing it again changes no byte
    named = [
        dataclasses.replace(each, keys=tuple(key for key in each.keys if key in packed), demo=True)
        for each in (reversed(store.comparisons()) if comparisons else ())
        if not packed.isdisjoint(each.keys)
    ]
    travelling = [
        dataclasses.replace(
            each, outputs=thinned.get(each.key), weights=halved.get(each.key), demo=True
        )
        for each in results
    ]
    contents = {
        f"{_COMPARISONS}.jsonl": _lines(named),
        f"{_RESULTS}/all.jsonl.zst": compressed(_lines(travelling)),
    }
    about = {
        "format": FORMAT,
        "made": now(),
        "mucore": mucore.__version__,
        "platform": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "results": len(results),
        "outputs": {"runs": len(thinned), "samples": samples},
        "devices": sorted({result.device for result in results}),
        "versions": [
            dict(pairs)
            for pairs in sorted({tuple(sorted(result.versions.items())) for result in results})
        ],
        "sha256": {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()},
        **(beside or {}),
    }
    with store.sentences():
        for name, content in contents.items():
            (fresh / name).parent.mkdir(parents=True, exist_ok=True)
            (fresh / name).write_bytes(content)
        for name in (ARTIFACTS, _RESULTS):
            shutil.rmtree(folder / name, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        for path in fresh.iterdir():
            path.replace(folder / path.name)
        fresh.rmdir()
        (folder / "pack.json").write_text(
            json.dumps(json.loads(to_json(about)), indent=2, ensure_ascii=False) + "\n",
            encoding="utf-8",
        )
    return folder


def thin(outputs: Outputs, samples: int | None, features: bool) -> Outputs:
    """Outputs without their features unless these are wanted, and up to `samples` samples of each
    split: those with the lowest hash of their id, so that every run keeps the same ones.

    Confusion counts stay those of the whole split; features stay with the samples that have them,
    which come first. Features are rounded to 8 bits (a sign, 5 of exponent, 2 of fraction) and
    logits to 16 (a sign, 8 of exponent, 7 of fraction), in the types that they had. What was
    thinned before stays as it is.
    """
    found = dict(outputs)
    if not features:
        found = {name: dataclasses.replace(each, features=None) for name, each in found.items()}
    if samples is not None:
        found = {name: _thin(name, each, samples) for name, each in found.items()}
    return Outputs(found)


def _thin(name: str, split: SplitOutputs, samples: int) -> SplitOutputs:
    # An odd multiplier scatters consecutive ids over the whole range: Knuth's multiplicative hash.
    order = np.argsort(
        (split.ids.astype(np.uint64) * np.uint64(11400714819323198485)) >> np.uint64(20),
        kind="stable",
    )
    with_features = len(split.features) if split.features is not None else 0
    first = order[order < with_features][:samples] if with_features else order[:samples]
    return dataclasses.replace(
        split,
        logits=_rounded(split.logits[first]),
        labels=split.labels[first],
        ids=split.ids[first],
        features=None
        if split.features is None or name in _WITHOUT_FEATURES
        else _rounded(split.features[first]),
    )


def _half(values: np.ndarray) -> np.ndarray:
    """Floating-point numbers as float16, unless one is beyond its 65,504."""
    with np.errstate(over="ignore"):
        half = values.astype(np.float16) if values.dtype.kind == "f" else values
    return half if np.isfinite(half).all() else values


def _rounded(values: np.ndarray) -> np.ndarray:
    """float16 or float32 values to the nearest that the upper half of their bits can hold."""
    half = values.dtype.itemsize * 4
    bits = np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")
    nearest = ((bits + (1 << (half - 1))) >> half << half).view(values.dtype)
    # the largest values would become infinite, and NaN would become a number
    return np.where(np.isfinite(values) & np.isfinite(nearest), nearest, values)


def open_pack(path: Path | str) -> Store:
    """A store in memory with the pack's content, everything marked `demo`; writing to it raises
    `ReadOnly`.

    Raises `BadFile` for a folder that is no pack, a damaged one, or one of another format.
    """
    folder = Path(path)
    about = pack_provenance(folder)
    store = Store(folder, url="sqlite://")
    try:
        store.put_results([*map(_result, _records(folder, about["sha256"], _RESULTS))])
        for line in _records(folder, about["sha256"], _COMPARISONS):
            created = datetime.fromisoformat(line["created"])
            store.create_comparison(
                line["name"], line["note"], line["grid"], line["keys"], created=created, demo=True
            )
    except BadFile:
        store.close()
        raise
    except Exception as error:  # the boundary to a file that somebody wrote by hand
        store.close()
        raise BadFile(
            f"The pack {folder} holds a record that this mucore cannot read: "
            f"{type(error).__name__}: {said(str(error))}. Make the pack again."
        ) from error
    store.make_read_only(
        "The demo results can only be read. Run a comparison of your own to have results that can "
        "be changed."
    )
    return store


def bring(path: Path | str, store: Store) -> None:
    """Put what a pack holds among the results and comparisons of a store. Raises as `open_pack`."""
    with open_pack(path) as pack:
        for each in pack.results():
            outputs = each.outputs and store.artifacts.put_outputs(
                pack.artifacts.get_outputs(each.outputs)
            )
            store.put_result(dataclasses.replace(each, outputs=outputs, weights=None, demo=False))
        for one in reversed(pack.comparisons()):
            store.create_comparison(one.name, one.note, one.grid, one.keys)


def _records(folder: Path, hashes: Mapping[str, str], kind: str) -> Iterator[dict[str, Any]]:
    """Those of one kind. Raises `BadFile`."""
    import pyarrow as pa

    for name in sorted(each for each in hashes if each.startswith(kind)):
        try:
            content = (folder / name).read_bytes()
        except OSError as error:
            raise BadFile(
                f"The pack {folder} has no readable {name}: {error.strerror or error}."
            ) from error
        if hashlib.sha256(content).hexdigest() != hashes[name]:
            raise BadFile(
                f"{folder / name} is damaged: it does not match the hash in pack.json. Get the "
                "pack again."
            )
        packed = None if name.endswith(".jsonl") else pa.Codec.detect(name).name
        text = pa.input_stream(pa.BufferReader(content), packed).read().decode()
        yield from map(from_json, filter(None, text.split("\n")))


def pack_provenance(path: Path | str) -> dict[str, Any]:
    """What `pack.json` says. Raises `BadFile`."""
    file = Path(path) / "pack.json"
    try:
        about = json.loads(file.read_text(encoding="utf-8"))
        number, names = about["format"], about["sha256"].keys()
    except FileNotFoundError:
        raise BadFile(f"{path} is no pack of results: it has no pack.json.") from None
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise BadFile(f"{file} cannot be read: {error}. Make the pack again.") from error
    if number != FORMAT:
        raise BadFile(
            f"The pack {path} is of format {number}; this mucore reads format {FORMAT}. Update "
            "mucore, or make the pack again."
        )
    if any(".." in Path(name).parts for name in names):
        raise BadFile(f"{file} names a file outside the pack. Get the pack from its makers.")
    return about


def _lines(records: Iterable[Result | Comparison]) -> bytes:
    return "".join(to_json(dataclasses.asdict(each)) + "\n" for each in records).encode()


def compressed(content: bytes) -> bytes:
    """By Zstandard, as small as it makes it."""
    import pyarrow as pa

    return pa.Codec("zstd", 19).compress(content, asbytes=True)


def _result(line: dict[str, Any]) -> Result:
    known = {field.name for field in dataclasses.fields(Result)}
    fields: dict[str, Any] = {name: value for name, value in line.items() if name in known} | {
        "demo": True
    }
    # what an earlier version measured, and this one would not tell
    few = catalog.withheld({k: int(np.sum(n)) for k, n in line.get("confusion", {}).items()})
    fields["metrics"] = {
        name: Measured(None, error=few[name]) if name in few else Measured(**measured)
        for name, measured in fields["metrics"].items()
    }
    for name in ("started", "finished"):
        fields[name] = datetime.fromisoformat(fields[name]) if fields.get(name) else None
    for name in ("losses", "notes", "flags"):
        fields[name] = tuple(fields.get(name, ()))
    return Result(**fields)
