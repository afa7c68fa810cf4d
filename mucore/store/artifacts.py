"""Heavy things as files: weights (safetensors), outputs (Parquet) and weights that the user gave
(as they were), named by their content.

A file is complete or absent: it is written beside its place, flushed to the disk and moved there.
Its name is the hash of its bytes, so the same weights are kept once, and damage is noticed when it
is read. The row that names a file is written after it.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mucore.catalog.cards import Task
from mucore.errors import BadFile, BadValue, StoreError
from mucore.files import whole_file
from mucore.outputs import Outputs, SplitOutputs

WEIGHTS, OUTPUTS, GIVEN = ".safetensors", ".parquet", ".given"
KINDS: Mapping[str, str] = {"weights": WEIGHTS, "outputs": OUTPUTS, "given": GIVEN}
# A file without a row may be one whose row is about to be written.
YOUNG_SECONDS = 3600.0
_META = b"mucore"


def remove_old(paths: Iterable[Path], *, young_seconds: float) -> tuple[int, int]:
    """Remove those of `paths` that are older than `young_seconds`; returns (files, bytes)
    removed.
    """
    files = freed = 0
    latest = time.time() - young_seconds
    for path in paths:
        try:
            facts = path.stat()
            if facts.st_mtime > latest:
                continue
            path.unlink()
        except FileNotFoundError:  # another process sweeps too
            continue
        files, freed = files + 1, freed + facts.st_size
    return files, freed


class Artifacts:
    """The files under `folder`. `read_only` is the sentence that says why nothing can be written,
    if so.
    """

    def __init__(self, folder: Path, *, read_only: str | None = None):
        self.folder = folder
        self.read_only = read_only

    def put_arrays(self, arrays: Mapping[str, np.ndarray]) -> str:
        """Store named arrays of numbers (any shape); returns the artifact's name."""
        from safetensors.numpy import save

        for name, array in arrays.items():
            if array.dtype.kind not in "biuf":
                raise BadValue(
                    f"An artifact holds arrays of numbers, but {name} is of type {array.dtype}."
                )
        return self._put(
            save({name: np.asarray(array, order="C") for name, array in arrays.items()}), WEIGHTS
        )

    def get_arrays(self, name: str) -> dict[str, np.ndarray]:
        """Raises `BadFile` if the file is missing or damaged."""
        from safetensors import SafetensorError
        from safetensors.numpy import load

        try:
            return load(self._get(name, WEIGHTS))
        except SafetensorError as error:
            raise BadFile(f"{self.path(name)} is no readable safetensors file: {error}.") from error

    def put_outputs(self, outputs: Outputs) -> str:
        """Store the outputs of one model; returns the artifact's name. Logits keep float32,
        features float16.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        tables = [_split_table(name, split) for name, split in outputs.items()]
        about = {
            name: {
                "samples": len(split),
                "confusion": _sparse(split.confusion),
                "classes": int(split.logits.shape[1]),
                "features": None if split.features is None else list(split.features.shape),
            }
            for name, split in outputs.items()
        }
        table = pa.concat_tables(tables) if tables else _schema().empty_table()
        sink = pa.BufferOutputStream()
        pq.write_table(
            table.replace_schema_metadata({_META: json.dumps(about)}),
            sink,
            compression="zstd",
            use_dictionary=["split"],
            # numbers alike in their high bytes
            use_byte_stream_split=[f"{name}.list.element" for name in ("logits", "features")],
        )
        return self._put(sink.getvalue().to_pybytes(), OUTPUTS)

    def get_outputs(self, name: str, *, features: bool = True) -> Outputs:
        """Raises `BadFile` if the file is missing or damaged. Without `features`, most of a file,
        those are None.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        content = self._get(name, OUTPUTS)
        try:
            columns = None if features else [name for name in _schema().names if name != "features"]
            table = pq.read_table(pa.BufferReader(content), columns=columns)
            about = json.loads(table.schema.metadata[_META])
            starts = np.cumsum([0, *(facts["samples"] for facts in about.values())])
            return Outputs(
                {
                    name: _split(table.slice(int(start), facts["samples"]), facts)
                    for start, (name, facts) in zip(starts, about.items(), strict=False)
                }
            )
        except (pa.ArrowException, KeyError, TypeError, ValueError) as error:
            raise BadFile(
                f"{self.path(name)} does not hold the outputs of a model: {error}."
            ) from error

    def put_file(self, path: Path) -> str:
        """Keep a copy of a user's file as it is; returns the SHA-256 of its content. No sweep
        removes it: nobody could make it again.
        """
        try:
            content = path.read_bytes()
        except OSError as error:
            raise BadFile(f"{path} cannot be read: {error.strerror or error}.") from error
        return self.put_given(content)

    def put_given(self, content: bytes) -> str:
        """Keep the content of a user's file as it is, as `put_file` does; returns its SHA-256."""
        self._put(content, GIVEN)
        return hashlib.sha256(content).hexdigest()

    def file(self, sha256: str) -> Path:
        """Where the copy of a user's file lies. Raises `BadFile` where it is missing or damaged."""
        name = sha256[:32] + GIVEN
        if not self.exists(name):
            raise BadFile(
                f"The file with the hash {sha256[:12]} is not in {self.folder}. Launch the run "
                "again with the file's path."
            )
        self._get(name, GIVEN)
        return self.path(name)

    def path(self, name: str) -> Path:
        """Where the file of an artifact lies, whether it exists or not. Raises `BadFile` for a name
        that is none.
        """
        stem, dot, suffix = name.partition(".")
        if not stem.isalnum() or dot + suffix not in KINDS.values():
            raise BadFile(
                f"{name!r} is no artifact's name; those look like 0123456789abcdef{WEIGHTS}."
            )
        return self.folder / name[:2] / name

    def exists(self, name: str) -> bool:
        return self.path(name).is_file()

    def disk_use(self) -> dict[str, int]:
        """Bytes on disk, by kind: `weights`, `outputs`, `given`."""
        return {
            kind: sum(size(path) for path in self.folder.glob(f"*/*{suffix}"))
            for kind, suffix in KINDS.items()
        }

    def sweep(
        self, keep: Collection[str], *, young_seconds: float = YOUNG_SECONDS
    ) -> tuple[int, int]:
        """Remove every file but those named in `keep` and those younger than `young_seconds`;
        returns (files, bytes) removed.
        """
        if self.read_only:
            raise StoreError(self.read_only)
        return remove_old(
            (
                path
                for path in self.folder.glob("*/*")
                if path.name not in keep and path.suffix != GIVEN
            ),
            young_seconds=young_seconds,
        )

    def _put(self, content: bytes, suffix: str) -> str:
        if self.read_only:
            raise StoreError(self.read_only)
        name = _digest(content) + suffix
        path = self.path(name)
        try:
            if size(path) == len(content):
                os.utime(path)  # young again: its new row may not be written yet
                return name
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, content)
        except OSError as error:
            raise StoreError(
                f"An artifact of {len(content) / 1e6:.1f} MB could not be written to "
                f"{self.folder}: {error.strerror or error}. Free some space, or choose another "
                "home with --home."
            ) from error
        return name

    def _get(self, name: str, suffix: str) -> bytes:
        path = self.path(name)
        if path.suffix != suffix:
            raise BadFile(f"{name} is of another kind; a file {suffix} was expected.")
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            raise BadFile(
                f"The artifact {name} is not in {self.folder}: it was removed to save space. Run "
                "the job again to get it."
            ) from None
        except OSError as error:
            raise BadFile(
                f"The artifact {path} cannot be read: {error.strerror or error}."
            ) from error
        if _digest(content) != path.stem:
            raise BadFile(
                f"The artifact {path} is damaged: its content does not match its name. Delete the "
                "file and run the job again."
            )
        return content


def size(path: Path) -> int:
    """Bytes of a file, 0 if there is none."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


def _write(path: Path, content: bytes) -> None:
    with whole_file(path) as temporary, temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    if os.name == "posix":  # the move itself must survive a power cut, too
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _schema(classes: int = 0, task: Task = "classes") -> Any:
    import pyarrow as pa

    return pa.schema(
        [
            ("split", pa.string()),
            ("id", pa.int64()),
            ("label", pa.int64() if task == "classes" else pa.list_(pa.int64(), classes)),
            ("logits", pa.list_(pa.float32(), classes)),
            ("features", pa.list_(pa.float16())),
        ]
    )


def _split_table(name: str, split: SplitOutputs) -> Any:
    """One row a sample; rows beyond the kept features have none."""
    import pyarrow as pa

    count, classes = split.logits.shape
    logits = pa.FixedSizeListArray.from_arrays(
        pa.array(np.ascontiguousarray(split.logits, np.float32).ravel()), classes
    )
    if split.features is None:
        features = pa.nulls(count, pa.list_(pa.float16()))
    else:
        kept, width = split.features.shape
        offsets = np.arange(count + 1, dtype=np.int32) * width
        offsets[kept:] = kept * width
        values = pa.array(np.ascontiguousarray(split.features, np.float16).ravel())
        features = pa.ListArray.from_arrays(
            pa.array(offsets), values, mask=pa.array(np.arange(count) >= kept)
        )
    labels = pa.array(split.labels.ravel(), pa.int64())
    if split.task == "attributes":
        labels = pa.FixedSizeListArray.from_arrays(labels, classes)
    columns = [
        pa.array([name] * count, pa.string()),
        pa.array(split.ids, pa.int64()),
        labels,
        logits,
        features,
    ]
    return pa.Table.from_arrays(columns, schema=_schema(classes, split.task))


def _split(table: Any, facts: Mapping[str, Any]) -> SplitOutputs:
    import pyarrow as pa

    shape = facts["features"] if "features" in table.column_names else None
    several = pa.types.is_fixed_size_list(table.schema.field("label").type)
    return SplitOutputs(
        logits=_flat(table["logits"], np.float32).reshape(table.num_rows, facts["classes"]),
        labels=_flat(table["label"], np.int64).reshape(table.num_rows, facts["classes"])
        if several
        else table["label"].to_numpy(),
        ids=table["id"].to_numpy(),
        confusion=_dense(facts["confusion"]),
        features=None if shape is None else _flat(table["features"], np.float16).reshape(shape),
    )


def _sparse(counts: np.ndarray) -> dict[str, list[int]]:
    """Confusion counts as those that are not zero: of 120 classes with few samples, nearly all
    are.
    """
    at = np.flatnonzero(counts)
    return {"shape": list(counts.shape), "at": at.tolist(), "counts": counts.ravel()[at].tolist()}


def _dense(stored: Mapping[str, Sequence[int]] | Sequence[Any]) -> np.ndarray:
    if not isinstance(stored, Mapping):  # files of earlier versions have all counts
        return np.array(stored, dtype=np.int64)
    counts = np.zeros(stored["shape"], dtype=np.int64)
    counts.flat[stored["at"]] = stored["counts"]
    return counts


def _flat(column: Any, kind: Any) -> np.ndarray:
    return column.combine_chunks().flatten().to_numpy(zero_copy_only=False).astype(kind, copy=False)
