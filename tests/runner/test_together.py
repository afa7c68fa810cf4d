"""Further processes of a comparison: none outlives the one that wanted it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mucore.runner import together
from mucore.store import open_store


def test_processes_before_one_that_cannot_be_started_are_ended(tmp_path, monkeypatch):
    started: list[subprocess.Popen[bytes]] = []

    def start(*_):
        if started:
            raise OSError("Resource temporarily unavailable")
        started.append(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]))
        return started[0]

    monkeypatch.setattr(together, "start", start)
    with open_store(tmp_path) as store:
        with pytest.raises(OSError, match="unavailable"), together.helpers(store, [], 3):
            pytest.fail("the block begins once all are there")
    assert started[0].poll() is not None
