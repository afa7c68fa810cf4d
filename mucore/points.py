"""Points in the plane that a person can look at: four shapes, drawn from a seed.

A coordinate lies in [-1, 1] and is one of 256 places, so that a point is an image of one pixel with
two channels, and everything that serves images serves points. `mucore.datasets.points` makes
data sets of them, `mucore.playground` scenes; neither numbers nor bytes here need torch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mucore.errors import UnknownName
from mucore.rng import numpy_rng

CLASSES = {"moons": 2, "blobs": 3, "spiral": 2, "xor": 2}  # of each shape
COUNTS = (240, 60, 240)  # training, validation and test points of a drawn set
HUES = ("amber", "blue", "green", "pink")  # of the classes, by which they are called
PLACES = 255  # steps from one end of an axis to the other
NOISE = 0.07  # standard deviation, in coordinates, of the catalogued sets
MOST_NOISE = 0.4
_SCALE = 0.8  # of the shapes, so that noise seldom reaches the border, where it is cut off
_FAR = 0.92  # the larger coordinate of an outlier
_SIDE, _DOT = 32, 2  # pixels of a picture, and from the middle of a dot to its edge
# places (n, 2) of points of classes `labels` (n,) at shares `along` (n,) in 0..1 of the shape
Shape = Callable[[np.ndarray, np.ndarray, np.random.Generator], np.ndarray]


@dataclass(frozen=True, eq=False)
class Points:
    """Places `xy` (n, 2) float64 in [-1, 1] and classes `labels` (n,) int64 from 0."""

    xy: np.ndarray
    labels: np.ndarray


def draw(shape: str, *, seed: int, noise: float = NOISE) -> tuple[Points, Points, Points]:
    """Training, validation and test points of a shape, `COUNTS` of them, of each class as many.

    `noise` is the standard deviation of the Gaussian around the shape. The first training point of
    each class is an outlier: it lies beyond the next class. Raises `UnknownName`.
    """
    if shape not in SHAPES:
        raise UnknownName("shape of points", shape, SHAPES)
    curve, classes = SHAPES[shape], CLASSES[shape]
    rng = numpy_rng(seed, f"points/{shape}")
    found = []
    for count in COUNTS:
        labels = np.arange(count) % classes
        xy = _SCALE * curve(labels, rng.random(count), rng) + noise * rng.standard_normal(
            (count, 2)
        )
        if not found:
            xy[:classes] = _beyond(curve, classes, rng)
        found.append(Points(from_bytes(to_bytes(xy)), labels))
    return found[0], found[1], found[2]


def _beyond(curve: Shape, classes: int, rng: np.random.Generator) -> np.ndarray:
    """A place (C, 2) for an outlier of each class: the middle of the next class, moved outwards."""
    following = (np.arange(classes) + 1) % classes
    middle = curve(following, np.full(classes, 0.5), rng)
    return _FAR * middle / np.abs(middle).max(axis=1, keepdims=True)


def around(points: Points, *, count: int, seed: int, noise: float, purpose: str) -> Points:
    """`count` points, each beside one of `points` that is drawn at random, with its class."""
    rng = numpy_rng(seed, f"points/around/{purpose}")
    chosen = rng.integers(len(points.labels), size=count)
    xy = points.xy[chosen] + noise * rng.standard_normal((count, 2))
    return Points(from_bytes(to_bytes(xy)), points.labels[chosen])


def to_bytes(xy: np.ndarray) -> np.ndarray:
    """Coordinates as uint8, what lies outside moved to the border."""
    return np.rint((np.clip(xy, -1, 1) + 1) / 2 * PLACES).astype(np.uint8)


def from_bytes(places: np.ndarray) -> np.ndarray:
    """The coordinates of uint8 places, float64."""
    return places / PLACES * 2 - 1


def pictures(places: np.ndarray) -> np.ndarray:
    """uint8 places (n, 2) as a reader looks at them: grey pictures (n, h, w, 1) with a dot each."""
    column, row = _SIDE * (places.T / PLACES), _SIDE * (1 - places.T / PLACES)
    middle = np.arange(_SIDE) + 0.5
    far = np.maximum(
        np.abs(middle[None, None, :] - column[0][:, None, None]),
        np.abs(middle[None, :, None] - row[1][:, None, None]),
    )
    return np.where(far <= _DOT, 0, 235).astype(np.uint8)[..., None]


def _moons(labels: np.ndarray, along: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    angle = np.pi * along
    x, y = np.cos(angle), np.sin(angle)
    upper = np.stack([x - 0.5, y - 0.25], axis=1)
    lower = np.stack([0.5 - x, 0.25 - y], axis=1)
    return np.where(labels[:, None] == 0, upper, lower) * (2 / 3)


def _blobs(labels: np.ndarray, along: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    angle = 2 * np.pi * labels / CLASSES["blobs"] + np.pi / 2
    spread = 0.15 * rng.standard_normal((len(labels), 2))
    return 0.6 * np.stack([np.cos(angle), np.sin(angle)], axis=1) + spread


def _spiral(labels: np.ndarray, along: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    radius = 0.15 + 0.85 * along
    angle = 1.5 * np.pi * along + np.pi * labels
    return radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _xor(labels: np.ndarray, along: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    side = np.where(along < 0.5, -1.0, 1.0)
    centre = 0.5 * np.stack([side, np.where(labels == 0, side, -side)], axis=1)
    return centre + 0.35 * (2 * rng.random((len(labels), 2)) - 1)


SHAPES: dict[str, Shape] = {"moons": _moons, "blobs": _blobs, "spiral": _spiral, "xor": _xor}
