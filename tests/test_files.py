"""Whole files or none (mucore/files.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

from mucore.errors import StoreError
from mucore.files import whole_file, write


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
