"""Further processes of a comparison: none outlives the one that wanted it."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading

import psutil
import pytest
from launching import launched
from waiting import wait_for

from mucore.errors import MucoreError
from mucore.runner import together, worker
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


# starts a helper on the runs of a home, and waits to be killed
STARTER = """
import sys, time
from mucore.runner import together
from mucore.store import open_store
with open_store(sys.argv[1]) as store:
    keys = [job.key for job in store.jobs()]
    with together.helpers(store, keys, 1, device="cpu"):
        time.sleep(600)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs process groups")
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
        assert {(job.state, job.attempts) for job in store.jobs()} == {("queued", 0)}


@pytest.mark.parametrize("told", ["", '{"keys": ['])
def test_a_helper_that_is_not_told_what_to_do_ends_with_a_sentence(told, monkeypatch, capsys):
    monkeypatch.setattr(worker, "stop_on_signals", threading.Event)
    monkeypatch.setattr(sys, "stdin", io.StringIO(told))
    assert together.main() == 1
    assert "Traceback" not in (said := capsys.readouterr().err) and len(said.splitlines()) == 1


def test_a_helper_that_cannot_work_says_why(tmp_path, monkeypatch, capsys):
    def refused(*_, **__):
        raise MucoreError("No such device.")

    content = {"keys": [], "device": "cpu", "parent": os.getppid()}
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path))
    monkeypatch.setattr(worker, "stop_on_signals", threading.Event)
    monkeypatch.setattr(worker, "set_threads", lambda count: None)
    monkeypatch.setattr(worker, "work", refused)
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(content)))
    assert together.main() == 1
    assert capsys.readouterr().err == "No such device.\n"


def test_a_helper_that_ends_before_it_is_told_what_to_do_stops_nobody(tmp_path, capfd):
    keys = ["0" * 24] * 20_000  # more than a pipe holds
    process = together.start("mucore.no_such_module", {"keys": keys}, tmp_path)
    assert process.wait(60) != 0
