"""A query and its nearest samples."""

from __future__ import annotations

import numpy as np
from facts import tells

from dashboard import theme
from dashboard.charts import neighbours


def test_neighbours_by_value():
    found = {
        "Retrain": tuple(map(np.array, ([1, 2], [0, 1], [True, False], [0.9, 0.8]))),
        "DUCK": tuple(map(np.array, ([2, 3], [1, 1], [False, False], [0.7, 0.6]))),
    }
    info = neighbours.neighbours_info(9, 0, found, forgotten=True, names=("cat", "dog"))
    assert info.same_class == (1, 0) and info.ids == (9, 1, 2, 3)
    assert info.rows[1][1][0] == neighbours.Tile(2, "dog", False, False, 0.7)
    images = {each: np.full((8, 8, 1), 20 * each, np.uint8) for each in (9, 1, 2)}
    figure = neighbours.draw(info, images, dark=False)
    assert len(figure.layout.images) == 4  # 9, 1, 2 and 2 again; sample 3 has no picture
    assert all(image.source.startswith("data:image/png;base64,") for image in figure.layout.images)
    marked = [
        shape
        for shape in figure.layout.shapes
        if shape.line.color == theme.family_style("gradient_ascent").color(False)
    ]
    assert len(figure.layout.shapes) == 5 and len(marked) == 2  # the query and sample 1
    assert tells(neighbours.alt_text(info), "1 of 2", "Retrain", "0 of 2", "DUCK")
