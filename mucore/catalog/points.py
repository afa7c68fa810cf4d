"""Cards of the data sets of points in the plane (mucore/points.py)."""

from __future__ import annotations

from mucore.catalog.cards import DatasetCard

CLASSES = {"moons": 2, "blobs": 3, "spiral": 2, "xor": 2}
COUNTS = (240, 60, 240)  # training, validation and test points of a drawn set
_SHAPES = {"moons": "two moons", "blobs": "three blobs", "spiral": "two spirals", "xor": "XOR"}


def _card(shape: str) -> DatasetCard:
    return DatasetCard(
        id=f"points-{shape}",
        loader="points:load",
        title=f"Points, {_SHAPES[shape]}",
        source="Drawn by this project: points in the plane, one pixel of two channels each. The "
        "first training point of each class is an outlier",
        licence="MIT, as this project",
        shape=(2, 1, 1),
        sizes=COUNTS,
        embedded=True,
        balanced=True,
        where="Nothing to fetch: it is drawn on every use, in no time.",
        class_names=("amber", "blue", "green")[: CLASSES[shape]],
    )


POINTS: tuple[DatasetCard, ...] = tuple(_card(shape) for shape in CLASSES)
