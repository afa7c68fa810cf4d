"""How much memory there is, and how many of something go into a budget of it. Imports no torch:
plans ask, too.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import psutil

from mucore.errors import BadFile

# Bytes of a chunk: 256 samples of a ResNet-18 at 32 pixels hold 1.2 GB for their gradient, so that
# the usual networks for small images are cut as they were before chunks followed memory.
BUDGET = 2 * 2**30

CGROUP = Path("/sys/fs/cgroup")
COPIES = 3  # of its arrays while a file becomes a data set
SMALL = 64 << 20  # bytes not worth a look at the memory


def free_memory() -> float:
    """Bytes that programs on this machine, or in this container, could still get."""
    free = float(psutil.virtual_memory().available)
    with contextlib.suppress(OSError, ValueError):  # no container, or one without a limit
        limit = int((CGROUP / "memory.max").read_text())
        used = int((CGROUP / "memory.current").read_text())
        given_back = dict(
            line.split() for line in (CGROUP / "memory.stat").read_text().splitlines()
        )
        free = min(free, limit - used + int(given_back.get("inactive_file", 0)))
    return max(free, 0.0)


def fitting(size: float, most: int, budget: float) -> int:
    """`most`, or so many halvings of it (rounded down, at least 1) that as many times `size` stays
    within `budget`.
    """
    while most > 1 and most * size > budget:
        most //= 2
    return most


def check_fits(path: Path, size: int) -> None:
    """Raise `BadFile` where a data set of so many bytes does not fit into memory."""
    if size > SMALL and COPIES * size > (free := free_memory()):
        raise BadFile(
            f"{path} unpacks to {size / 1e9:.1f} GB and takes {COPIES * size / 1e9:.1f} GB while "
            f"it is read, but {free / 1e9:.1f} GB of memory are free. Give fewer images or smaller "
            "ones, or end other programs."
        )
