"""What the drawn data sets share: named draws, soft-edged shapes on stacks of images, and a file
that keeps what was drawn.

The bytes are the same on every machine. A pixel is made by additions, products, quotients and roots
of float32 arrays, element by element, and IEEE 754 fixes each of those to the last bit; sums along
an axis and functions such as the sine, which libraries round in their own way, are kept away from
pixels. Nothing is drawn with a font or with another library's lines.
"""

from __future__ import annotations

import logging
import os
import zipfile
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mucore.files import whole_file
from mucore.rng import numpy_rng

log = logging.getLogger("mucore")

Number = np.ndarray | float  # one an image, (n, 1, 1), or the same for all
ROWS = 32  # images drawn at once; their float32 planes fit the processor's cache
Arrays = dict[str, np.ndarray]


class Draws:
    """Random numbers of n images by name of the one who draws them, column by column; a further
    column at the end moves no other.

    Each of `names` has a generator of its own, so an image does not depend on which others are
    drawn. `repeat` rows share one name.
    """

    def __init__(self, names: Sequence[str], columns: int, *, repeat: int = 1):
        rows = np.array([numpy_rng(0, name).random(columns) for name in names]).reshape(-1, columns)
        self._table = np.repeat(rows, repeat, 0)
        self._next = 0

    def block(self, columns: int) -> np.ndarray:
        """(n, columns) float64 in 0..1."""
        first, self._next = self._next, self._next + columns
        assert self._next <= self._table.shape[1], "more columns are read than were drawn"
        return self._table[:, first : self._next]

    def uniform(self, low: float | np.ndarray = 0.0, high: float | np.ndarray = 1.0) -> np.ndarray:
        """(n,) float64 in low..high."""
        return low + (high - low) * self.block(1)[:, 0]

    def normal(
        self, mean: float | np.ndarray = 0.0, deviation: float | np.ndarray = 1.0
    ) -> np.ndarray:
        """(n,) float64, bell-shaped and within three deviations: the sum of three uniform numbers,
        which every machine adds alike.
        """
        return mean + deviation * 2 * (self.uniform() + self.uniform() + self.uniform() - 1.5)

    def chance(self, probability: float | np.ndarray) -> np.ndarray:
        """(n,) 0.0 or 1.0."""
        return (self.uniform() < probability).astype(np.float64)

    def pick(self, choices: Sequence[object] | np.ndarray) -> np.ndarray:
        """(n, ...) rows of `choices`."""
        table = np.asarray(choices)
        return table[(self.uniform() * len(table)).astype(np.int64)]


def turn(angle: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
    """Cosine and sine of angles in radians, rounded to six digits: the last bits differ between
    libraries.
    """
    return np.round(np.cos(angle), 6), np.round(np.sin(angle), 6)


def plane(values: np.ndarray) -> np.ndarray:
    """(n,) -> (n, 1, 1) float32, to be combined with stacks of images."""
    return np.asarray(values, np.float32).reshape(-1, 1, 1)


def grid(count: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """x to the right and y down at the pixels' centres, -1..1, each (count, size, size) float32."""
    axis = (2 * np.arange(size, dtype=np.float32) + 1) / np.float32(size) - 1
    x = np.broadcast_to(axis[None, None, :], (count, size, size))
    y = np.broadcast_to(axis[None, :, None], (count, size, size))
    return x, y


def inside(distance: np.ndarray, softness: Number) -> np.ndarray:
    """Cover 0..1 of a shape by its signed distance (negative inside); the edge is `softness`
    wide.
    """
    return np.clip(0.5 - distance / softness, 0, 1)


def ellipse(x: np.ndarray, y: np.ndarray, rx: Number, ry: Number) -> np.ndarray:
    """About the signed distance to an ellipse around the origin; right on its edge and along its
    shorter axis.
    """
    u, v = x / rx, y / ry
    return (np.sqrt(u * u + v * v) - 1) * np.minimum(rx, ry, dtype=np.float32)


def segment(
    x: np.ndarray, y: np.ndarray, ax: Number, ay: Number, bx: Number, by: Number
) -> np.ndarray:
    """Distance to the straight line from a to b, ends included; a may be b."""
    dx, dy = bx - ax, by - ay
    px, py = x - ax, y - ay
    along = np.clip((px * dx + py * dy) / np.maximum(dx * dx + dy * dy, np.float32(1e-12)), 0, 1)
    qx, qy = px - along * dx, py - along * dy
    return np.sqrt(qx * qx + qy * qy)


def wave(value: np.ndarray) -> np.ndarray:
    """A triangle wave of period 1 between -1 and 1: the cosine's place where pixels are made."""
    return 4 * np.abs(value - np.floor(value + 0.5)) - 1


@dataclass(frozen=True, eq=False)
class Layer:
    """A window of a stack of colour images: `image` (n, 3, h, w) float32 that is painted on, `x`
    and `y` (n, h, w), `edge` soft width.
    """

    image: np.ndarray
    x: np.ndarray
    y: np.ndarray
    edge: Number

    def window(self, top: float, bottom: float, left: float = -1.0, right: float = 1.0) -> Layer:
        """The part between fractions of the image, -1..1: what cannot reach further need not be
        computed there.
        """
        size = self.image.shape[-1]
        rows, cols = (
            slice(int((low + 1) / 2 * size), -(-int((high + 1) * size) // 2))
            for low, high in ((top, bottom), (left, right))
        )
        return Layer(
            self.image[:, :, rows, cols], self.x[:, rows, cols], self.y[:, rows, cols], self.edge
        )

    def paint(self, color: np.ndarray, cover: np.ndarray) -> None:
        """Lay a colour (n, 3), or one value a pixel (n, 3, h, w), over the image where `cover` (n,
        h, w) says.
        """
        color = np.asarray(color, np.float32)
        color = color[:, :, None, None] if color.ndim == 2 else color
        self.image[:] += cover[:, None] * (color - self.image)

    def shade(self, factor: Number, cover: np.ndarray) -> None:
        """Multiply by `factor` (n, 1, 1) or (n, h, w) where `cover` says."""
        self.image[:] *= (1 + cover * (factor - 1))[:, None]


def to_bytes(image: np.ndarray) -> np.ndarray:
    """uint8 of values 0..1; what lies outside is cut off."""
    return np.rint(np.clip(image, 0, 1) * 255).astype(np.uint8)


def in_parts(draw: Callable[[int, int], np.ndarray], count: int, *, each: int = ROWS) -> np.ndarray:
    """`draw(first, last)` over 0..count in threads, joined in order."""
    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        starts = range(0, count, each)
        parts = pool.map(lambda start: draw(start, min(start + each, count)), starts)
        return np.concatenate([*parts])


def kept(path: Path, draw: Callable[[], Arrays]) -> Arrays:
    """The arrays of the npz file at `path`; drawn and written there if it is missing or damaged."""
    try:
        # closes the file of a broken archive too
        with path.open("rb") as file, np.load(file, allow_pickle=False) as content:
            return {name: content[name] for name in content.files}
    except (ValueError, OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        log.info("%s is drawn, as it cannot be read: %s", path, error)
    arrays = draw()
    try:
        # of two processes that draw at once, each leaves a whole file
        with whole_file(path) as temporary, temporary.open("wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
    except OSError as error:
        log.warning("%s cannot be kept, so every process draws it again: %s", path, error)
    return arrays
