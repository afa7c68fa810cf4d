"""Whole files or none (mucore/files.py)."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mucore.errors import StoreError
from mucore.files import remove_left_over, temporary_folder, whole_file, write


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


def test_parts_of_writers_that_are_gone_are_removed_and_those_in_use_are_not(
    tmp_path: Path,
) -> None:
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom mucore.files import whole_file\n"
        "with whole_file(Path(sys.argv[1])) as part:\n"
        "    part.write_bytes(b'half')\n    print(part, flush=True)\n    os._exit(9)"
    )
    place = tmp_path / "artifacts" / "ab" / "weights"
    ended = subprocess.run([sys.executable, "-c", code, str(place)], capture_output=True, text=True)
    gone = Path(ended.stdout.strip())
    assert gone.exists() and gone.parent == place.parent
    with whole_file(tmp_path / "mine") as mine:
        _aged(mine, 400)
        fresh = tmp_path / f".0123abcd.{os.getpid()}.0123{mine.suffix}"
        others = [_aged(fresh, 6), _aged(tmp_path / ".0123.part", 6)]
        assert remove_left_over(tmp_path) == []  # all are young, or of this process
        old = [_aged(gone, 1), _aged(others[0], 8), _aged(others[1], 8)]
        assert sorted(remove_left_over(tmp_path)) == sorted(old)
        assert mine.exists()


def test_what_is_no_part_stays(tmp_path: Path) -> None:
    kept = _aged(tmp_path / "thesis.part", 400)
    assert remove_left_over(tmp_path) == [] and kept.exists()
    assert remove_left_over(tmp_path / "nowhere") == []


def test_a_temporary_folder_goes_with_its_block_and_those_of_killed_processes_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code = (
        "import os, tempfile\nfrom mucore.files import temporary_folder\n"
        f"tempfile.tempdir = {str(tmp_path)!r}\n"
        "with temporary_folder('stage') as path:\n"
        "    (path / 'store').write_text('half')\n    os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    (left,) = tmp_path.iterdir()
    assert [each.name for each in left.iterdir()] == ["store"]
    with temporary_folder("stage") as mine, temporary_folder("stage") as other:
        # the second one leaves the first alone, for its process is alive
        assert {*tmp_path.iterdir()} == {mine, other}
    assert list(tmp_path.iterdir()) == []
