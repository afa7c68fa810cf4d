"""Packs: results and comparisons as gzipped JSON lines, small enough to be committed, readable
without a database.

A pack is a folder of `pack.json` (what it is, who made it, the hashes of the other two),
`results.jsonl.gz` and `comparisons.jsonl.gz`. Weights stay behind. Predictions and features of
chosen runs come along as ordinary artifacts, thinned to some samples of each split; the metrics of
a result were measured on all of them.
"""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import json
import platform
import shutil
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

import mucore
from mucore.errors import BadFile
from mucore.outputs import Outputs, SplitOutputs
from mucore.store.artifacts import Artifacts
from mucore.store.rows import Measured, Result
from mucore.store.schema import now, to_json
from mucore.store.store import Store

FORMAT = 1
ARTIFACTS = "artifacts"
_FILES = ("results.jsonl.gz", "comparisons.jsonl.gz")


def write_pack(
    store: Store,
    path: Path | str,
    *,
    keys: Collection[str] | None = None,
    outputs: Collection[str] = (),
    samples: int = 300,
) -> Path:
    """Write the results of `keys` (default: all) and the comparisons that hold any of them to the
    folder `path`, which is returned.

    Of the runs `outputs`, predictions and features of up to `samples` samples of each split go
    along, the same for every run; files of an earlier pack are removed. The same results give the
    same bytes in the two data files. Raises `BadFile` where a file is missing.
    """
    folder = Path(path)
    results = store.results(keys=keys)
    with store.sentences():
        shutil.rmtree(folder / ARTIFACTS, ignore_errors=True)
    kept = Artifacts(folder / ARTIFACTS)
    thinned = {
        result.key: kept.put_outputs(thin(store.artifacts.get_outputs(result.outputs), samples))
        for result in results
        if result.key in outputs and result.outputs is not None
    }
    packed = {result.key for result in results}
    comparisons = [
        dataclasses.replace(each, keys=tuple(key for key in each.keys if key in packed))
        for each in reversed(store.comparisons())
    ]
    contents = {
        _FILES[0]: _lines(
            dataclasses.asdict(
                dataclasses.replace(result, outputs=thinned.get(result.key), weights=None)
            )
            for result in results
        ),
        _FILES[1]: _lines(dataclasses.asdict(each) for each in comparisons if each.keys),
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
    }
    with store.sentences():
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            (folder / name).write_bytes(content)
        (folder / "pack.json").write_text(
            json.dumps(json.loads(to_json(about)), indent=2, ensure_ascii=False) + "\n",
            encoding="utf-8",
        )
    return folder


def thin(outputs: Outputs, samples: int) -> Outputs:
    """Up to `samples` samples of each split: those with the lowest hash of their id, so that every
    run keeps the same ones.

    Confusion counts stay those of the whole split; features stay with the samples that have them,
    which come first.
    """
    return Outputs({name: _thin(split, samples) for name, split in outputs.items()})


def _thin(split: SplitOutputs, samples: int) -> SplitOutputs:
    # An odd multiplier scatters consecutive ids over the whole range: Knuth's multiplicative hash.
    order = np.argsort(
        (split.ids.astype(np.uint64) * np.uint64(11400714819323198485)) >> np.uint64(20),
        kind="stable",
    )
    with_features = len(split.features) if split.features is not None else 0
    first = order[order < with_features][:samples] if with_features else order[:samples]
    return dataclasses.replace(
        split,
        logits=split.logits[first],
        labels=split.labels[first],
        ids=split.ids[first],
        features=split.features[first] if split.features is not None else None,
    )


def open_pack(path: Path | str) -> Store:
    """A store in memory with the pack's content, everything marked `demo`; writing to it raises
    `StoreError`.

    Raises `BadFile` for a folder that is no pack, a damaged one, or one of a newer format.
    """
    folder = Path(path)
    about = pack_provenance(folder)
    contents = [list(_read(folder, name, about)) for name in _FILES]
    store = Store(folder, url="sqlite://")
    try:
        store.put_results(_result(line) for line in contents[0])
        for line in contents[1]:
            created = datetime.fromisoformat(line["created"])
            store.insert_comparison(
                line["name"], line["note"], line["grid"], line["keys"], created=created, demo=True
            )
    except (KeyError, TypeError, ValueError) as error:
        store.close()
        raise BadFile(
            f"The pack {folder} holds a record that this mucore cannot read: {error}. Make the "
            "pack again."
        ) from error
    store.make_read_only(
        "The demo results can only be read. Run a comparison of your own to have results that can "
        "be changed."
    )
    return store


def pack_provenance(path: Path | str) -> dict[str, Any]:
    """What `pack.json` says. Raises `BadFile`."""
    file = Path(path) / "pack.json"
    try:
        about = json.loads(file.read_text(encoding="utf-8"))
        number = int(about["format"])
    except FileNotFoundError:
        raise BadFile(f"{path} is no pack of results: it has no pack.json.") from None
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise BadFile(f"{file} cannot be read: {error}. Make the pack again.") from error
    if number > FORMAT:
        raise BadFile(
            f"The pack {path} is of format {number}; this mucore reads up to {FORMAT}. Update "
            "mucore."
        )
    return about


def _lines(records: Iterator[Mapping[str, Any]]) -> bytes:
    text = "".join(to_json(record) + "\n" for record in records)
    return gzip.compress(text.encode(), mtime=0)


def _read(folder: Path, name: str, about: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    try:
        content = (folder / name).read_bytes()
    except OSError as error:
        raise BadFile(
            f"The pack {folder} has no readable {name}: {error.strerror or error}."
        ) from error
    if hashlib.sha256(content).hexdigest() != about.get("sha256", {}).get(name):
        raise BadFile(
            f"{folder / name} is damaged: it does not match the hash in pack.json. Get the pack "
            "again."
        )
    for line in gzip.decompress(content).decode().splitlines():
        yield json.loads(line)


def _result(line: dict[str, Any]) -> Result:
    known = {field.name for field in dataclasses.fields(Result)}
    fields: dict[str, Any] = {name: value for name, value in line.items() if name in known} | {
        "demo": True
    }
    fields["metrics"] = {name: Measured(**measured) for name, measured in fields["metrics"].items()}
    for name in ("started", "finished"):
        fields[name] = datetime.fromisoformat(fields[name]) if fields.get(name) else None
    for name in ("losses", "notes", "flags"):
        fields[name] = tuple(fields.get(name, ()))
    return Result(**fields)
