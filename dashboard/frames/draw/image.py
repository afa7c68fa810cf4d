"""A drawing made into an image as the data set's own images were made.

Networks know images of one size, place and thickness. A drawing that comes in another one would be
judged for that, and not for what it shows.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from PIL import Image

SIDE: Final = 56  # pixels along a drawing's side as a browser sends it: 7 x 8 and 2 x 28
LARGEST: Final = 2**53  # below it are the whole numbers that a browser's messages hold exactly
FAINT: Final = 0.1  # ink below this share of white is no ink
_WIDER: Final = 2.5  # how far digits are stretched at most: a stroke for a 1 stays one


@dataclass(frozen=True)
class Making:
    """How the images of a data set were made from what somebody wrote.

    An image has `side` pixels along each side. With `bits`, the ink fills 5 by 8 pixels in its
    middle, and each pixel is the share of black and white dots, that many along its side, that are
    white. Without, the ink keeps its shape and touches a box of 20 by 20 pixels, and its centre of
    mass comes to the middle.
    """

    side: int
    box: tuple[int, int]
    bits: int = 0


# MNIST: "size normalized to fit in a 20x20 pixel box while preserving their aspect ratio", then
# "centered in a 28x28 image by computing the center of mass of the pixels" (LeCun, Cortes and
# Burges, 1998). Digits: NIST's programs scale them to 20 by 32 dots in the middle of 32 by 32, and
# 4 by 4 of these are counted for a pixel (Alpaydin and Kaynak, 1998; Garris et al., NISTIR 5469,
# 1994).
MAKINGS: Final[Mapping[str, Making]] = {
    "digits": Making(8, (5, 8), bits=4),
    "mnist": Making(28, (20, 20)),
}


@dataclass(frozen=True, eq=False)
class Drawing:
    """What a browser sent: `ink` (SIDE, SIDE) float64 in 0..1, white on black; whether it is to be
    `fitted` or stands as it is; the training or test sample that it began with, -1 for none; its
    number among the drawings of this page.
    """

    ink: np.ndarray
    fitted: bool
    sample: int
    number: int


def received(message: Any) -> Drawing | None:
    """The drawing in a message of the page's canvas; None where it is none, or blank."""
    if not isinstance(message, Mapping):
        return None
    ink, sample, number = (message.get(name) for name in ("ink", "sample", "number"))
    if not (isinstance(ink, str) and isinstance(sample, int) and isinstance(number, int)):
        return None
    if not -1 <= sample < LARGEST:
        return None
    try:
        content = base64.b64decode(ink, validate=True)
    except (binascii.Error, ValueError):
        return None
    if len(content) != SIDE * SIDE:
        return None
    found = np.frombuffer(content, np.uint8).reshape(SIDE, SIDE) / 255
    if not (found > FAINT).any():
        return None
    return Drawing(found, message.get("fitted") is True, sample, number)


def number_of(message: Any) -> int:
    """The number of a message of the page's canvas, blank or not; 0 where it has none."""
    found = message.get("number") if isinstance(message, Mapping) else None
    return found if isinstance(found, int) and 0 <= found < LARGEST else 0


def image_of(drawing: Drawing, dataset: str) -> np.ndarray:
    """The image (side, side) uint8 that a drawing makes in a data set of `MAKINGS`; it has ink."""
    making = MAKINGS[dataset]
    return fit(drawing.ink, making) if drawing.fitted else reduce(drawing.ink, making.side)


def reduce(ink: np.ndarray, side: int) -> np.ndarray:
    """Ink (n, n) in 0..1 as (side, side) uint8, each pixel the mean of a square; nothing moves."""
    cells = ink.reshape(side, len(ink) // side, side, -1).mean(axis=(1, 3))
    return np.rint(255 * cells).astype(np.uint8)


def fit(ink: np.ndarray, making: Making) -> np.ndarray:
    """Ink (n, n) in 0..1 scaled and centred as `making` says, (side, side) uint8."""
    times = max(making.bits, 1)
    field = making.side * times
    cut = _cut(ink)
    height, width = cut.shape
    most_wide, most_high = (each * times for each in making.box)
    if making.bits:
        natural = width * most_high / height
        size = _at_least_one(min(most_wide, _WIDER * natural)), most_high
    else:
        scale = min(most_wide / width, most_high / height)
        size = _at_least_one(width * scale), _at_least_one(height * scale)
    picture = Image.fromarray(cut.astype(np.float32))
    scaled = np.clip(np.asarray(picture.resize(size, Image.Resampling.BILINEAR)), 0, 1)
    if making.bits:
        scaled = (scaled > 0.5).astype(np.float32)
    placed = _placed(scaled, field, by_mass=not making.bits)
    return reduce(placed, making.side)


def encoded(image: np.ndarray) -> str:
    """The pixels of an image (h, w) uint8, row by row, as text for a browser."""
    return base64.b64encode(np.ascontiguousarray(image, np.uint8).tobytes()).decode()


def _cut(ink: np.ndarray) -> np.ndarray:
    """The smallest rectangle with all the ink."""
    rows, columns = (np.flatnonzero((ink > FAINT).any(axis=axis)) for axis in (1, 0))
    return ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def _at_least_one(size: float) -> int:
    return max(1, round(size))


def _placed(ink: np.ndarray, field: int, *, by_mass: bool) -> np.ndarray:
    """Ink (h, w) on an empty square of `field` pixels a side, its centre of mass or the middle of
    its edges in the middle; what would stand beyond an edge is lost.
    """
    middle = [(length - 1) / 2 for length in ink.shape]
    if by_mass and ink.sum() > 0:
        middle = [
            float((np.arange(length) * ink.sum(axis=1 - axis)).sum() / ink.sum())
            for axis, length in enumerate(ink.shape)
        ]
    # half a pixel goes up and left, always: rounding to even would let it jump while a line grows
    top, left = (int(np.ceil((field - 1) / 2 - at - 0.5)) for at in middle)
    found = np.zeros((field, field), np.float64)
    rows = slice(max(top, 0), min(top + ink.shape[0], field))
    columns = slice(max(left, 0), min(left + ink.shape[1], field))
    found[rows, columns] = ink[
        rows.start - top : rows.stop - top, columns.start - left : columns.stop - left
    ]
    return found
