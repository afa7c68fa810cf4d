"""Drawings as images of a data set, the forward pass in numpy, and what is said of an answer."""

from __future__ import annotations

import base64

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.frames.draw import image, reading
from mucore.analysis.features import Split
from mucore.outputs import Outputs, SplitOutputs

DIGITS, MNIST = (image.MAKINGS[name] for name in ("digits", "mnist"))


def block(top: int, left: int, height: int, width: int) -> np.ndarray:
    ink = np.zeros((image.SIDE, image.SIDE))
    ink[top : top + height, left : left + width] = 1
    return ink


def edges(picture: np.ndarray) -> tuple[int, int, int, int]:
    """First and last row and column with ink."""
    rows, columns = (np.flatnonzero(picture.any(axis=axis)) for axis in (1, 0))
    return int(rows[0]), int(rows[-1]), int(columns[0]), int(columns[-1])


def message(drawn: np.ndarray, /, **changes: object) -> dict[str, object]:
    sent = base64.b64encode(np.rint(255 * drawn).astype(np.uint8).tobytes()).decode()
    return {"ink": sent, "fitted": True, "sample": -1, "number": 1, **changes}


@pytest.mark.parametrize("side", [8, 28])
def test_an_image_of_the_data_set_stays_what_it_is(side: int) -> None:
    """Enlarged by whole dots, as the canvas shows it, each square's mean is the pixel."""
    pixels = np.random.default_rng(0).integers(0, 256, (side, side)).astype(np.uint8)
    large = np.kron(pixels, np.ones((image.SIDE // side,) * 2)) / 255
    drawing = image.received(message(large, fitted=False))
    assert drawing is not None
    name = {8: "digits", 28: "mnist"}[side]
    np.testing.assert_array_equal(image.image_of(drawing, name), pixels)


def test_digits_are_stretched_to_20_by_32_dots_of_which_4_by_4_are_counted() -> None:
    """A square fills dots 6 to 25 of 32: columns 2 to 5, and 1 and 6 by half.

    A thin stroke, 4 wide and 40 high, is 3.2 dots wide at a height of 32, and at most 2.5 times
    that, so it takes 8 dots: columns 3 and 4.
    """
    found = image.fit(block(10, 3, 30, 30), DIGITS)
    assert edges(found) == (0, 7, 1, 6)
    assert (found[:, 2:6] == 255).all() and (found[:, [1, 6]] == 128).all()
    assert edges(image.fit(block(8, 20, 40, 4), DIGITS)) == (0, 7, 3, 4)
    ring = block(5, 5, 40, 30) - block(12, 12, 26, 16)
    counted = image.fit(ring, DIGITS).astype(float) * 16 / 255
    np.testing.assert_allclose(counted, np.rint(counted), atol=0.05)


def test_mnist_scales_to_20_pixels_and_centres_the_mass() -> None:
    """A right angle, its long stroke 40 high: its mass lies left of and below its middle, and comes
    to the middle of the image, which its edges therefore leave.
    """
    angle = np.maximum(block(4, 2, 40, 8), block(36, 2, 8, 30))
    found = image.fit(angle, MNIST)
    top, bottom, left, right = edges(found)
    assert bottom - top + 1 == 20 and right - left + 1 == 15
    rows, columns = np.mgrid[:28, :28]
    for places in (rows, columns):
        assert abs((places * found).sum() / found.sum() - 13.5) <= 0.5
    assert (left + right) / 2 > 14 and (top + bottom) / 2 < 13


@given(
    st.sampled_from([DIGITS, MNIST]),
    st.tuples(*[st.integers(2, 30)] * 2),
    st.tuples(*[st.integers(0, 26)] * 4),
)
def test_where_it_was_drawn_does_not_matter(
    making: image.Making, size: tuple[int, int], corners: tuple[int, int, int, int]
) -> None:
    here = image.fit(block(*corners[:2], *size), making)
    np.testing.assert_array_equal(here, image.fit(block(*corners[2:], *size), making))
    assert here.any() and here.shape == (making.side, making.side)


@pytest.mark.parametrize(
    "sent",
    [
        None,
        {},
        message(np.zeros((56, 56))),
        message(block(0, 0, 9, 9), ink="no base 64!"),
        message(block(0, 0, 9, 9), sample=10**30),
        message(block(0, 0, 9, 9), sample=-2),
    ],
)
def test_what_is_no_drawing_is_none(sent: object) -> None:
    assert image.received(sent) is None


def gallery() -> Split:
    """Six training images, one a direction of 3 and their opposites; the first two are to be
    forgotten.
    """
    return Split(
        ids=np.arange(10, 16),
        labels=np.array([0, 1, 2, 0, 1, 2]),
        features=np.concatenate([np.eye(3), -np.eye(3)]),
        forgotten=np.arange(6) < 2,
        total=60,
        asked=True,
    )


def only(*features: float) -> object:
    return lambda images: (np.array([[0.0, np.log(3.0)]]), np.array([features]))


def test_a_reading_has_shares_and_the_nearest_images() -> None:
    """Logits 0 and ln 3 are a quarter and three quarters. Features (4, 3, 0) have the cosines 0.8
    and 0.6 with the first two directions.
    """
    network: reading.Network = only(4.0, 3.0, 0.0)  # ty: ignore[invalid-assignment]
    shares, near = reading.read(network, gallery(), np.zeros((8, 8), np.uint8))
    assert shares.tolist() == pytest.approx([0.25, 0.75])
    assert near["ids"].tolist()[:3] == [10, 11, 12] and near["labels"].tolist()[2] == 2
    assert near["forgotten"].tolist()[:3] == [True, True, False]
    assert near["cosine"].tolist()[:2] == pytest.approx([0.8, 0.6])
    _, others = reading.read(network, gallery(), np.zeros((8, 8), np.uint8), sample=10)
    assert others["ids"].tolist()[:2] == [11, 12]


@pytest.mark.parametrize(
    ("method", "gone", "told"), [(0, [0], "still says"), (1, [0], "no longer"), (0, [], "")]
)
def test_of_a_forgotten_class_it_is_said_whether_the_method_knows_it(method, gone, told) -> None:
    shares = {"Original": np.eye(2)[0], "Retrain": np.eye(2)[1], "SSD": np.eye(2)[method]}
    sentence = reading.said(shares, ("zero", "one"), gone)
    assert sentence.startswith("Original says zero (100\u202f%), Retrain one (100\u202f%) and SSD")
    assert told in sentence and (sentence.count(".") == 1) is (not told)


def album() -> reading.Album:
    ids = np.arange(40)
    pixels = np.zeros((40, 8, 8), np.uint8)
    pixels[:, 0, 0] = ids
    return reading.Album(
        (ids, ids % 4, pixels),
        (ids[:8] + 100, ids[:8] % 4, pixels[:8]),
        (0.3, 0.4),
        np.arange(108)[::-1],
    )


def split(ids: np.ndarray, *, kept: int | None = None, classes: int = 4) -> SplitOutputs:
    """Outputs of images of `album`, of which `kept` were kept one by one."""
    mine, labels = ids[:kept], ids % 4
    counts = np.zeros((classes, classes), np.int64)
    np.add.at(counts, (labels, labels), 1)
    logits = np.zeros((len(mine), classes), np.float32)
    return SplitOutputs(logits=logits, labels=mine % 4, ids=mine, confusion=counts)


def test_images_to_begin_with_come_class_by_class_and_are_known_to_go_or_stay() -> None:
    ids = np.arange(40)
    few = Outputs(splits={"forget": split(ids[:4]), "retain": split(ids[4:], kept=8)})
    offered = reading.starts(album(), few, 4)
    assert [label for _, label in offered["test"]] == [0, 1, 2, 3, 0, 1, 2, 3]
    assert [sample for sample, _ in offered["forget"]] == [0, 1, 2, 3]
    assert [sample for sample, _ in offered["retain"]] == list(range(4, 12))
    # a class of which nothing stays is gone whole, though two of it were kept
    class_1 = ids % 4 == 1
    told = Outputs(splits={"forget": split(ids[class_1], kept=2), "retain": split(ids[~class_1])})
    assert reading.starts(album(), told, 4)["forget"] == [(each, 1) for each in ids[class_1]]


def test_an_album_finds_images_by_their_ids() -> None:
    found = album().image(103)
    assert found is not None and found[0, 0] == 3
    assert album().image(39) is not None and album().image(-1) is None
    assert album().image(60) is None and album().image(500) is None
