"""Small images: enlarged, and many as one sheet."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from PIL import Image

from dashboard.charts import image_row
from dashboard.charts.parts import pictures


def opened(sheet: pictures.Sheet) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(sheet.url.partition(",")[2]))))


@pytest.mark.parametrize(
    ("count", "across", "down", "channels"), [(9, 9, 1, 3), (10, 10, 1, 1), (11, 10, 2, 3)]
)
def test_images_fill_the_sheet_row_by_row(count, across, down, channels):
    images = (
        np.arange(count, dtype=np.uint8)[:, None, None, None]
        .repeat(8, 1)
        .repeat(8, 2)
        .repeat(channels, 3)
        + 1
    )
    sheet = pictures.sheet(images)
    assert (sheet.across, sheet.down) == (across, down)
    pixels = opened(sheet)
    side = pixels.shape[1] // across
    assert side == pictures.SIDE and pixels.shape[0] == down * side
    for number in range(count):
        cell = pixels[
            number // across * side : (number // across + 1) * side,
            number % across * side : (number % across + 1) * side,
        ]
        assert (cell == number + 1).all()


@pytest.mark.parametrize(
    ("shape", "size"),
    [((8, 8, 1), (192, 192)), ((32, 32, 3), (192, 192)), ((300, 200, 3), (200, 300))],
)
def test_small_images_grow_by_whole_pixels(shape, size):
    pixels = np.arange(np.prod(shape)).reshape(shape).astype(np.uint8)
    drawn = pictures.at_least(pixels, 2 * image_row.IMAGE)
    assert drawn.size == size and drawn.mode == ("L" if shape[-1] == 1 else "RGB")
    factor = size[1] // shape[0]
    assert np.array_equal(
        np.asarray(drawn).reshape(size[1], size[0], -1)[::factor, ::factor], pixels
    )
