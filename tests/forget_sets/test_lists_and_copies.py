"""Lists of samples as tools write them, and exact copies that a forget set leaves behind."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from mucore.errors import BadFile
from mucore.forget_sets import lists, saved
from mucore.forget_sets.identity import twins
from mucore.forget_sets.lists import read_list

FOUR = [45, 17, 203, 88]
MASK = np.isin(np.arange(300), FOUR)


def written(write: Callable[[io.BytesIO], Any]) -> bytes:
    stream = io.BytesIO()
    write(stream)
    return stream.getvalue()


def npz(**arrays: Any) -> bytes:
    return written(lambda stream: np.savez(stream, **arrays))


def npy(array: np.ndarray) -> bytes:
    return written(lambda stream: np.save(stream, array, allow_pickle=True))


def table(**columns: Any) -> bytes:
    return pd.DataFrame(columns).to_csv(index=False).encode()


RIGHT: dict[str, bytes] = {
    "a table": table(id=FOUR),
    "a column of a table": table(name=[*"wxyz"], id=FOUR, label=[1, 2, 3, 4]),
    "a column called row": table(row=FOUR),
    "Id, with blanks": b"name, ID ,age\nx,45,1\ny,17,2\nz, 203,3\nq,88,3\n",
    "marks and line ends of Windows": b"\xef\xbb\xbfid\r\n45\r\n17\r\n203\r\n88\r\n",
    "line ends of old Macs": b"id\r45\r17\r203\r88\r",
    "semicolons": b"id;label\n45;1\n17;2\n203;3\n88;4\n",
    "tabs": b"id\tlabel\n45\t1\n17\t2\n203\t3\n88\t4\n",
    "UTF-16 of Excel": "id\n45\n17\n203\n88\n".encode("utf-16"),
    "floats": b"45.0\n17.0\n203.0\n88.0\n",
    "floats of a table": table(id=[45.0, 17.0, 203.0, 88.0]),
    "savetxt": written(lambda stream: np.savetxt(stream, np.array(FOUR))),
    "savetxt with a head": written(
        lambda stream: np.savetxt(stream, np.array(FOUR), fmt="%d", header="4 ids")
    ),
    "one a line": b"45\n17\n203\n88\n",
    "one line": b"45 17 203 88",
    "one line with commas": b" 45, 17;203,\t88,",
    "a JSON list": json.dumps(FOUR).encode(),
    "a JSON list over lines": json.dumps(FOUR, indent=1).encode(),
    "a JSON mapping": json.dumps({"ids": FOUR}).encode(),
    "npz": npz(ids=np.array(FOUR, np.int32)),
    "npz of one array": npz(forget=np.array(FOUR)),
    "npz of several": npz(ids=np.array(FOUR), labels=np.zeros((3, 3))),
    "npz of floats": npz(ids=np.array(FOUR, float)),
    "npy": npy(np.array(FOUR)),
    "a tensor": written(lambda stream: torch.save(torch.tensor(FOUR), stream)),
}
WRONG: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "names no sample"),
    "a head alone": (b"id\n", "names no sample"),
    "an index column": (pd.Series(FOUR).to_csv().encode(), "no column `id`"),
    "labels without a head": (b"45,1\n17,2\n203,3\n88,4\n", "several cells a line"),
    "an open quote": (b'45\n"17\n' + b"203\n" * 60_000, "is no table"),
    "deep JSON": (b"[" * 100_000, "no JSON"),
    "a mapping of tensors": (
        written(lambda stream: torch.save({"ids": torch.tensor(FOUR)}, stream)),
        "dict, not a tensor",
    ),
    "decimal commas": (b"45,0\n17,0\n", "several cells a line"),
    "thousands": (b"id\n1,045\n1,017\n", "2 cells in line 2 under 1 name"),
    "another head": (b"number\n45\n17\n", "'number'"),
    "a gap": (table(id=[45, 17, None, 88]), "''"),
    "a torn JSON list": (b"[45, 17", "no JSON"),
    "nested JSON": (b"[[45, 17]]", "'\\[45, 17\\]'"),
    "true": (b"[true, false]", "'True'"),
    "halves": (b"45.5\n17\n", "'45.5'"),
    "signs": (b"-1\n45", "'-1'"),
    "words": (b"id\n3\nfour\n5\n", "'four'"),
    "counting down": (b"8-4", "'8-4'"),
    "too many": (b"0-99999999999", "100,000,000,000 numbers"),
    "0 and 1 as text": (b"\n".join(b"%d" % bit for bit in MASK), "0 and 1 alone"),
    "0 and 1 as integers": (npz(ids=MASK.astype(int)), "0 and 1 alone"),
    "an empty mask": (npy(np.zeros(5, bool)), "names no sample"),
    "several arrays": (npz(retain=np.arange(3), forget=np.array(FOUR)), "several arrays"),
    "two axes": (npz(ids=np.zeros((2, 2), np.int64)), "shape"),
    "objects": (npy(np.array([5, object()], object)), "cannot be read"),
    "objects in an archive": (npz(ids=np.array([5, {}], object)), "cannot be read"),
    "a pickle": (b"\x80\x04\x95", "no text"),
    "a torn archive": (b"PK\x03\x04 torn", "cannot be read"),
    "times": (npy(np.array(["2020-01-01"], "datetime64[D]")), "datetime64"),
}


@pytest.mark.parametrize("content", RIGHT.values(), ids=RIGHT.keys())
def test_a_list_is_read_in_whatever_form_it_comes(content: bytes):
    found = read_list(content, name="mine")
    assert [*found.numbers] == FOUR and (found.files, found.length) == ((), None)


@pytest.mark.parametrize(("content", "reason"), WRONG.values(), ids=WRONG.keys())
def test_what_is_no_list_is_refused_whole(content: bytes, reason: str):
    with pytest.raises(BadFile, match=reason) as refused:
        read_list(content, name="mine")
    assert "mine" in str(refused.value) and len(str(refused.value)) < 500


def test_a_long_line_is_a_list_too():
    found = read_list(" ".join(map(str, range(50_000))).encode(), name="mine")
    assert found.numbers == tuple(range(50_000))


def test_a_mask_keeps_its_length():
    for content in (npy(MASK), npz(ids=MASK)):
        found = read_list(content, name="mine")
        assert found.numbers == tuple(sorted(FOUR)) and found.length == 300


@pytest.mark.parametrize(
    ("content", "numbers"),
    [
        (b"4-8", [4, 5, 6, 7, 8]),
        ("1\n4\u20136\n9-9\n2".encode(), [1, 4, 5, 6, 9, 2]),
        (b"id\n4-6\n1\n", [4, 5, 6, 1]),
        (b"7, 7", [7, 7]),  # told by who knows the samples
    ],
)
def test_a_range_stands_for_its_numbers(content: bytes, numbers: list[int]):
    assert [*read_list(content, name="mine").numbers] == numbers


def test_files_are_named_by_their_paths():
    for content in (
        b"file,label\ntrain/a/1.png,0\ntrain\\b\\2.JPG,1\n",
        b"train/a/1.png\ntrain/b/2.JPG",
    ):
        assert read_list(content, name="mine").files == ("train/a/1.png", "train/b/2.JPG")
    with pytest.raises(BadFile, match="'train/a/1.png'"):
        read_list(b"train/a/1.png\n17\n", name="mine")


def test_what_is_written_is_read_again():
    assert read_list(lists.to_csv([7, 3, 5]), name="mine").numbers == (3, 5, 7)


def test_a_saved_set_is_a_list():
    content = saved.to_json(saved.make("digits", [5, 2], name="a"))
    found = read_list(content, name="a.json")
    assert found.numbers == (2, 5) and found.saved is not None and found.saved.dataset == "digits"


def test_an_archive_that_unpacks_to_gigabytes_is_not_unpacked():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("ids.npy", bytes(90_000_000))
    with pytest.raises(BadFile, match="unpacks to 90 MB"):
        read_list(stream.getvalue(), name="bomb.npz")


def test_a_missing_file_or_a_folder_is_told(tmp_path):
    for path, reason in ((tmp_path / "none.csv", "No such file"), (tmp_path, "is no file")):
        with pytest.raises(BadFile, match=reason):
            lists.read_file(path)


def test_twins_by_hand():
    # images: a a b b b c d d; ids stand in another order than the samples
    digests, ids = np.array([1, 1, 2, 2, 2, 3, 4, 4]), np.array([10, 3, 5, 8, 6, 1, 20, 21])
    assert twins(digests, ids, np.array([3, 5, 6, 20, 21])).tolist() == [8, 10]
    assert not len(twins(digests, ids, np.array([1]))) and not len(twins(digests, ids, ids[:0]))


def test_twins_of_a_large_set_are_those_that_counting_finds():
    rng = np.random.default_rng(0)
    digests, ids = rng.integers(0, 400, 1000).astype(np.uint64), np.arange(1000)
    forget = np.sort(rng.permutation(1000)[:150])
    gone = set(forget.tolist())
    goes = {int(digests[each]) for each in gone}
    assert twins(digests, ids, forget).tolist() == [
        each for each in range(1000) if each not in gone and int(digests[each]) in goes
    ]
