"""Processes that the launcher starts, keeps alive and ends."""

from __future__ import annotations

import ctypes
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

QUICK_SECONDS = 10.0  # a process that lives shorter than this failed to start
QUICK_DEATHS = 5
GRACE_SECONDS = 10.0  # from the polite request to end to the hard one
_PR_SET_PDEATHSIG = 1  # of <linux/prctl.h>


def say(text: str) -> None:
    print(text, flush=True)


class Child:
    """One process that is kept alive: started again when it dies, later and later, until it has
    died at once too often.
    """

    def __init__(self, name: str, start: Callable[[], subprocess.Popen], log: Path):
        self.name, self.log = name, log
        self._start = start
        self.process: subprocess.Popen | None = None
        self.quick_deaths = 0
        self.given_up = False
        self._born = 0.0
        self._not_before = 0.0

    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def keep(self) -> None:
        """Start the process if it is not there and may be."""
        if self.given_up or self.alive():
            return
        now = time.monotonic()
        if self.process is not None:
            self.quick_deaths = self.quick_deaths + 1 if now - self._born < QUICK_SECONDS else 0
            code, self.process = self.process.returncode, None
            if self.quick_deaths >= QUICK_DEATHS:
                self.given_up = True
                say(
                    f"The {self.name} ended {QUICK_DEATHS} times at once (exit code {code}) and "
                    f"is not started again. {self.last_words()}"
                )
                return
            wait = 2.0 ** (self.quick_deaths - 1) if self.quick_deaths else 0.0
            self._not_before = now + wait
            say(
                f"The {self.name} ended (exit code {code}); starting it "
                f"again{f' in {wait:.0f} s' if wait else ''}."
            )
        if now >= self._not_before:
            self.process = self._start()
            self._born = time.monotonic()

    def last_words(self) -> str:
        """Where the log is, and its last line."""
        try:
            lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        except OSError:
            lines = []
        return f"Log: {self.log}" + (f" ({lines[-1].strip()})" if lines else "")


def end_all(processes: list[subprocess.Popen]) -> None:
    """Ask processes to end, then end them and their children by force."""
    import psutil

    trees = []
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            tree = psutil.Process(process.pid)
            trees += [tree, *tree.children(recursive=True)]
        process.send_signal(signal.CTRL_BREAK_EVENT if sys.platform == "win32" else signal.SIGTERM)
    _, stubborn = psutil.wait_procs(trees, timeout=GRACE_SECONDS)
    for process in stubborn:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    for process in processes:
        process.wait()


def own_group(*, with_parent: bool = True) -> dict[str, Any]:
    """Arguments of Popen that keep a terminal's Ctrl-C away from a child. `with_parent`: on Linux
    the child ends with this program, also where that is killed.
    """
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    ends = {"preexec_fn": _end_with_parent} if with_parent and sys.platform == "linux" else {}
    return {"start_new_session": True, **ends}


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
