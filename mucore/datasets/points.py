"""Points in the plane as images of one pixel, whose two channels are x and y (mucore/points.py)."""

from __future__ import annotations

from pathlib import Path

from mucore import catalog, points
from mucore.datasets.splits import Splits, assemble, split_of

SEED = 0  # of the catalogued sets


def load(name: str, root: Path) -> Splits:
    """A shape drawn from `SEED`, the same points always."""
    drawn = points.draw(name.removeprefix("points-"), seed=SEED)
    return as_splits(name, *drawn, class_names=catalog.dataset(name).class_names)


def as_splits(
    name: str,
    train: points.Points,
    validation: points.Points,
    test: points.Points,
    *,
    class_names: tuple[str, ...],
) -> Splits:
    """Points as a data set; training ids are their indices."""
    parts = [
        split_of(x=points.to_bytes(each.xy)[:, None, None], y=each.labels)
        for each in (train, validation, test)
    ]
    return assemble(
        name,
        train=parts[0],
        validation=parts[1],
        test=parts[2],
        class_names=class_names,
        natural=False,
    )
