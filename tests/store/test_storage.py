"""A folder, an object store in memory and an S3 server keep files alike, and a database knows its
own place.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from s3 import running_s3

from mucore.errors import BadFile, MucoreError, StoreError
from mucore.store import Artifacts, open_store
from mucore.store.storage import MARK, Elsewhere, Storage, Unreachable, storage_of

NAME, OTHER = "ab" * 16 + ".safetensors", "cd" * 16 + ".parquet"


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an empty bucket on a server of our own."""
    with running_s3(tmp_path_factory.mktemp("aws")):
        yield "s3://bucket"


@pytest.fixture(params=["folder", "memory", pytest.param("s3", marks=pytest.mark.slow)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty place."""
    if request.param == "folder":
        return f"file://{tmp_path}/shared"
    if request.param == "memory":
        return f"memory://{uuid4().hex}/some"
    return f"{request.getfixturevalue('s3')}/{uuid4().hex}"


@pytest.fixture
def place(url: str, tmp_path: Path) -> Storage:
    return storage_of(tmp_path / "home", url)


def test_a_file_comes_back_and_goes(place: Storage) -> None:
    assert not place.exists(NAME)
    place.write(MARK, b"12")
    assert place.read(MARK) == b"12" and list(place.files()) == []  # the mark is no artifact
    with pytest.raises(FileNotFoundError):
        place.read(NAME)
    place.write(NAME, b"weights")
    assert place.exists(NAME) and place.read(NAME) == place.local(NAME).read_bytes() == b"weights"
    (one,) = place.files()
    assert (one.name, one.size) == (NAME, 7) and abs(one.modified - time.time()) < 100
    place.remove(one.name)
    assert not place.exists(NAME)
    with pytest.raises(FileNotFoundError):
        place.read(NAME)


def test_a_second_machine_reads_what_the_first_wrote(url: str, tmp_path: Path) -> None:
    first, second = (Artifacts(storage_of(tmp_path / name, url)) for name in ("one", "two"))
    name = first.put_arrays({"w": np.arange(4.0)})
    assert second.exists(name)
    np.testing.assert_array_equal(second.get_arrays(name)["w"], np.arange(4.0))
    assert second.disk_use() == {"weights": len(first.content(name)), "outputs": 0, "given": 0}
    if isinstance(second.storage, Elsewhere):  # a damaged copy is fetched once more
        second.storage._copies.write(name, b"cut off")
        assert second.content(name) == first.content(name)
    assert first.sweep({name}, young_seconds=-1) == (0, 0)
    assert second.sweep(set(), young_seconds=3600) == (0, 0)
    assert second.sweep(set(), young_seconds=-1)[0] == 1
    with pytest.raises(BadFile):
        second.get_arrays(name)


def test_a_place_that_does_not_answer_is_not_a_missing_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = storage_of(tmp_path, f"memory://{uuid4().hex}")
    assert isinstance(place, Elsewhere)
    artifacts = Artifacts(place)
    name = artifacts.put_arrays({"w": np.arange(4.0)})

    def fails(*_: object, **__: object) -> None:
        raise TimeoutError("no answer")

    for question in ("exists", "cat_file", "find", "pipe_file"):
        monkeypatch.setattr(place._files, question, fails)
    for ask in (
        lambda: artifacts.exists(name),
        lambda: artifacts.get_arrays(name),
        lambda: artifacts.put_arrays({"w": np.arange(5.0)}),
        artifacts.disk_use,
    ):
        with pytest.raises(StoreError, match="no answer") as failed:
            ask()
        assert isinstance(failed.value.__cause__, Unreachable)


@pytest.mark.parametrize(
    "address", ["s3:/", "bucket/prefix", "file://host/folder", "nowhere://bucket"]
)
def test_an_address_that_is_none_is_refused(address: str, tmp_path: Path) -> None:
    with pytest.raises(MucoreError, match="MUCORE_ARTIFACTS"):
        storage_of(tmp_path, address)


def test_a_secret_in_an_address_is_not_shown(tmp_path: Path) -> None:
    place = storage_of(tmp_path, "memory://name:secret@bucket/prefix?token=secret")
    assert "secret" not in str(place)


# -- a database and its place


@pytest.mark.slow
def test_a_second_home_on_one_database_is_refused(postgres_url: str, tmp_path: Path) -> None:
    with open_store(tmp_path / "one", url=postgres_url):
        pass
    with pytest.raises(StoreError, match="--home"):
        open_store(tmp_path / "two", url=postgres_url)
    with open_store(tmp_path / "one", url=postgres_url):
        pass


@pytest.mark.slow
def test_two_homes_share_a_database_and_a_place(
    postgres_url: str, url: str, tmp_path: Path
) -> None:
    with (
        open_store(tmp_path / "one", url=postgres_url, artifacts=url) as first,
        open_store(tmp_path / "two", url=postgres_url, artifacts=url) as second,
    ):
        name = first.artifacts.put_arrays({"w": np.arange(4.0)})
        assert second.artifacts.exists(name)
    with pytest.raises(StoreError, match="MUCORE_ARTIFACTS"):
        open_store(tmp_path / "one", url=postgres_url)
    with pytest.raises(StoreError, match="MUCORE_ARTIFACTS"):
        open_store(tmp_path / "one", url=postgres_url, artifacts=f"memory://{uuid4().hex}")
