"""Lists of ids as people bring them, and exact copies that a forget set leaves behind."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import numpy as np
import pytest

from mucore import forget_sets
from mucore.errors import BadFile
from mucore.forget_sets import Copies, Listed, find_copies, read_list, sift


def archive(**arrays: Any) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"id\n5\n-2\n5\n",
        b"\xef\xbb\xbfid\r\n5\r\n-2\r\n5\r\n",
        b"name, ID ,age\nx,5,1\ny,-2,2\nz, 5,3\n",
        b"5, -2; 5",
        b"5\n-2\t5\n",
        archive(ids=np.array([5, -2, 5], np.int32)),
        archive(whatever=np.array([5, -2, 5])),
        archive(ids=np.array([5, -2, 5]), other=np.zeros((3, 3))),
    ],
)
def test_a_list_is_read_in_whatever_form_it_comes(content: bytes):
    assert read_list(content, name="mine") == Listed([5, -2, 5])


def test_a_saved_set_is_a_list():
    saved = forget_sets.to_json(forget_sets.make("digits", [5, 2], name="a"))
    assert read_list(saved, name="a.json") == Listed([2, 5])


@pytest.mark.parametrize(
    ("content", "numbers"),
    [
        (b"4-8", [4, 5, 6, 7, 8]),
        ("1, 4\u20136;9-9\n2".encode(), [1, 4, 5, 6, 9, 2]),
        (b"id\n4-6\n1\n", [4, 5, 6, 1]),
        (b"-2 3", [-2, 3]),  # a sign, and no range
    ],
)
def test_a_range_stands_for_its_numbers(content: bytes, numbers: list[int]):
    assert read_list(content, name="mine") == Listed(numbers)


@pytest.mark.parametrize(
    ("content", "numbers", "places"),
    [
        (b"id\n3\nfour\n5\n", [3, 5], ["Line 3 of mine holds 'four'."]),
        (b"id,age\n3,1\n,2\n", [3], ["Line 3 of mine holds ''."]),
        (b"3\n4.5 7\n", [3, 7], ["Line 2 of mine holds '4.5'."]),
        (b"3\n8-4\n--5\n1-2-3\n", [3], ["'8-4', which counts down.", "'--5'.", "'1-2-3'."]),
        ("3 \u0663".encode(), [3], ["Line 1 of mine holds '\u0663'."]),
    ],
)
def test_a_bad_place_is_named_and_the_rest_is_read(
    content: bytes, numbers: list[int], places: list[str]
):
    found = read_list(content, name="mine")
    assert found.numbers == numbers and len(found.bad) == len(places)
    assert all(place in told for place, told in zip(places, found.sentences, strict=True))


def test_many_bad_places_are_counted():
    found = read_list(b"3 " + b"x " * 12, name="mine")
    assert found.numbers == [3] and len(found.bad) == 12
    assert len(found.sentences) == 6 and found.sentences[-1].startswith("7 more")


def test_a_range_of_too_many_is_not_written_out():
    with pytest.raises(BadFile, match="at most 10,000,000"):
        read_list(b"0-99999999999", name="mine")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "holds no id"),
        (b"number\n3\n", "no column `id`"),
        (b"id\nfour\n", "line 2 of mine holds 'four'"),
        (b"8-4", "counts down"),
        (b"\x80\x04\x95", "neither text nor an npz"),
        (b"{}", "no forget set"),
        (b"PK\x03\x04 torn", "cannot be read"),
        (archive(ids=np.array([5, object()], object)), "cannot be read"),
        (archive(ids=np.zeros((2, 2), np.int64)), "int64 \\[2, 2\\]"),
        (archive(ids=np.zeros(2)), "float64"),
        (archive(a=np.zeros(2), b=np.zeros(2)), "several arrays"),
    ],
)
def test_what_is_no_list_is_a_sentence(content: bytes, sentence: str):
    with pytest.raises(BadFile, match=sentence):
        read_list(content, name="mine")


def test_an_archive_that_unpacks_to_gigabytes_is_not_unpacked():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("ids.npy", bytes(90_000_000))
    with pytest.raises(BadFile, match="unpacks to 90 MB"):
        read_list(stream.getvalue(), name="bomb.npz")


def test_numbers_are_sifted_by_what_there_is():
    found = sift([7, 3, -1, 3, 12, 7, 12, -1, 0], np.arange(10))
    assert found.ids.tolist() == [0, 3, 7]
    assert (found.unknown, found.negative, found.repeated) == ((12,), (-1,), (7, 3, -1, 12))
    assert found.sentences == [
        "1 is no training sample of this data set and left out: 12.",
        "1 is negative and left out, for ids count from 0: -1.",
        "4 are named more than once and counted once: 7, 3, -1, 12.",
    ]
    assert sift([3, 7], np.arange(10)).sentences == []
    assert sift([], np.arange(10)).ids.tolist() == []
    assert (
        sift(range(100, 107), np.arange(10))
        .sentences[0]
        .endswith("left out: 100, 101, 102, 103, 104, ....")
    )


def as_lists(found: Copies) -> tuple[Any, ...]:
    return found.forgotten.tolist(), found.twins.tolist(), found.doubles.tolist(), found.groups


def test_twins_and_doubles_by_hand():
    # images: a a b b b c d d; ids stand in another order than the samples
    digests, ids = np.array([1, 1, 2, 2, 2, 3, 4, 4]), np.array([10, 3, 5, 8, 6, 1, 20, 21])
    found = find_copies(digests, ids, np.array([3, 5, 6, 20, 21]))
    assert as_lists(found) == ([3, 5, 6], [8, 10], [5, 6, 20, 21], (((3,), (10,)), ((5, 6), (8,))))
    assert as_lists(find_copies(digests, ids, np.union1d([3, 5, 6, 20, 21], found.twins)))[:2] == (
        [],
        [],
    )
    assert as_lists(find_copies(digests, ids, np.array([1]))) == ([], [], [], ())
    assert as_lists(find_copies(digests, ids, np.empty(0, np.int64))) == ([], [], [], ())


def test_twins_of_a_large_set_are_those_that_counting_finds():
    rng = np.random.default_rng(0)
    digests, ids = rng.integers(0, 400, 1000).astype(np.uint64), np.arange(1000)
    forget = np.sort(rng.permutation(1000)[:150])
    found = find_copies(digests, ids, forget)
    gone = set(forget.tolist())
    stays = {int(digests[each]) for each in ids if each not in gone}
    goes = {int(digests[each]) for each in gone}
    assert found.forgotten.tolist() == [
        each for each in sorted(gone) if int(digests[each]) in stays
    ]
    assert found.twins.tolist() == [
        each for each in range(1000) if each not in gone and int(digests[each]) in goes
    ]
