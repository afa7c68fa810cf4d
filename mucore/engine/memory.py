"""What glibc does with memory that a training step has freed; elsewhere these do nothing.

By default glibc hands every block above 32 MB back to the system as soon as it is freed, and the
next step gets it anew, page by page, each filled with zeros first. The activations of a batch of
64-pixel images are such blocks.
"""

from __future__ import annotations

import ctypes
import functools
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of malloc.h
_LARGEST = 2**31 - 1


def keep_freed() -> bool:
    """Keep what is freed for the next allocation; whether the C library can do that."""
    libc = _glibc()
    return (
        libc is not None
        and bool(libc.mallopt(_TRIM_THRESHOLD, _LARGEST))
        and bool(libc.mallopt(_MMAP_THRESHOLD, _LARGEST))
    )


def give_back() -> None:
    """Hand to the system what was kept, so that resident memory is memory in use."""
    libc = _glibc()
    if libc is not None:
        libc.malloc_trim(0)


@functools.cache
def _glibc() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None)
    return libc if hasattr(libc, "mallopt") and hasattr(libc, "malloc_trim") else None
