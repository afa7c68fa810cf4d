"""Saved forget sets: files that are whole or not there, names that are no paths, damage that is a
sentence.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from mucore.errors import BadFile, BadValue, StoreError, UnknownName
from mucore.files import write
from mucore.forget_sets import lists, saved
from mucore.forget_sets.saved import forget_hash

HASH = "ab" * 32


def threes(name: str = "threes") -> saved.NamedSet:
    return saved.make("digits", [9, 3, 3, 7], made=["Added 3 samples: by hand."], name=name)


def test_a_set_comes_back_as_it_was_saved(tmp_path: Path):
    made = threes()
    path = saved.save(tmp_path, made)
    found = saved.load(tmp_path, "threes")
    assert path == tmp_path / "forget_sets" / "threes.json"
    assert found.ids.tolist() == [3, 7, 9] and found.ids.dtype == np.int64
    assert (found.dataset, found.data_hash, found.made, found.created) == (
        "digits",
        "",
        ("Added 3 samples: by hand.",),
        made.created,
    )
    assert (
        found.hash == forget_hash([3, 7, 9])
        and found.created is not None
        and (datetime.now(UTC) - found.created).total_seconds() < 60
    )
    assert lists.read_file(path).numbers == (3, 7, 9), "the scenario `ids` reads the file"
    assert [each.name for each in path.parent.iterdir()] == ["threes.json"], (
        "nothing else is left lying about"
    )


@pytest.mark.parametrize(
    "name", ["", "../threes", "a/b", "a\\b", ".hidden", "a.", "ä", "x" * 61, "a\nb"]
)
def test_what_is_no_name_is_refused_with_the_rule(tmp_path: Path, name: str):
    for attempt in (
        lambda: saved.check_name(name),
        lambda: saved.load(tmp_path, name),
        lambda: saved.delete(tmp_path, name),
    ):
        with pytest.raises(BadValue, match="A name has 1 to 60 letters"):
            attempt()
    assert not list(tmp_path.rglob("*.json"))


def test_a_name_that_is_taken_is_replaced_only_on_request(tmp_path: Path):
    saved.save(tmp_path, threes())
    other = saved.make("digits", [1], name="threes")
    with pytest.raises(BadValue, match="already"):
        saved.save(tmp_path, other)
    assert saved.load(tmp_path, "threes").ids.tolist() == [3, 7, 9]
    saved.save(tmp_path, other, replace=True)
    assert saved.load(tmp_path, "threes").ids.tolist() == [1]


def test_a_full_disk_leaves_the_set_that_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    saved.save(tmp_path, threes())

    def full(_: int) -> None:  # the file is there by then, and not whole
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(StoreError, match="No space left"):
        saved.save(tmp_path, saved.make("digits", [1], name="threes"), replace=True)
    assert saved.load(tmp_path, "threes").ids.tolist() == [3, 7, 9]
    assert [each.name for each in saved.folder(tmp_path).iterdir()] == ["threes.json"]


def test_sets_are_listed_newest_first_and_damaged_files_told(tmp_path: Path):
    assert saved.listed(tmp_path) == ([], [])
    for name, day in (("first", 1), ("third", 3), ("second", 2)):
        content = json.loads(saved.to_json(threes(name))) | {"created": f"2026-01-0{day}T00:00:00Z"}
        write(saved.folder(tmp_path) / f"{name}.json", json.dumps(content).encode())
    (saved.folder(tmp_path) / "torn.json").write_bytes(saved.to_json(threes("torn"))[:40])
    found, problems = saved.listed(tmp_path)
    assert [each.name for each in found] == ["third", "second", "first"]
    assert len(problems) == 1 and problems[0].startswith(
        "torn.json is no forget set, or a damaged one"
    )
    saved.delete(tmp_path, "torn")
    saved.delete(tmp_path, "second")
    assert [each.name for each in saved.listed(tmp_path)[0]] == [
        "third",
        "first",
    ] and not saved.listed(tmp_path)[1]
    with pytest.raises(UnknownName, match="Did you mean first"):
        saved.delete(tmp_path, "firsts")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rows": []}, "rows"),
        ({"rows": [3.5]}, "rows"),
        ({"rows": [-3]}, "rows"),
        ({"version": 3}, "version"),
        ({"format": "a cake"}, "format"),
    ],
)
def test_a_damaged_file_is_a_sentence(change: dict, sentence: str):
    content = json.loads(saved.to_json(threes())) | change
    with pytest.raises(BadFile, match=sentence):
        saved.parse(json.dumps(content).encode(), name="threes.json")


def test_a_renamed_file_has_its_new_name(tmp_path: Path):
    path = saved.save(tmp_path, threes())
    path.rename(path.with_name("trois.json"))
    assert saved.load(tmp_path, "trois").name == "trois"


def test_a_set_without_a_name_is_kept_by_its_content(tmp_path: Path):
    made = threes("")
    assert made.created is None
    key = saved.keep(tmp_path, made)
    assert (
        key == saved.keep(tmp_path, threes("")) != saved.keep(tmp_path, saved.make("digits", [1]))
    )
    found = saved.resolve(tmp_path, f"kept:{key}")
    assert found.ids.tolist() == [3, 7, 9] and found.made == made.made
    assert saved.listed(tmp_path) == ([], []), "no saved set"


@pytest.mark.parametrize(
    ("text", "error", "sentence"),
    [
        ("set:none", UnknownName, "no forget set named 'none'"),
        ("set:../x", BadValue, "A name has"),
        ("kept:../x", BadValue, "set:NAME or kept:DIGITS"),
        ("kept:" + "0" * 32, BadFile, "another machine, or removed"),
        ("3,4", BadValue, "set:NAME or kept:DIGITS"),
    ],
)
def test_a_reference_that_leads_nowhere_says_so(
    tmp_path: Path, text: str, error: type[Exception], sentence: str
):
    with pytest.raises(error, match=sentence):
        saved.resolve(tmp_path, text)


def test_a_set_fits_the_data_set_that_it_is_of():
    saved.check_fits(threes(), "digits", "")
    with pytest.raises(BadValue, match="'threes' names samples of digits, which is not faces"):
        saved.check_fits(threes(), "faces", "")
    own = saved.make("npz:/old/place.npz", [1], data_hash=HASH)
    saved.check_fits(own, "npz:/new/place.npz", HASH)
    with pytest.raises(BadValue, match="another content"):
        saved.check_fits(own, "npz:/old/place.npz", "cd" * 32)
    with pytest.raises(BadValue, match="which is not digits"):
        saved.check_fits(own, "digits", "")


def test_an_empty_set_is_none():
    with pytest.raises(BadValue, match="at least one sample"):
        saved.make("digits", [])
