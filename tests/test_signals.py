"""What asks a process to end: what is said to a closed terminal afterwards, and `nohup`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mucore import signals

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs SIGHUP")

SPEAKS_AFTERWARDS = """
import signal, sys, threading
from pathlib import Path
from mucore import signals

ended = threading.Event()
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signals.on_end(lambda *_: ended.set())
Path(sys.argv[1]).touch()
assert ended.wait(60)
print("what is stored", flush=True)
print("and a word on it", file=sys.stderr, flush=True)
"""


def test_words_for_a_closed_terminal_fail_nothing(tmp_path: Path) -> None:
    import fcntl
    import termios

    ours, theirs = os.openpty()

    def take_terminal() -> None:
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

    ready = tmp_path / "ready"
    process = subprocess.Popen(
        [sys.executable, "-c", SPEAKS_AFTERWARDS, str(ready)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=take_terminal,
    )
    os.close(theirs)
    while not ready.exists():
        assert process.poll() is None
    os.close(ours)  # the window is gone
    assert process.wait(60) == 0


def test_nohup_is_left_alone() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert signals.ending() == [signal.SIGINT, signal.SIGTERM]
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        assert signals.ending(ctrl_c=False) == [signal.SIGTERM, signal.SIGHUP]
    finally:
        signal.signal(signal.SIGHUP, before)
