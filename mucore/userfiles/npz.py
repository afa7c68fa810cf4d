"""What an npz file says that it holds, read before anything of it is unpacked: a few kilobytes may
promise any number of gigabytes.
"""

from __future__ import annotations

import io
import math
import struct
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.lib.format as npy

from mucore.errors import BadFile, said

_HEADER = 10_000  # bytes, as much as numpy itself reads
_MOST_DIRECTORY = 1 << 20  # bytes of the list of parts; a thousand arrays take a twentieth
_SAVE = "Save it with numpy.savez(path, x_train=..., y_train=..., x_test=..., y_test=...)."


@dataclass(frozen=True)
class Header:
    """What the file says of one array."""

    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def headers(path: Path, wanted: Iterable[str]) -> dict[str, Header | None]:
    """By name every array of the file, with what it says of itself where it is one of those that
    are `wanted`. Raises `BadFile`.
    """
    wanted = set(wanted)
    try:
        with path.open("rb") as file:
            if _directory(file) > _MOST_DIRECTORY:
                raise BadFile(f"{path} lists more parts than any data set has. {_SAVE}")
            with zipfile.ZipFile(file) as archive:
                entries = {each.filename.removesuffix(".npy"): each for each in archive.infolist()}
                return {
                    name: _header(path, archive, entry) if name in wanted else None
                    for name, entry in entries.items()
                }
    except BadFile:
        raise
    except Exception as error:  # zipfile raises a dozen kinds for archives that were damaged
        raise BadFile(f"{path} is not an npz file ({said(str(error))}). {_SAVE}") from error


def _header(path: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Header:
    name = entry.filename.removesuffix(".npy")
    if entry.flag_bits & 1:
        raise BadFile(f"{path}: {name} is encrypted. Save the file without a password.")
    try:
        with archive.open(entry) as stream:
            start = io.BytesIO(stream.read(_HEADER))
    except Exception as error:
        raise BadFile(
            f"{path}: {name} is damaged ({said(str(error))}). Save the file again."
        ) from error
    try:
        version = npy.read_magic(start)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = read(start)
    except Exception as error:  # a header is read as Python writes it: any text may stand there
        raise BadFile(f"{path}: {name} is not an array ({said(str(error))}). {_SAVE}") from error
    found = Header(shape, dtype)
    if not dtype.hasobject and found.bytes > entry.file_size - start.tell():
        raise BadFile(
            f"{path}: {name} is damaged: it says that it holds {found.bytes:,} bytes, but there "
            f"are {max(entry.file_size - start.tell(), 0):,}. Save the file again."
        )
    return found


def _directory(file: BinaryIO) -> int:
    """Bytes of the list of parts at the end of a zip archive, which zipfile reads as a whole; 0
    where there is none. Its length stands behind it, once more in archives above 4 GiB.
    """
    size = file.seek(0, io.SEEK_END)
    file.seek(max(size - 66_000, 0))
    end = file.read()
    place = end.rfind(b"PK\x05\x06")
    found = struct.unpack_from("<I", end, place + 12)[0] if 0 <= place <= len(end) - 22 else 0
    large = end.rfind(b"PK\x06\x06")
    if 0 <= large <= len(end) - 56:
        found = max(found if found < 2**32 - 1 else 0, struct.unpack_from("<Q", end, large + 40)[0])
    file.seek(0)
    return found
