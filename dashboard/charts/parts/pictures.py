"""Small images as pictures of a page: enlarged by whole pixels, so that a browser does not blur
them; and many of them as one picture, which a page cuts into cells.
"""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass

import numpy as np
from PIL import Image

SIDE = 64  # pixels of a cell at least, so that a browser does not enlarge much
ACROSS = 10


def enlarged(image: np.ndarray, times: int) -> Image.Image:
    """`image` (h, w, c) uint8 with one or three channels, `times` as large; never smaller."""
    picture = Image.fromarray(image[..., 0] if image.shape[-1] == 1 else image)
    times = max(1, times)
    return picture.resize((picture.width * times, picture.height * times), Image.Resampling.NEAREST)


def at_least(image: np.ndarray, pixels: int) -> Image.Image:
    """`image` (h, w, c) uint8, so far enlarged that its longer side has `pixels` or more."""
    return enlarged(image, -(-pixels // max(image.shape[:2])))


def address(picture: Image.Image) -> str:
    """A picture as a data address."""
    content = io.BytesIO()
    picture.save(content, format="PNG")
    return f"data:image/png;base64,{base64.b64encode(content.getvalue()).decode()}"


@dataclass(frozen=True)
class Sheet:
    """A PNG as a data address, `across` cells wide and `down` high; images fill it row by row."""

    url: str
    across: int
    down: int


def sheet(images: np.ndarray) -> Sheet:
    """`images` (n, h, w, c) uint8 with one or three channels; small ones are enlarged by whole
    pixels, large ones reduced.
    """
    if not len(images):
        return Sheet("", 1, 1)
    if images.shape[1] > 2 * SIDE:
        images = np.stack(
            [
                np.asarray(
                    Image.fromarray(each.squeeze()).resize((SIDE, SIDE), Image.Resampling.BOX)
                )
                for each in images
            ]
        )
        images = images.reshape(len(images), SIDE, SIDE, -1)
    count, height, width, channels = images.shape
    across = min(ACROSS, count)
    down = -(-count // across)
    cells = np.zeros((across * down, height, width, channels), np.uint8)
    cells[:count] = images
    whole = (
        cells.reshape(down, across, height, width, channels)
        .swapaxes(1, 2)
        .reshape(down * height, across * width, channels)
    )
    return Sheet(address(enlarged(whole, -(-SIDE // height))), across, down)
