"""Whole files or none (mucore/files.py)."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from mucore.errors import StoreError
from mucore.files import remove_left_over, whole_file, write


def test_what_was_written_takes_the_place_when_the_block_ends_well(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "numbers"
    for content in (b"first", b"second"):
        with whole_file(path) as temporary:
            temporary.write_bytes(content)
            assert content == b"first" or path.read_bytes() == b"first"
        assert path.read_bytes() == content
    assert [each.name for each in path.parent.iterdir()] == ["numbers"]


def test_what_was_there_stays_when_the_block_fails(tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    path.write_bytes(b"whole")
    with pytest.raises(OSError, match="full"), whole_file(path) as temporary:
        temporary.write_bytes(b"ha")
        raise OSError("the disk is full")
    assert path.read_bytes() == b"whole" and list(tmp_path.iterdir()) == [path]


def test_a_place_that_takes_no_files_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError, match="file/numbers could not be written"):
        write(tmp_path / "file" / "numbers", b"1")


def _aged(path: Path, days: float) -> Path:
    path.write_bytes(b"half")
    then = time.time() - days * 86400
    os.utime(path, (then, then))
    return path


def test_two_writers_of_one_file_have_a_part_each(tmp_path: Path) -> None:
    with whole_file(tmp_path / "x") as one, whole_file(tmp_path / "x") as other:
        assert one != other
        one.write_bytes(b"1")
        other.write_bytes(b"2")
    assert (tmp_path / "x").read_bytes() == b"1"


def test_parts_of_writers_that_are_gone_are_removed(tmp_path: Path) -> None:
    with whole_file(tmp_path / "artifacts" / "mine") as mine:
        mine.write_bytes(b"half")
        old = _aged(mine.with_name(".0123.part"), 2)
        assert remove_left_over(tmp_path) == [old]
        assert mine.exists() and not old.exists()


def test_what_is_no_part_stays(tmp_path: Path) -> None:
    kept = _aged(tmp_path / "thesis.part", 400)
    assert remove_left_over(tmp_path) == [] and kept.exists()
    assert remove_left_over(tmp_path / "nowhere") == []
