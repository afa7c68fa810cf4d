"""Faces and glyphs: the same bytes everywhere, whoever else is drawn; persons in one split only;
labels as the cards say; files mended.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from mucore import catalog, datasets
from mucore.datasets import faces, glyphs
from mucore.datasets.drawing import Draws, ellipse, inside, plane, segment, wave

# Of the first images and labels. A change of the drawing changes them, and then the revisions of
# the cards must rise too.
FACES_HASH = "9f18ac237eb49f2c85d6d6d96e5d1430ee4e194abc4b447501688872cae2dbce"
GLYPHS_HASH = "05d828860523d45e470c6ed40bd1bb87031014508562519b7feb4fa29d08a917"
QUICK = ("faces", "faces-attributes", "glyphs")  # the others are made of the same parts


@pytest.fixture(autouse=True)
def forget_loaded() -> Iterator[None]:
    yield
    datasets._load.cache_clear()


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small versions of the sets, made by the same code."""
    monkeypatch.setattr(faces, "PEOPLE", {"train": 16, "validation": 8, "test": 8, "unseen": 8})
    monkeypatch.setattr(glyphs, "images_of_each", lambda _: (2, 1, 1))


# -- determinism


def test_the_same_bytes_everywhere() -> None:
    drawn = faces.draw([0, 1, 13], 2)
    found = hashlib.sha256(b"".join(drawn[name].tobytes() for name in sorted(drawn)))
    assert found.hexdigest() == FACES_HASH
    letters = tuple((script, number) for script in glyphs.SCRIPTS for number in (0, 27))
    written = b"".join(
        glyphs.draw(style, letters, 2).tobytes() for style in ("print", "serif", "outline", "hand")
    )
    assert hashlib.sha256(written).hexdigest() == GLYPHS_HASH


def test_a_person_is_the_same_whoever_else_is_drawn() -> None:
    alone, among = faces.draw([5], 3), faces.draw([2, 5, 40], 3)
    for name, values in alone.items():
        np.testing.assert_array_equal(values, among[name][3:6])
    np.testing.assert_array_equal(faces.draw([5], 1)["x"], alone["x"][:1])


def test_a_letter_is_the_same_whatever_else_is_drawn() -> None:
    among = glyphs.draw("hand", (("ando", 3), ("brei", 7)), 5)
    np.testing.assert_array_equal(glyphs.draw("hand", (("brei", 7),), 2)[0], among[1, :2])


# -- faces


@pytest.mark.slow
def test_faces_have_ten_pictures_a_person_and_nobody_is_in_two_splits(
    few: None, tmp_path: Path
) -> None:
    splits = datasets.load("faces", tmp_path)
    assert splits.unseen is not None
    parts = (splits.train, splits.validation, splits.test, splits.unseen)
    people = []
    for part, count in zip(parts, faces.PEOPLE.values(), strict=True):
        assert part.pixels.shape == (10 * count, 3, 64, 64)
        assert part.pixels.dtype == torch.uint8
        assert part.identities is not None
        found, pictures = part.identities.unique(return_counts=True)
        assert len(found) == count and set(pictures.tolist()) == {10}
        assert part.labels.bincount().tolist() == [10 * count // 8] * 8
        ages_of_person = {
            (int(who), int(age)) for who, age in zip(part.identities, part.labels, strict=True)
        }
        assert len(ages_of_person) == count  # a person has one age
        people += found.tolist()
    assert len(people) == len(set(people)) == 40
    assert torch.cat([part.ids for part in parts]).tolist() == list(range(400))
    assert splits.class_names[0] == "0 to 6 years"
    assert len(splits.class_names) == splits.classes == 8
    assert splits.natural and splits.task == "classes" and splits.notes == ()


@pytest.mark.slow
def test_attributes_are_labels_of_the_same_images(few: None, tmp_path: Path) -> None:
    ages, splits = datasets.load("faces", tmp_path), datasets.load("faces-attributes", tmp_path)
    assert splits.task == "attributes" and splits.class_names == faces.ATTRIBUTES == (
        "male",
        "young",
        "smiling",
    )
    assert torch.equal(splits.train.pixels, ages.train.pixels) and splits.train.labels.shape == (
        160,
        3,
    )
    male, young, smiling = splits.train.labels.T
    assert torch.equal(young, (ages.train.labels < 4).long())
    assert male.float().mean() == 0.5 and 0.4 < smiling.float().mean() < 0.6
    assert splits.train.identities is not None
    for person in splits.train.identities.unique():
        mine = splits.train.labels[splits.train.identities == person]
        assert len(mine[:, :2].unique(dim=0)) == 1  # sex and age stay, the smile comes and goes
    assert len(smiling.view(-1, 10).sum(1).unique()) > 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["faces-1.npz"]


@pytest.mark.slow
def test_one_attribute_alone_is_a_column_of_the_three(few: None, tmp_path: Path) -> None:
    three = datasets.load("faces-attributes", tmp_path)
    for place, name in enumerate(faces.ATTRIBUTES):
        one = datasets.load(f"faces-attributes-{name}", tmp_path)
        assert one.task == "classes" and one.class_names == (f"not {name}", name)
        for part in ("train", "validation", "test", "unseen"):
            assert torch.equal(getattr(one, part).labels, getattr(three, part).labels[:, place])
            assert torch.equal(getattr(one, part).pixels, getattr(three, part).pixels)
        assert one.data_hash != three.data_hash


@pytest.mark.slow
@pytest.mark.parametrize(
    "card",
    [
        pytest.param(card, id=card.id, marks=[pytest.mark.slow] * (card.id not in QUICK))
        for card in catalog.datasets()
        if card.id.startswith(("faces", "glyphs"))
    ],
)
def test_cards_say_what_loads(
    card: catalog.DatasetCard, few: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    splits = datasets.load(card.id, tmp_path)
    assert splits.shape == card.shape
    assert splits.class_names == card.class_names
    assert splits.natural == card.augmentation
    assert splits.classes == card.classes == len(set(card.class_names)) and splits.task == card.task
    assert (splits.train.identities is not None) == card.identities
    monkeypatch.undo()
    if card.id.startswith("faces"):
        sizes = [faces.PEOPLE[name] * faces.IMAGES for name in ("train", "validation", "test")]
        assert sum(faces.PEOPLE.values()) >= 1000
        assert all(count % faces.GROUPS == 0 for count in faces.PEOPLE.values())
    else:
        sizes = [len(card.class_names) * count for count in glyphs.images_of_each(card.id)]
    assert tuple(sizes) == card.sizes


@pytest.mark.slow
def test_a_person_is_recognised() -> None:
    """The nearest picture, by colours in the middle of the face, shows the same person far more
    often than chance (1 in 40).
    """
    drawn = faces.draw(np.arange(40), 4)
    middle = drawn["x"][:, 24:48, 20:44].reshape(160, 6, 4, 6, 4, 3).mean((2, 4)).reshape(160, -1)
    middle = middle / middle.mean(1, keepdims=True)  # light
    far = ((middle[:, None] - middle[None]) ** 2).sum(2) + np.diag(np.full(160, np.inf))
    assert (drawn["identity"][far.argmin(1)] == drawn["identity"]).mean() > 0.25


# -- glyphs


@pytest.mark.slow
def test_glyphs_are_balanced_and_downstream_sets_share_letters(few: None, tmp_path: Path) -> None:
    source = datasets.load("glyphs", tmp_path)
    assert source.train.labels.bincount().tolist() == [2] * 120
    assert source.test.labels.bincount().tolist() == [1] * 120
    scripts = {"glyphs-serif": "Corva", "glyphs-outline": "Fyro", "glyphs-hand": "Brei"}
    assert catalog.dataset("glyphs").downstream == tuple(scripts)
    for name, script in scripts.items():
        splits = datasets.load(name, tmp_path)
        shared = set(splits.class_names) & set(source.class_names)
        assert len(splits.class_names) == 24 and len(shared) == 16
        assert {letter.split()[0] for letter in splits.class_names} == {script}
        assert splits.shape == source.shape and splits.notes == ()


@pytest.mark.parametrize("script", glyphs.SCRIPTS)
def test_letters_of_a_script_differ_and_fill_the_square(script: str) -> None:
    letters = glyphs.alphabet(script)
    assert len(letters) == glyphs.LETTERS
    pictures = [glyphs._coarse(strokes) for strokes in letters]
    for number, picture in enumerate(pictures):
        for other in pictures[:number]:
            assert np.abs(picture - other).sum() > glyphs.APART * (picture.sum() + other.sum())
    for strokes in letters:
        points = np.concatenate(strokes)
        assert (points.max(0) - points.min(0)).max() == pytest.approx(1.9, abs=0.002)
        np.testing.assert_allclose(points.max(0) + points.min(0), 0, atol=0.002)


# -- the file that keeps what was drawn


def content(path: Path) -> str:
    with np.load(path) as arrays:
        return hashlib.sha256(
            b"".join(arrays[name].tobytes() for name in sorted(arrays.files))
        ).hexdigest()


def test_a_kept_file_is_read_and_not_drawn_again(
    few: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = datasets.load("glyphs-hand", tmp_path)
    datasets._load.cache_clear()

    letters_drawn: list[str] = []
    write = glyphs._write
    monkeypatch.setattr(glyphs, "_write", lambda *args: letters_drawn.append("one") or write(*args))
    again = datasets.load("glyphs-hand", tmp_path)
    assert not letters_drawn
    assert again is not first and again.data_hash == first.data_hash


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_a_damaged_file_is_drawn_again(few: None, tmp_path: Path, damage: str) -> None:
    hash_before = datasets.load("glyphs-hand", tmp_path).data_hash
    datasets._load.cache_clear()
    path = tmp_path / "glyphs-hand-1.npz"
    before, raw = content(path), bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 0xFF
    path.write_bytes(bytes(raw[: len(raw) // 2] if damage == "cut" else raw))
    assert datasets.load("glyphs-hand", tmp_path).data_hash == hash_before
    assert content(path) == before
    # nothing half-written is left
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


# -- the tools


def test_shapes_by_hand() -> None:
    x, y = np.array([[[0.0, 3.0]]], np.float32), np.array([[[0.0, 0.0]]], np.float32)
    np.testing.assert_allclose(ellipse(x, y, 2.0, 1.0), [[[-1.0, 0.5]]])
    zero, one = plane(np.array([0])), plane(np.array([1]))
    np.testing.assert_allclose(
        segment(x, y + 4, zero, zero, zero, one), [[[3.0, np.sqrt(18)]]], rtol=1e-6
    )
    # a dot
    np.testing.assert_allclose(segment(x, y + 4, zero, zero, zero, zero), [[[4.0, 5.0]]], rtol=1e-6)
    np.testing.assert_allclose(
        inside(np.array([-1.0, -0.25, 0.0, 0.25, 1.0]), 1.0), [1.0, 0.75, 0.5, 0.25, 0.0]
    )
    np.testing.assert_allclose(wave(np.array([0.0, 0.25, 0.5, 1.0, -0.5])), [-1, 0, 1, -1, 1])


def test_draws_come_in_order_by_name_and_run_out_loudly() -> None:
    draws, more = Draws(["a", "b"], 4, repeat=2), Draws(["b"], 4)
    table = draws.block(2)
    assert table.shape == (4, 2)
    assert np.array_equal(table[0], table[1])
    assert not np.array_equal(table[1], table[2])
    np.testing.assert_array_equal(more.block(2)[0], table[2])
    assert set(draws.chance(0.0)) == {0.0} and set(draws.chance(1.0)) == {1.0}
    with pytest.raises(AssertionError, match="more columns"):
        draws.uniform()


def test_normal_draws_have_the_mean_and_deviation_asked_for() -> None:
    drawn = Draws([f"sample/{number}" for number in range(2000)], 3).normal(5.0, 2.0)
    assert abs(drawn.mean() - 5) < 4 * 2 / np.sqrt(2000)
    assert drawn.std() == pytest.approx(2, rel=0.06)
    assert np.abs(drawn - 5).max() <= 6
