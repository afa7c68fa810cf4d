"""Images that stay in their files: decoded by Pillow when a batch asks for them, by a pool of
threads, the next batch ahead of its use.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from mucore.errors import BadFile

AHEAD = 4  # batches that wait decoded; two sets read in turn need two each
UNREADABLE = (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError)


class FileImages:
    """Square RGB images (n, 3, size, size) by position, read from `folder`/name each time.

    `margin` is the side to which the shorter edge is brought before the centre is cut out, in units
    of `size` (256/224 as is usual for ImageNet). Threads may read at once; what is read never
    changes, so nothing here is random.
    """

    SAMPLE = 1_000  # images looked at for mean and deviation

    def __init__(self, folder: Path, names: Sequence[str], *, size: int, margin: float = 1.0):
        self.folder, self.names, self.size, self.margin = folder, list(names), size, margin
        self._ahead: dict[bytes, list[Future[np.ndarray]]] = {}

    def __len__(self) -> int:
        return len(self.names)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        return len(self.names), 3, self.size, self.size

    def __getitem__(self, index: np.ndarray) -> FileImages:
        """The images at `index`, int64 (m,)."""
        return FileImages(
            self.folder, [self.names[i] for i in index], size=self.size, margin=self.margin
        )

    def joined(self, other: FileImages) -> FileImages:
        """These images and then those of `other`, which lie in the same folder."""
        return FileImages(self.folder, self.names + other.names, size=self.size, margin=self.margin)

    def take(self, positions: Tensor) -> Tensor:
        """uint8 pixels (m, 3, size, size) for int64 positions (m,). Raises `BadFile` for a file
        that is missing or damaged.
        """
        waiting = self._ahead.pop(positions.numpy().tobytes(), None) or self._read(positions)
        if not waiting:
            return torch.empty((0, *self.shape[1:]), dtype=torch.uint8)
        return torch.from_numpy(np.stack([future.result() for future in waiting]))

    def prefetch(self, positions: Tensor) -> None:
        """Begin to read what `take` will be asked for next."""
        while len(self._ahead) >= AHEAD:  # somebody stopped half-way
            for future in self._ahead.pop(next(iter(self._ahead))):
                future.cancel()
        self._ahead[positions.numpy().tobytes()] = self._read(positions)

    def _read(self, positions: Tensor) -> list[Future[np.ndarray]]:
        return [
            _pool().submit(decode, self.folder / self.names[i], self.size, self.margin)
            for i in positions.tolist()
        ]

    def sample(self) -> Tensor:
        """Up to `SAMPLE` images, evenly spread over all, (m, 3, size, size)."""
        spread = np.linspace(0, len(self) - 1, min(len(self), self.SAMPLE)).round()
        return self.take(torch.from_numpy(np.unique(spread.astype(np.int64))))


def decode_all(paths: Iterable[Path], size: int) -> np.ndarray:
    """Images decoded at once, (n, size, size, 3) uint8, for a set that fits into memory. Raises
    `BadFile`.
    """
    paths = list(paths)
    pixels = np.empty((len(paths), size, size, 3), np.uint8)
    for number, image in enumerate(pooled(lambda path: decode(path, size), paths)):
        pixels[number] = image.transpose(1, 2, 0)
    return pixels


def decode(path: Path, size: int, margin: float = 1.0) -> np.ndarray:
    """One image as (3, size, size) uint8: its shorter edge brought to margin · size by area, then
    the centre. Raises `BadFile`.
    """
    side = round(size * margin)
    try:
        with Image.open(path) as image:
            # a large JPEG is decoded at a fraction of its size, never below twice what is asked
            image.draft("RGB", (2 * side, 2 * side))
            if "transparency" in image.info:
                image = image.convert("RGBA")
            pixels = image.convert("RGB")
    except UNREADABLE as error:
        raise BadFile(
            f"{path} is missing, damaged or no image ({error}). Fetch it again."
        ) from error
    return np.asarray(centred(pixels, side, size)).transpose(2, 0, 1)


def centred(image: Image.Image, side: int, size: int) -> Image.Image:
    """The centre, `size` by `size`, of an image whose shorter edge is brought to `side` by area."""
    width, height = image.size
    if min(width, height) != side:
        scale = side / min(width, height)
        width, height = max(side, round(width * scale)), max(side, round(height * scale))
        image = image.resize((width, height), Image.Resampling.BILINEAR)
    left, top = (width - size) // 2, (height - size) // 2
    return image.crop((left, top, left + size, top + size))


def pooled(work: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
    """What `work` makes of each, in their order, by threads."""
    return _pool().map(work, items)


@functools.cache
def _pool() -> ThreadPoolExecutor:
    # Pillow lets go of the interpreter lock while it decodes. The processors that this process may
    # use, not those of the machine.
    own = (
        os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 2)
    )
    return ThreadPoolExecutor(max(2, len(own)))
