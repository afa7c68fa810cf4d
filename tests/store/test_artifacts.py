"""Files of weights and outputs: exact, shared, complete or absent, and removed only when nothing
needs them.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest
from builders import make_model, make_outputs, make_result, make_spec_row
from hypothesis import given, settings
from hypothesis import strategies as st

from mucore.errors import BadFile, BadValue, StoreError
from mucore.outputs import Outputs, SplitOutputs
from mucore.runs import RunSpec
from mucore.store import REMOVAL, Artifacts, Store, open_store
from mucore.store.storage import Folder


@pytest.fixture
def artifacts(tmp_path: Path) -> Artifacts:
    return Artifacts(tmp_path / "artifacts")


def _folder(artifacts: Artifacts) -> Path:
    assert isinstance(artifacts.storage, Folder)
    return artifacts.storage.path


def _same(first: Outputs, second: Outputs) -> None:
    assert list(first) == list(second)
    for name, split in first.items():
        other = second[name]
        for field in ("logits", "labels", "ids", "confusion"):
            left, right = getattr(split, field), getattr(other, field)
            np.testing.assert_array_equal(left, right)
            assert left.dtype == right.dtype and left.shape == right.shape
        if split.features is None:
            assert other.features is None
        else:
            assert other.features is not None and other.features.dtype == np.float16
            np.testing.assert_array_equal(split.features, other.features)


def test_arrays_come_back_as_they_went_in(artifacts: Artifacts) -> None:
    arrays = {
        "weight": np.arange(6, dtype=np.float32).reshape(2, 3).T,  # not contiguous
        "count": np.array(7, dtype=np.int64),
        "empty": np.empty((0, 4), np.float16),
        "nan": np.array([np.nan, np.inf]),
    }
    name = artifacts.put_arrays(arrays)
    found = artifacts.get_arrays(name)
    assert set(found) == set(arrays)
    for key, array in arrays.items():
        np.testing.assert_array_equal(found[key], array)
        assert found[key].dtype == array.dtype and found[key].shape == array.shape


@settings(max_examples=25, deadline=None)
@given(
    samples=st.lists(st.integers(0, 9), min_size=1, max_size=4),
    classes=st.integers(2, 5),
    kept=st.sampled_from(["none", "some", "all"]),
    width=st.integers(1, 4),
    seed=st.integers(0, 10),
)
def test_outputs_come_back_as_they_went_in(
    tmp_path_factory: pytest.TempPathFactory,
    samples: list[int],
    classes: int,
    kept: str,
    width: int,
    seed: int,
) -> None:
    artifacts = Artifacts(tmp_path_factory.getbasetemp() / "outputs")
    generator = np.random.default_rng(seed)
    splits: dict[str, SplitOutputs] = {}
    for number, count in enumerate(samples):
        rows = {"none": None, "some": count // 2, "all": count}[kept]
        splits[f"split {number}"] = SplitOutputs(
            logits=generator.normal(size=(count, classes)).astype(np.float32),
            labels=generator.integers(0, classes, count),
            ids=generator.integers(0, 2**40, count),
            # some are zero
            confusion=generator.integers(0, 10**9, (classes, classes))
            * generator.integers(0, 2, (classes, classes)),
            features=None
            if rows is None
            else generator.normal(size=(rows, width)).astype(np.float16),
        )
    outputs = Outputs(splits)
    _same(outputs, artifacts.get_outputs(artifacts.put_outputs(outputs)))


def test_the_same_content_is_kept_once(artifacts: Artifacts) -> None:
    first = artifacts.put_outputs(make_outputs(0))
    assert artifacts.put_outputs(make_outputs(0)) == first != artifacts.put_outputs(make_outputs(1))
    assert len(list(_folder(artifacts).glob("*/*"))) == 2
    use = artifacts.disk_use()
    assert use["weights"] == 0 and use["outputs"] == sum(
        path.stat().st_size for path in _folder(artifacts).glob("*/*")
    )


def test_a_missing_file(artifacts: Artifacts) -> None:
    name = artifacts.put_arrays({"w": np.zeros(3)})
    artifacts.storage.local(name).unlink()
    assert not artifacts.exists(name)
    with pytest.raises(BadFile, match="removed to save space"):
        artifacts.get_arrays(name)


@pytest.mark.parametrize("damage", ["cut", "flip", "empty"])
def test_a_damaged_file(artifacts: Artifacts, damage: str) -> None:
    for name, get in (
        (artifacts.put_arrays({"w": np.arange(50.0)}), artifacts.get_arrays),
        (artifacts.put_outputs(make_outputs()), artifacts.get_outputs),
    ):
        path = artifacts.storage.local(name)
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes({"cut": content[:-5], "flip": content, "empty": b""}[damage])
        with pytest.raises(BadFile, match="damaged.*Delete the file"):
            get(name)


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b.parquet", "", "abc.txt"])
def test_a_name_that_is_none(artifacts: Artifacts, name: str) -> None:
    with pytest.raises(BadFile, match="no artifact's name"):
        artifacts.get_outputs(name)


def test_a_full_disk_leaves_no_half_file(
    artifacts: Artifacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_number: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match="No space left"):
            artifacts.put_arrays({"w": np.zeros(10)})
    assert list(_folder(artifacts).glob("*/*")) == []
    assert artifacts.get_arrays(artifacts.put_arrays({"w": np.zeros(10)}))["w"].shape == (10,)


# -- garbage collection


@pytest.fixture
def home(tmp_path: Path):
    with open_store(tmp_path) as store:
        yield store


def _put(store: Store, spec: RunSpec, number: int) -> dict[str, str]:
    """A result and a model with files of their own."""
    weights = store.artifacts.put_arrays({"w": np.full(4, float(number))})
    outputs = store.artifacts.put_outputs(make_outputs(number))
    store.put_result(make_result(spec, weights=weights, outputs=outputs))
    store.put_model(make_model(spec.model_key, weights=weights))
    return {"weights": weights, "outputs": outputs}


def _files(store: Store) -> set[str]:
    return {path.name for path in _folder(store.artifacts).glob("*/*")}


def test_gc_all_removes_what_no_record_names(home: Store) -> None:
    kept = _put(home, make_spec_row(), 0)
    orphan = home.artifacts.put_arrays({"w": np.zeros(1)})
    young = home.gc("all")
    # its record may be on its way
    assert young == {"files": 0, "bytes": 0} and orphan in _files(home)
    bytes_before = sum(home.artifacts.disk_use().values())
    done = home.gc("all", young_seconds=-1)
    assert (
        done["files"] == 1
        and bytes_before - sum(home.artifacts.disk_use().values()) == done["bytes"] > 0
    )
    assert _files(home) == set(kept.values())
    mine = _folder(home.artifacts) / "no" / "notes.txt"  # no artifact
    mine.parent.mkdir()
    mine.write_text("dear")
    (home.home / "checkpoints" / "folder").mkdir(parents=True)
    assert home.gc("all", young_seconds=-1) == {"files": 0, "bytes": 0} and mine.exists()


def test_gc_by_policy(home: Store) -> None:
    spec = make_spec_row()
    original, retrain, method = (
        _put(home, each, number)
        for number, each in enumerate((spec.original(), spec.retrained(), spec))
    )
    numbers = home.metric_values()
    home.gc("outputs", young_seconds=-1)
    assert _files(home) == {*original.values(), *retrain.values(), method["outputs"]}
    found = home.get_result(spec.key)
    model = home.get_model(spec.model_key)
    assert found is not None and found.weights is None and found.outputs == method["outputs"]
    assert model is not None and model.weights is None
    reference = home.get_model(spec.original().model_key)
    assert reference is not None and reference.weights == original["weights"]
    home.gc("numbers", young_seconds=-1)
    assert _files(home) == set()
    assert all(result.weights is None and result.outputs is None for result in home.results())
    assert home.metric_values().equals(numbers) and len(home.results()) == 3
    with pytest.raises(BadValue, match="all, outputs or numbers"):
        home.gc("nothing")  # ty: ignore[invalid-argument-type]


def test_the_state_of_an_unfinished_training_goes_while_nothing_is_queued(home: Store) -> None:
    unfinished = home.home / "checkpoints" / "0123.safetensors"
    unfinished.parent.mkdir(exist_ok=True)
    unfinished.write_bytes(b"half a training")
    (job,) = home.enqueue([make_spec_row()])
    assert home.gc("all", young_seconds=-1)["files"] == 0 and unfinished.exists()
    home.cancel(job.id)
    assert home.gc("all")["files"] == 0  # young: a training outside the job table may be at it
    assert home.gc("all", young_seconds=-1) == {"files": 1, "bytes": 15} and not unfinished.exists()


def test_gc_keeps_what_references_have_while_a_job_waits(home: Store) -> None:
    spec = make_spec_row()
    needed = [_put(home, spec.original(), 0), _put(home, spec.retrained(), 1)]
    _put(home, spec, 2)
    (job,) = home.enqueue([make_spec_row(unlearning_seed=1)])
    home.gc("numbers", young_seconds=-1)
    assert _files(home) == {name for files in needed for name in files.values()}
    model = home.get_model(spec.original().model_key)
    assert model is not None and model.weights == needed[0]["weights"]
    home.cancel(job.id)
    home.gc("numbers", young_seconds=-1)
    assert _files(home) == set()


def test_disk_use_counts_everything_in_the_home_once(home: Store) -> None:
    _put(home, make_spec_row(), 0)
    files = {
        "logs/job-1.log": "12345",
        "analyses/a.npz": "123",
        "packs/0123/analyses/b.json": "1234",
        "quality/c.json": "12",
        "uploads/d.npz": "123",
        "forget_sets/mine.json": "1234",
        "data/mnist/train.bin": "1234567",
        "app-8501.json": "1",
        "mine/notes/plan.txt": "123456",
        "artifacts/ab/.123.part": "12345678",
    }
    for name, text in files.items():
        (home.home / name).parent.mkdir(parents=True, exist_ok=True)
        (home.home / name).write_text(text)
    use = home.disk_use()
    assert use["database"] > 0 and use["weights"] > 0 and use["outputs"] > 0
    expected = {
        "given": 0,
        "checkpoints": 0,
        "logs": 5,
        "analyses": 3,
        "packs": 4,
        "quality": 2,
        "uploads": 3,
        "data": 7,
        "other": 15,
        "forget_sets": 4,
    }
    assert {kind: use[kind] for kind in expected} == expected
    assert use.keys() == REMOVAL.keys() and all(REMOVAL.values())
    assert sum(use.values()) == sum(
        path.stat().st_size for path in home.home.rglob("*") if path.is_file()
    )
