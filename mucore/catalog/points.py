"""Cards of the data sets of points in the plane (mucore/points.py)."""

from __future__ import annotations

from mucore import points
from mucore.catalog.cards import DatasetCard

_SHAPES = {"moons": "two moons", "blobs": "three blobs", "spiral": "two spirals", "xor": "XOR"}


def _card(shape: str) -> DatasetCard:
    return DatasetCard(
        id=f"points-{shape}",
        loader="points:load",
        title=f"Points, {_SHAPES[shape]}",
        source="Drawn by this project: points in the plane, one pixel of two channels each. The "
        "first training point of each class is an outlier",
        licence="MIT, as this project",
        classes=points.CLASSES[shape],
        shape=(2, 1, 1),
        sizes=points.COUNTS,
        embedded=True,
        balanced=True,
        augmentation=False,
        where="Nothing to fetch: it is drawn on every use, in no time.",
        class_names=("amber", "blue", "green")[: points.CLASSES[shape]],
    )


POINTS: tuple[DatasetCard, ...] = tuple(_card(shape) for shape in points.SHAPES)
