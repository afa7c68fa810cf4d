"""Processes that the launcher starts, keeps alive and ends; and those that an earlier one left
behind.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import psutil

QUICK_SECONDS = 10.0  # a process that lives shorter than this failed to start
QUICK_DEATHS = 5
GRACE_SECONDS = 10.0  # from the polite request to end to the hard one


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


def end_all(processes: list[psutil.Process]) -> None:
    """Ask processes to end, then end them and their children by force."""
    import psutil

    trees = list(processes)
    for process in processes:
        try:
            trees += process.children(recursive=True)
            if sys.platform == "win32":
                process.send_signal(signal.CTRL_BREAK_EVENT)
            else:
                process.terminate()
        except (psutil.NoSuchProcess, PermissionError, OSError):
            pass
    _, stubborn = psutil.wait_procs(trees, timeout=GRACE_SECONDS)
    for process in stubborn:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            pass
    psutil.wait_procs(stubborn, timeout=GRACE_SECONDS)


def left_behind(pid: int) -> psutil.Process | None:
    """The worker process `pid` if the start that it belongs to is gone, else None."""
    import psutil

    try:
        process = psutil.Process(pid)
        command = process.cmdline()
        if "--parent-pid" not in command[:-1]:
            return None  # started by hand: whoever started it ends it
        parent = int(command[command.index("--parent-pid") + 1])
        gone = (
            not psutil.pid_exists(parent)
            or psutil.Process(parent).create_time() > process.create_time()
        )
        return process if gone else None
    except (psutil.Error, ValueError):
        return None


def end_leftover_server(home: Path) -> None:
    """End a Streamlit that a killed start left on a port; its pages come back with the new one."""
    import psutil

    for record in home.glob("app-*.json"):
        try:
            content = json.loads(record.read_text(encoding="utf-8"))
            if process_of(content["app"]) is not None:
                continue  # that start is alive and well
            server = process_of(content["server"])
            if server is not None:
                say(
                    "Ending the dashboard that an earlier start left behind (process "
                    f"{server.pid})."
                )
                end_all([server])
            record.unlink(missing_ok=True)
        except (OSError, ValueError, KeyError, TypeError, psutil.Error):
            continue  # not our record, or gone meanwhile: the port check has the last word


def identity(pid: int) -> list[float]:
    import psutil

    return [pid, psutil.Process(pid).create_time()]


def process_of(identity: Any) -> psutil.Process | None:
    """The process of a written-down identity, unless it ended (its number may have gone to another
    one).
    """
    import psutil

    if identity is None:
        return None
    pid, created = identity
    try:
        process = psutil.Process(int(pid))
        same = (
            abs(process.create_time() - float(created)) < 1.0
            and process.status() != psutil.STATUS_ZOMBIE
        )
        return process if same else None
    except psutil.NoSuchProcess:
        return None


def own_group() -> dict[str, Any]:
    """Arguments of Popen that keep a terminal's Ctrl-C away from a child: this program passes it on
    in order.
    """
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}
