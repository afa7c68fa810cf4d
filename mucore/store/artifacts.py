"""Heavy things as files: weights (safetensors), outputs (Parquet) and weights that the user gave
(as they were), named by their content.

A file is complete or absent. Its name is the hash of its bytes, so the same weights are kept once,
and damage is noticed when it is read. The row that names a file is written after it. Where the
files lie, in a folder or in an object store, is said in storage.py.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np

from mucore.catalog.cards import Task
from mucore.errors import BadFile, BadValue, ReadOnly, StoreError
from mucore.outputs import Outputs, SplitOutputs
from mucore.store.storage import MARK, Folder, Listed, Storage, Unreachable, mark_of
from mucore.store.transient_errors import patient

WEIGHTS, OUTPUTS, GIVEN = ".safetensors", ".parquet", ".given"
KINDS: Mapping[str, str] = {"weights": WEIGHTS, "outputs": OUTPUTS, "given": GIVEN}
# A file without a row may be one whose row is about to be written.
YOUNG_SECONDS = 3600.0
_META = b"mucore"


class MissingFile(BadFile):
    """An artifact that was removed; its place is there, but the file is not."""


class Artifacts:
    """The files in `storage`. `read_only` is the sentence that says why nothing can be written, if
    so; `mark` is what the storage's mark says, where it has to have one.
    """

    def __init__(self, storage: Storage | Path, *, read_only: str | None = None):
        self.storage: Storage = Folder(storage) if isinstance(storage, Path) else storage
        self.read_only = read_only
        self.mark = ""

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
        """Raises `MissingFile`, `BadFile` if the file is damaged, `StoreError` where the place
        cannot be reached now.
        """
        from safetensors import SafetensorError
        from safetensors.numpy import load

        try:
            return load(self._get(name, WEIGHTS))
        except SafetensorError as error:
            raise BadFile(
                f"{name} in {self.storage} is no readable safetensors file: {error}."
            ) from error

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
        """Raises as `get_arrays` does. Without `features`, most of a file, those are None."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        content = self._get(name, OUTPUTS)
        try:
            # which sample is of which split stands beside the table
            unread = {"split"} if features else {"split", "features"}
            columns = [name for name in _schema().names if name not in unread]
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
                f"{name} in {self.storage} does not hold the outputs of a model: {error}."
            ) from error

    def put_given(self, content: bytes) -> str:
        """Keep the content of a user's file as it is; returns its SHA-256. No sweep removes it:
        nobody could make it again.
        """
        self._put(content, GIVEN)
        return hashlib.sha256(content).hexdigest()

    def file(self, sha256: str) -> Path:
        """A file of this machine with the copy of a user's file. Raises `BadFile` where it is
        missing or damaged, `StoreError` where this machine has no room for a copy.
        """
        name = sha256[:32] + GIVEN
        try:
            self._get(name, GIVEN)
        except MissingFile as error:
            raise BadFile(
                f"The file with the hash {sha256[:12]} is not in {self.storage}. Launch the run "
                "again with the file's path."
            ) from error
        with self._reached():
            return self.storage.local(name)

    def content(self, name: str) -> bytes:
        """The bytes of an artifact's file. Raises `BadFile`."""
        return self._get(name, Path(_known(name)).suffix)

    @patient
    def exists(self, name: str) -> bool:
        """Raises `StoreError` where that cannot be told now."""
        with self._reached():
            return self.storage.exists(_known(name)) or self._lost()

    @patient
    def disk_use(self) -> dict[str, int]:
        """Bytes in the place, by kind: `weights`, `outputs`, `given`."""
        use = dict.fromkeys(KINDS, 0)
        kinds = {suffix: kind for kind, suffix in KINDS.items()}
        for one in self._listed():
            if (kind := kinds.get(Path(one.name).suffix)) is not None:
                use[kind] += one.size
        return use

    def sweep(
        self, keep: Collection[str], *, young_seconds: float = YOUNG_SECONDS
    ) -> tuple[int, int]:
        """Remove every file but those named in `keep` and those younger than `young_seconds`;
        returns (files, bytes) removed.
        """
        if self.read_only:
            raise ReadOnly(self.read_only)
        files = freed = 0
        latest = time.time() - young_seconds
        for one in self._listed():
            if not (one.name in keep or one.name.endswith(GIVEN) or one.modified > latest):
                try:
                    self.storage.remove(one.name)
                except FileNotFoundError:  # another process sweeps too
                    continue
                files, freed = files + 1, freed + one.size
        return files, freed

    def _listed(self) -> list[Listed]:
        with self._reached():
            return [one for one in self.storage.files() if _is_known(one.name)]

    @patient
    def _put(self, content: bytes, suffix: str) -> str:
        if self.read_only:
            raise ReadOnly(self.read_only)
        name = _digest(content) + suffix
        with self._reached():
            # also what is there: it is young again then, as its new row may not be written yet
            self.storage.write(name, content)
        return name

    @patient
    def _get(self, name: str, suffix: str) -> bytes:
        if Path(_known(name)).suffix != suffix:
            raise BadFile(f"{name} is of another kind; a file {suffix} was expected.")
        with self._reached():
            try:
                content = self.storage.read(name)
                if _digest(content) != Path(name).stem and self.storage.drop_copy(name):
                    content = self.storage.read(name)
            except FileNotFoundError:
                self._lost()
                raise MissingFile(
                    f"The artifact {name} is not in {self.storage}: it was removed to save space. "
                    "Run the job again to get it."
                ) from None
        if _digest(content) != Path(name).stem:
            raise BadFile(
                f"The artifact {name} in {self.storage} is damaged: its content does not match its "
                "name. Delete the file and run the job again."
            )
        return content

    def _lost(self) -> Literal[False]:
        """Raise `Unreachable` where a file is missing because its storage is: a folder that is not
        mounted now, say.
        """
        if self.mark and mark_of(self.storage) != self.mark:
            raise Unreachable(f"{MARK} does not say {self.mark} there")
        return False

    @contextmanager
    def _reached(self) -> Generator[None]:
        """Raise `StoreError` for what the storage raises inside."""
        try:
            yield
        except OSError as error:
            raise StoreError(
                f"The files in {self.storage} cannot be used: {error}. Check the space that is "
                "left, the network, and the address in MUCORE_ARTIFACTS."
            ) from error


def _known(name: str) -> str:
    """The name, if it is an artifact's. Raises `BadFile`."""
    if not _is_known(name):
        raise BadFile(f"{name!r} is no artifact's name; those look like 0123456789abcdef{WEIGHTS}.")
    return name


def _is_known(name: str) -> bool:
    stem, dot, suffix = name.partition(".")
    return stem.isalnum() and dot + suffix in KINDS.values()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


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


def _dense(stored: Mapping[str, Sequence[int]]) -> np.ndarray:
    counts = np.zeros(stored["shape"], dtype=np.int64)
    counts.flat[stored["at"]] = stored["counts"]
    return counts


def _flat(column: Any, kind: Any) -> np.ndarray:
    return column.combine_chunks().flatten().to_numpy(zero_copy_only=False).astype(kind, copy=False)
