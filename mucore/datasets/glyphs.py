"""`glyphs`: letters of six invented scripts, and three downstream sets that write one of the
scripts each in another style.

A stand-in for ImageNet -> Office-Home, CUB and DomainNet (Are We Truly Forgetting?): the classes of
a downstream set resemble those source classes that are letters of the same script, and the others
hardly. No font is used, so there is none to be missing or to differ. A script is a grammar of
strokes, a letter a fixed sequence of strokes that the grammar gave, a style a way to write: width,
slant, ends, wobble.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import numpy as np

from mucore import catalog
from mucore.datasets.drawing import (
    Draws,
    grid,
    in_parts,
    inside,
    kept,
    plane,
    segment,
    to_bytes,
    turn,
)
from mucore.datasets.splits import Splits, assemble, split_of
from mucore.rng import numpy_rng

SIZE = 32
LETTERS = 28  # of each script
COARSE = 12  # pixels a side at which letters are compared
APART = 0.14  # least share of their ink in which two letters of a script differ at that size

# each a broken line (points, 2), x to the right and y down, about -1..1; a dot is one point
Strokes = tuple[np.ndarray, ...]


def load(name: str, root: Path) -> Splits:
    """The set of that name, classes in the order of its letters. Drawn once and kept in the data
    folder.
    """
    card, images = catalog.dataset(name), images_of_each(name)
    style = name.partition("-")[2] or "print"
    letters = tuple(map(_letter, card.class_names))
    content = kept(
        root / f"{name}-{card.revision}.npz", lambda: {"x": draw(style, letters, sum(images))}
    )
    cuts = np.split(content["x"], np.cumsum(images)[:2], 1)
    parts = (
        split_of(x=x.reshape(-1, SIZE, SIZE), y=np.repeat(np.arange(len(x)), x.shape[1]))
        for x in cuts
    )
    train, validation, test = parts
    return assemble(
        name,
        train=train,
        validation=validation,
        test=test,
        class_names=card.class_names,
        natural=card.augmentation,
    )


def images_of_each(name: str) -> tuple[int, ...]:
    """Training, validation and test images of each letter."""
    card = catalog.dataset(name)
    assert card.sizes and card.classes
    return tuple(size // card.classes for size in card.sizes)


def _letter(name: str) -> tuple[str, int]:
    """Script and number, from 0, of "Ando 1"."""
    script, number = name.split()
    return script.lower(), int(number) - 1


def draw(style: str, letters: tuple[tuple[str, int], ...], images: int) -> np.ndarray:
    """(len(letters), images, 32, 32) uint8, white on black. An image is the same whatever else is
    drawn.
    """
    if not letters or not images:
        return np.zeros((len(letters), images, SIZE, SIZE), np.uint8)
    for script in dict.fromkeys(script for script, _ in letters):
        alphabet(script)  # before the threads start, so that each is made once
    return in_parts(
        lambda first, last: np.stack(
            [_write(style, *letters[at], images) for at in range(first, last)]
        ),
        len(letters),
        each=1,
    )


# -- writing


def _write(style: str, script: str, number: int, images: int) -> np.ndarray:
    """(images, 32, 32) uint8 of one letter."""
    strokes = alphabet(script)[number]
    shot = Draws(
        [f"glyphs/{style}/{script}/{number}/{image}" for image in range(images)],
        80 + 18 * len(strokes) + SIZE * SIZE,
    )
    hand = style == "hand"
    lean = {"print": 0.0, "serif": 0.0, "outline": 0.0, "hand": -0.28}[style] + shot.normal(0, 0.16)
    angle = shot.normal(0, 0.17)
    size_x, size_y = shot.uniform(0.48, 0.78), shot.uniform(0.48, 0.78)
    move_x, move_y = shot.normal(0, 0.09), shot.normal(0, 0.09)
    bow = shot.normal(0, 0.14 if hand else 0.05)
    width = shot.uniform(
        *{
            "print": (0.065, 0.125),
            "serif": (0.10, 0.15),
            "outline": (0.16, 0.21),
            "hand": (0.045, 0.085),
        }[style]
    )
    thin, press = shot.uniform(0.3, 0.5), shot.uniform(0.2, 0.9)
    ink, paper = shot.uniform(0.55, 1.0), shot.uniform(0.0, 0.2)
    soft, grain = shot.uniform(1.2, 3.2) * 2 / SIZE, shot.uniform(0.05, 0.35)
    slope_x, slope_y = shot.normal(0, 0.06), shot.normal(0, 0.06)
    shaky = (0.15 if hand else 0.12) * shot.uniform(0.5, 1.3)

    # one of ink, one that wipes it off
    scratches = [
        ([shot.uniform(-1, 1) for _ in range(4)], shot.chance(share)) for share in (0.6, 0.7)
    ]

    cos, sin = turn(angle)
    pieces = []  # ax, ay, bx, by, half width
    for stroke in strokes:
        xs, ys = [], []
        # how far start, middle and end stray
        knots = [(shot.normal(0, shaky), shot.normal(0, shaky)) for _ in range(3)]
        for at, (x, y) in enumerate(stroke):
            along = 2 * at / max(1, len(stroke) - 1)
            (x_0, y_0), (x_1, y_1) = knots[int(along > 1) :][:2]
            part = along - (along > 1)
            x, y = x + x_0 + part * (x_1 - x_0), y + y_0 + part * (y_1 - y_0)
            x, y = x * size_x, y * size_y
            x = x + lean * y + bow * y * y
            xs.append(cos * x - sin * y + move_x)
            ys.append(sin * x + cos * y + move_y)
        if len(stroke) == 1:
            pieces.append(
                (xs[0], ys[0], xs[0], ys[0], width * (1.25 if style != "outline" else 0.9))
            )
            continue
        for at in range(len(stroke) - 1):
            dx, dy = xs[at + 1] - xs[at], ys[at + 1] - ys[at]
            half = width
            if style == "serif":  # upright strokes are thick, level ones thin
                half = width * (thin + (1 - thin) * np.abs(dy) / np.sqrt(dx * dx + dy * dy + 1e-12))
            elif hand:  # pressed at the start, lifted at the end
                half = width * (1 + press * (0.5 - at / max(1, len(stroke) - 2)))
            pieces.append((xs[at], ys[at], xs[at + 1], ys[at + 1], half))
        # straight strokes stand on feet; arcs, of more points, end as they are
        if style == "serif" and len(stroke) <= 3:
            for at in (0, -1):
                pieces.append((xs[at] - 0.12, ys[at], xs[at] + 0.12, ys[at], width * 0.5))

    x, y = grid(images, SIZE)
    distance = np.full((images, SIZE, SIZE), 9, np.float32)
    for *ends, half in pieces:
        np.minimum(distance, segment(x, y, *map(plane, ends)) - plane(half), out=distance)
    if style == "outline":
        distance = np.abs(distance + 0.04) - np.float32(0.042)
    cover = inside(distance, plane(soft))
    line, gap = (
        inside(segment(x, y, *map(plane, ends)) - half, plane(soft)) * plane(there)
        for (ends, there), half in zip(scratches, (0.05, 0.07), strict=True)
    )
    cover = np.maximum(cover * (1 - gap), line * np.float32(0.85))
    noise = (
        shot.block(SIZE * SIZE).astype(np.float32).reshape(images, SIZE, SIZE) - np.float32(0.5)
    ) * plane(grain)
    back = plane(paper) + plane(slope_x) * x + plane(slope_y) * y
    return to_bytes(back + cover * (plane(ink) - back) + noise)


# -- scripts


@functools.cache
def alphabet(script: str) -> tuple[Strokes, ...]:
    """The letters of a script: what its grammar gives, without those that look like an earlier
    one.
    """
    rng = numpy_rng(0, f"glyphs/{script}")
    found: list[Strokes] = []
    seen: list[np.ndarray] = []
    while len(found) < LETTERS:
        strokes = _centred(SCRIPTS[script](rng))
        picture = _coarse(strokes)
        if all(
            np.abs(picture - other).sum() > APART * (picture.sum() + other.sum()) for other in seen
        ):
            found.append(strokes)
            seen.append(picture)
    return tuple(found)


def _centred(strokes: list[np.ndarray]) -> Strokes:
    """Moved to the middle and scaled so that the longer side is 1.9; on a grid of thousandths, so
    that no last bit differs anywhere.
    """
    points = np.concatenate(strokes)
    low, high = points.min(0), points.max(0)
    scale = 1.9 / float((high - low).max())
    return tuple(np.round((stroke - (low + high) / 2) * scale, 3) for stroke in strokes)


def _coarse(strokes: Strokes) -> np.ndarray:
    """(12, 12) integers: a blunt picture to compare letters by."""
    x, y = grid(1, COARSE)
    distance = np.full((1, COARSE, COARSE), 9, np.float32)
    for stroke in strokes:
        for start, end in zip(stroke, stroke[1:] if len(stroke) > 1 else stroke, strict=False):
            ends = (plane(np.array([value])) for value in (*start, *end))
            np.minimum(distance, segment(x, y, *ends), out=distance)
    return np.rint(inside(distance - 0.15, 0.4)[0] * 100).astype(np.int64)


def _line(*points: tuple[float, float]) -> np.ndarray:
    return np.array(points, np.float64)


def _arc(x: float, y: float, rx: float, ry: float, start: float, sweep: float) -> np.ndarray:
    """Split of an ellipse from `start` over `sweep` degrees, clockwise from the right, as seen with
    y down.
    """
    steps = max(3, round(abs(sweep) / 30))
    cos, sin = turn(np.radians(start + sweep * np.arange(steps + 1) / steps))
    return np.stack([x + rx * cos, y + ry * sin], 1)


def _one(rng: np.random.Generator, *choices):
    """One of the choices. From `random` and not `choice`, whose way to draw NumPy may change."""
    return choices[int(rng.random() * len(choices))]


def _some(rng: np.random.Generator, count: int, choices: list) -> list:
    left = list(choices)
    return [left.pop(int(rng.random() * len(left))) for _ in range(min(count, len(left)))]


def _ando(rng: np.random.Generator) -> list[np.ndarray]:
    """Carved: one or two stems with slanting twigs."""
    if rng.random() < 0.35:
        left, right = -0.5, 0.5
        bridges = [
            ((left, -0.8), (right, 0.0)),
            ((left, 0.0), (right, -0.8)),
            ((left, -0.4), (right, 0.4)),
            ((left, 0.8), (right, 0.0)),
        ]
        bridges += [
            ((left, -0.8), (right, 0.8)),
            ((left, 0.8), (right, -0.8)),
            ((left, -0.1), (right, -0.1)),
        ]
        return [_line((left, -0.9), (left, 0.9)), _line((right, -0.9), (right, 0.9))] + [
            _line(*bridge) for bridge in _some(rng, _one(rng, 1, 2), bridges)
        ]
    stem = [_line((0, -0.95), (0, 0.95))]
    twigs = [
        (level, side, slope)
        for level in (-0.9, -0.35, 0.2, 0.6)
        for side in (-0.6, 0.6)
        for slope in (-0.4, 0.4)
    ]
    return stem + [
        _line((0, level), (side, level + slope))
        for level, side, slope in _some(rng, _one(rng, 1, 2, 3), twigs)
    ]


def _brei(rng: np.random.Generator) -> list[np.ndarray]:
    """Round: a bowl with a hook, a tail or a smaller bowl."""
    start, sweep = _one(rng, 0, 45, 90, 135, 180, 225, 270), _one(rng, 210, 250, 290, 360)
    strokes = [_arc(0, 0.15, 0.55, 0.55, start, sweep)]
    extras = [
        _arc(0.20, -0.40, 0.36, 0.50, 0, -170),
        _arc(-0.20, -0.40, 0.36, 0.50, 180, 170),
        _arc(0.10, 0.75, 0.45, 0.35, 0, 160),
        _arc(-0.10, 0.75, 0.45, 0.35, 180, -160),
        _arc(0, 0.15, 0.25, 0.25, 0, 360),
        _arc(0.55, -0.35, 0.28, 0.28, 90, -300),
        _arc(-0.55, -0.35, 0.28, 0.28, 90, 300),
        _arc(0, -0.60, 0.60, 0.25, 180, 180),
        _arc(0.0, 0.15, 0.55, 0.20, 180, 180),
        _arc(0.75, 0.15, 0.22, 0.55, 180, -150),
    ]
    return strokes + _some(rng, _one(rng, 1, 1, 2), extras)


def _corva(rng: np.random.Generator) -> list[np.ndarray]:
    """Hung from a headline: a level bar on top, a stem, and what is tied to it."""
    stem = _one(rng, 0.0, 0.45, 0.45, None)
    strokes = [_line((-0.85, -0.75), (0.85, -0.75))]
    x = 0.2 if stem is None else stem
    if stem is not None:
        strokes.append(_line((stem, -0.75), (stem, 0.95)))
    extras = [
        _arc(x - 0.40, 0.10, 0.36, 0.34, 0, 320),
        _arc(x - 0.40, -0.30, 0.30, 0.40, 250, -270),
        _line((x, 0.10), (x - 0.75, 0.10), (x - 0.75, -0.30)),
        _line((x, -0.10), (x - 0.70, 0.60)),
        _arc(x - 0.35, 0.45, 0.38, 0.40, -30, 210),
        _line((x - 0.65, -0.75), (x - 0.65, 0.10), (x, 0.35)),
        _arc(x + 0.05, 0.05, 0.40, 0.30, -90, 180),
        _line((x, -0.20), (x + 0.45, 0.30), (x, 0.55)),
        _arc(x - 0.45, 0.30, 0.22, 0.22, 0, 360),
        _arc(x - 0.30, 0.95, 0.30, 0.30, 0, -180),
        _arc(x + 0.30, 0.95, 0.30, 0.30, 180, 180),
        _line((x - 0.55, -0.75), (x - 0.55, 0.95)),
        _arc(x - 0.10, -0.95, 0.45, 0.30, 180, 150),
    ]
    return strokes + _some(rng, _one(rng, 1, 2, 2) if stem is not None else _one(rng, 2, 3), extras)


def _duna(rng: np.random.Generator) -> list[np.ndarray]:
    """Square: level and upright strokes on a grid, boxes among them."""
    strokes = []
    if rng.random() < 0.5:
        left, top, right, bottom = _one(
            rng,
            (-0.7, -0.2, 0.7, 0.8),
            (-0.7, -0.8, 0.7, 0.1),
            (-0.7, -0.7, 0.0, 0.7),
            (0.0, -0.6, 0.75, 0.6),
        )
        strokes.append(
            _line((left, top), (right, top), (right, bottom), (left, bottom), (left, top))
        )
    for y in _some(rng, _one(rng, 1, 2, 2, 3), [-0.85, -0.35, 0.2, 0.85]):
        reach = _one(rng, (-0.85, 0.85), (-0.85, 0.85), (-0.6, 0.1), (0.0, 0.7))
        strokes.append(_line((reach[0], y), (reach[1], y)))
    for x in _some(rng, _one(rng, 1, 1, 2), [-0.65, 0.0, 0.6]):
        reach = _one(rng, (-0.9, 0.9), (-0.85, 0.2), (-0.35, 0.85))
        strokes.append(_line((x, reach[0]), (x, reach[1])))
    return strokes


def _elsh(rng: np.random.Generator) -> list[np.ndarray]:
    """Flowing along a base line, told apart by dots above and below."""
    body = _one(
        rng,
        [_arc(0, 0.0, 0.8, 0.5, 0, 180)],
        [_arc(0, 0.0, 0.8, 0.5, 0, 180), _line((0.05, 0.45), (0.05, -0.15))],
        [_line((0.8, -0.3), (0.8, 0.3), (-0.8, 0.3)), _line((0.1, 0.3), (0.1, -0.2))],
        [
            _arc(0.45, -0.1, 0.3, 0.28, 0, 360),
            np.concatenate([_line((0.75, -0.1), (0.65, 0.3)), _arc(0.0, 0.25, 0.6, 0.45, 20, 150)]),
        ],
        [_arc(0.1, 0.2, 0.55, 0.6, -60, -240)],
        [_line((0.7, -0.6), (-0.1, -0.3), (0.3, 0.0)), _arc(-0.2, 0.25, 0.55, 0.45, -30, 200)],
        [_line((0.6, -0.9), (0.6, 0.3)), _arc(-0.05, 0.3, 0.65, 0.4, 0, 170)],
        [_line((0.8, 0.3), (-0.3, 0.3)), _arc(-0.45, 0.05, 0.28, 0.28, 90, 330)],
    )
    high, low = -0.75, 0.9
    dots = _one(
        rng,
        [],
        [(0.0, high)],
        [(0.0, low)],
        [(-0.25, high), (0.25, high)],
        [(-0.25, low), (0.25, low)],
        [(-0.3, high), (0.3, high), (0.0, high - 0.3)],
        [(0.0, high), (0.0, low)],
        [(0.0, -0.05)],
    )
    return body + [_line(dot) for dot in dots]


def _fyro(rng: np.random.Generator) -> list[np.ndarray]:
    """Turned shapes, as in a syllabary: the shape is one sound and its direction another; a mark
    may stand by.
    """
    shapes = [
        _line((-0.6, 0.6), (0, -0.6), (0.6, 0.6), (-0.6, 0.6)),
        _line((-0.6, 0.6), (0, -0.6), (0.6, 0.6)),
        _arc(0, 0.3, 0.6, 0.85, 180, 180),
        _line((-0.5, -0.6), (-0.5, 0.55), (0.55, 0.55)),
        _line((-0.55, 0.6), (-0.55, -0.5), (0.55, -0.5), (0.55, 0.6)),
        np.concatenate([_line((0.45, 0.75), (0.45, -0.1)), _arc(0.0, -0.15, 0.45, 0.45, 0, -180)]),
        np.concatenate([_line((0.35, 0.8), (0.35, -0.2)), _arc(0.0, -0.25, 0.35, 0.35, 0, -330)]),
    ]
    shape = _one(rng, *shapes)
    x, y = shape[:, 0], shape[:, 1]
    turned = _one(rng, (x, y), (-y, x), (-x, -y), (y, -x), (-x, y))
    mark = _one(
        rng,
        [],
        [_line((0, 0.15))],
        [_line((0.95, -0.2), (0.95, 0.2))],
        [_line((-0.95, -0.2), (-0.95, 0.2))],
        [_line((-0.3, -0.95), (0.3, -0.95))],
        [_line((0, 0.95))],
    )
    return [np.stack(turned, 1), *mark]


SCRIPTS: dict[str, Callable[[np.random.Generator], list[np.ndarray]]] = {
    "ando": _ando,
    "brei": _brei,
    "corva": _corva,
    "duna": _duna,
    "elsh": _elsh,
    "fyro": _fyro,
}
