"""Data whose images carry their row in their pixels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from mucore.datasets.files import FileImages
from mucore.datasets.splits import Split

ROWS = 60


def painted(count: int = ROWS, *, mark: int = 0) -> np.ndarray:
    """Images (n, 8, 8) with their row in the first two pixels, and `mark` in the third."""
    x = np.random.default_rng(1).integers(0, 256, (count, 8, 8)).astype(np.uint8)
    x[:, 0, 0], x[:, 0, 1], x[:, 0, 2] = np.arange(count) // 256, np.arange(count) % 256, mark
    return x


def seen(split: Split) -> list[int]:
    """The rows that the pixels say."""
    pixels = split.pixels if not isinstance(split.pixels, FileImages) else split.pixels.sample()
    return (pixels[:, 0, 0, 0].int() * 256 + pixels[:, 0, 0, 1].int()).tolist()


def npz(path: Path, count: int = ROWS) -> str:
    x, xt = painted(count), painted(count // 3, mark=1)
    y = np.arange(count) % 3
    np.savez(path, x_train=x, y_train=y, x_test=xt, y_test=y[: len(xt)])
    return f"npz:{path}"


def folder(path: Path) -> tuple[str, list[str]]:
    """Twelve classes named 0 to 11, and the files of training in the order of rows."""
    names = [f"train/{name}/{image:02}.png" for name in range(12) for image in range(5)]
    for row, (image, name) in enumerate(zip(painted(), names, strict=True)):
        for file in [path / name, *([path / "test" / name[6:]] if row % 5 == 0 else [])]:
            file.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(image).save(file)
    return f"folder:{path}", names


CUTS = [
    {},
    {"validation_from": "test"},
    {"per_class": 3},
    {"validation_from": "test", "per_class": 3},
]
