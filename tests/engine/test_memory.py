"""Freed memory is kept for the next step, and handed back when asked."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import psutil, torch
from mucore.engine.memory import give_back, keep_freed
process, size = psutil.Process(), 2**28
if not keep_freed():
    print("another C library")
    raise SystemExit
torch.ones(16)
before = process.memory_info().rss
block = torch.ones(size // 4)
del block
kept = process.memory_info().rss - before
give_back()
print(kept >= 0.9 * size, process.memory_info().rss - before < 0.1 * size)
"""


@pytest.mark.slow
def test_freed_memory_stays_until_it_is_given_back():
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    if run.stdout.strip() == "another C library":
        pytest.skip("only glibc can be told to")
    assert run.stdout.split() == ["True", "True"]
