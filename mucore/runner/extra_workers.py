"""Further workers beside this process, each with one thread."""

from __future__ import annotations

import subprocess
from collections.abc import Generator
from contextlib import contextmanager

from mucore.errors import BadValue, said
from mucore.processes import end_all
from mucore.runner.spawn import start_process
from mucore.store import Store

MOST_JOBS = 1024


@contextmanager
def extra_workers(store: Store, count: int, *, device: str = "auto") -> Generator[None]:
    """`count` workers that take jobs of the store until the block ends, or this process on Linux;
    then they give back what they have in hand.
    """
    others: list[subprocess.Popen] = []
    command = ["worker", "--device", device, "--threads", "1"]
    try:
        for number in range(1, count + 1):  # so that those before one that fails are ended
            mine = [*command, "--number", str(number)]
            others.append(start_process(store, mine, detached=False))
        yield
    finally:
        end_all(others)


def check_jobs(jobs: int) -> None:
    """Raise `BadValue` where nobody would work, or more processes than a machine has room for."""
    if not 1 <= jobs <= MOST_JOBS:
        raise BadValue(
            f"The work takes one process at least and {MOST_JOBS} at most, but got {said(jobs)}."
        )
