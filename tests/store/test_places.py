"""A folder, an object store in memory and an S3 server keep files alike, and a database knows its
own place.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from builders import make_model
from s3 import running_s3

from mucore.errors import BadFile, MucoreError, StoreError
from mucore.store import Artifacts, open_store
from mucore.store.places import MARK, Elsewhere, Folder, Place, Unreachable, place_of

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
def place(url: str, tmp_path: Path) -> Place:
    return place_of(tmp_path / "home", url)


def test_a_file_comes_back_and_goes(place: Place) -> None:
    assert place.size(NAME) is None and place.mark() is None
    place.set_mark("12")
    assert place.mark() == "12" and list(place.files()) == []  # the mark is no file of the place
    with pytest.raises(FileNotFoundError):
        place.read(NAME)
    place.write(NAME, b"weights")
    assert place.read(NAME) == place.read(NAME, anew=True) == b"weights"
    assert place.size(NAME) == 7 and place.local(NAME).read_bytes() == b"weights"
    (one,) = place.files()
    assert (one.name, one.size) == (NAME, 7) and abs(one.modified - time.time()) < 100
    assert place.remove(one.at)
    place.remove(one.at)  # an object store does not say that it was gone already
    assert place.size(NAME) is None
    with pytest.raises(FileNotFoundError):
        place.read(NAME)


def test_a_second_machine_reads_what_the_first_wrote(url: str, tmp_path: Path) -> None:
    first, second = (Artifacts(place_of(tmp_path / name, url)) for name in ("one", "two"))
    name = first.put_arrays({"w": np.arange(4.0)})
    assert second.exists(name)
    np.testing.assert_array_equal(second.get_arrays(name)["w"], np.arange(4.0))
    assert second.disk_use() == {"weights": len(first.content(name)), "outputs": 0, "given": 0}
    assert first.sweep({name}, young_seconds=-1) == (0, 0)
    assert second.sweep(set(), young_seconds=3600) == (0, 0)
    assert second.sweep(set(), young_seconds=-1)[0] == 1
    with pytest.raises(BadFile):
        second.get_arrays(name)


def test_a_copy_serves_without_the_place_and_a_damaged_one_is_fetched_again(tmp_path: Path) -> None:
    place = place_of(tmp_path, f"memory://{uuid4().hex}")
    artifacts = Artifacts(place)
    name = artifacts.put_arrays({"w": np.arange(4.0)})
    place.local(name).write_bytes(b"damaged")
    np.testing.assert_array_equal(artifacts.get_arrays(name)["w"], np.arange(4.0))
    assert place.local(name).read_bytes() == artifacts.content(name)


def test_copies_that_were_not_used_for_longest_give_way(tmp_path: Path) -> None:
    place = Elsewhere(f"memory://{uuid4().hex}", tmp_path, limit=250)
    names = [f"{letter * 32}.parquet" for letter in "abc"]
    copies = Folder(tmp_path)
    for age, name in zip((300, 200), names, strict=False):
        place.write(name, bytes(100))
        then = time.time() - age
        os.utime(copies.local(name), (then, then))
    place.read(names[0])  # used: the other one is older now
    place.write(names[2], bytes(100))
    assert [copies.size(name) is not None for name in names] == [True, False, True]
    assert place.read(names[1]) == bytes(100)


def test_a_place_that_does_not_answer_is_not_a_missing_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = place_of(tmp_path, f"memory://{uuid4().hex}")
    assert isinstance(place, Elsewhere)
    artifacts = Artifacts(place)
    name = artifacts.put_arrays({"w": np.arange(4.0)})
    place.local(name).unlink()

    def fails(*_: object, **__: object) -> None:
        raise TimeoutError("no answer")

    for question in ("info", "cat_file", "find", "pipe_file"):
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
        place_of(tmp_path, address)


def test_a_secret_in_an_address_is_not_shown(tmp_path: Path) -> None:
    place = place_of(tmp_path, "memory://name:secret@bucket/prefix?token=secret")
    assert "secret" not in f"{place} {place.address(NAME)}"


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


@pytest.mark.slow
def test_a_database_of_an_earlier_version_takes_the_home_that_has_its_files(
    postgres_url: str, tmp_path: Path
) -> None:
    with open_store(tmp_path / "one", url=postgres_url) as store:
        weights = store.artifacts.put_arrays({"w": np.arange(4.0)})
        store.put_model(make_model("m", weights=weights))
        with store.write() as connection:
            connection.exec_driver_sql("DELETE FROM store_info WHERE name = 'files'")
        (tmp_path / "one" / "artifacts" / MARK).unlink()
    with pytest.raises(StoreError, match="--home"):
        open_store(tmp_path / "two", url=postgres_url)
    with open_store(tmp_path / "one", url=postgres_url) as store:
        assert store.artifacts.exists(weights)
        known = store.artifacts.place.mark()
    (tmp_path / "one" / "artifacts" / MARK).unlink()
    with pytest.raises(StoreError, match=str(known)):
        open_store(tmp_path / "one", url=postgres_url)
