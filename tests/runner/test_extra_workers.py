"""Further processes of a comparison: none outlives the one that wanted it."""

from __future__ import annotations

import os
import subprocess
import sys

import psutil
import pytest
from launching import launched
from waiting import wait_for

from mucore.runner import extra_workers
from mucore.store import open_store


def test_processes_before_one_that_cannot_be_started_are_ended(tmp_path, monkeypatch):
    started: list[subprocess.Popen[bytes]] = []

    def start(*_, **__):
        if started:
            raise OSError("Resource temporarily unavailable")
        started.append(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]))
        return started[0]

    monkeypatch.setattr(extra_workers, "start_process", start)
    with open_store(tmp_path) as store:
        with pytest.raises(OSError, match="unavailable"), extra_workers.extra_workers(store, 3):
            pytest.fail("the block begins once all are there")
    assert started[0].poll() is not None


# starts a helper on a home, and waits to be killed
STARTER = """
import sys, time
from mucore.runner import extra_workers
from mucore.store import open_store
with open_store(sys.argv[1]) as store, extra_workers.extra_workers(store, 1, device="cpu"):
    time.sleep(600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone ends a child with its parent")
def test_ctrl_c_reaches_no_helper_and_none_outlives_who_started_it(tmp_path):
    with open_store(tmp_path) as store:
        launched(store, epochs=2000)
        with subprocess.Popen([sys.executable, "-c", STARTER, str(tmp_path)]) as starter:
            try:
                wait_for(lambda: store.jobs(states=["running"]) or None, 200)
                (helper,) = psutil.Process(starter.pid).children()
                assert os.getpgid(helper.pid) == helper.pid != os.getpgid(starter.pid)
            finally:
                starter.kill()
        assert psutil.wait_procs([helper], timeout=200)[1] == []
        assert {(job.state, job.deaths) for job in store.jobs()} == {("queued", 0)}
