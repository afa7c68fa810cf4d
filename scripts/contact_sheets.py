"""Contact sheets of the drawn data sets, to look at: python scripts/contact_sheets.py FOLDER."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mucore.catalog.drawn import DOWNSTREAM_SCRIPTS
from mucore.datasets import faces, glyphs

ZOOM = 2


def save(rows: list[np.ndarray], path: Path) -> None:
    """Write rows of images (n, h, w) or (n, h, w, 3) uint8 as one picture."""
    sheet = np.concatenate([np.concatenate(list(row), 1) for row in rows])
    Image.fromarray(sheet).resize(
        (ZOOM * sheet.shape[1], ZOOM * sheet.shape[0]), Image.Resampling.BICUBIC
    ).save(path)
    print(path)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    drawn = faces.draw(np.arange(12 * faces.GROUPS), 1)
    save(
        [drawn["x"][drawn["age"] == group] for group in range(faces.GROUPS)],
        folder / "faces-ages.png",
    )
    drawn = faces.draw(np.arange(faces.GROUPS) * 9)
    save(
        list(drawn["x"].reshape(faces.GROUPS, faces.IMAGES, *drawn["x"].shape[1:])),
        folder / "faces-people.png",
    )
    letters = tuple(
        (script, number) for script in glyphs.SCRIPTS for number in range(glyphs.LETTERS)
    )
    drawn = glyphs.draw("print", letters, 2)
    by_script = np.split(drawn, len(glyphs.SCRIPTS))
    save(
        [row for script in by_script for row in (script[:, 0], script[:, 1])],
        folder / "glyphs-scripts.png",
    )
    rows = []
    for name, script in DOWNSTREAM_SCRIPTS.items():
        for style in ("print", name.removeprefix("glyphs-")):
            rows += list(
                glyphs.draw(
                    style, tuple((script, number) for number in range(glyphs.LETTERS)), 2
                ).swapaxes(0, 1)
            )
    save(rows, folder / "glyphs-styles.png")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
