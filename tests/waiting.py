"""Waiting for what other processes and threads do."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def wait_for(condition: Callable[[], T | None], seconds: float = 60.0) -> T:
    """What `condition` gives once that is neither None nor False; fails after `seconds`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if (value := condition()) is not None and value is not False:
            return value
        time.sleep(0.1)
    raise AssertionError(f"waited {seconds} s in vain")
