"""An analysis as a process of its own that outlives whoever started it, and what the files under
`<home>/analyses` say of it.

Beside an analysis `<key>.npz` or `.json` lie `<key>.progress` while it is computed or after it
failed, and `<key>.log`, what it printed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

import psutil

from mucore import analysis
from mucore.errors import StoreError
from mucore.files import write

ENDED = "The computation was ended before it was done. Start it again."
_SAME_START_SECONDS = 2.0  # how far two readings of a process's start may lie apart
_EVERY_SECONDS = 0.5


class State(NamedTuple):
    """`progress` in 0..1 and `step`, what is being done, while it runs; `error`, a sentence, where
    it failed.
    """

    state: Literal["running", "failed", "absent"]
    progress: float = 0.0
    step: str = ""
    error: str = ""


def state(home: Path, key: str) -> State:
    """How far an analysis that is not stored yet has come."""
    _take_leave()
    try:
        content = json.loads(_path(home, key).read_text(encoding="utf-8"))
        pid, created, done, step, error = (
            content[name] for name in ("pid", "created", "progress", "step", "error")
        )
    except (OSError, ValueError, TypeError, KeyError):
        return State("absent")
    if error:
        return State("failed", error=str(error))
    if not _lives(pid, created):
        return State("failed", error=" ".join([ENDED, *_last_words(home, key)]))
    return State("running", float(done), str(step))


def start(
    home: Path, kind: str, parameters: Mapping[str, Any], *, pack: Path | None = None
) -> None:
    """Compute an analysis of the runs in the home, or in a pack, as a detached process, unless it
    is there or under way.

    Raises `UnknownName`, `BadValue`, `BadFile`, `StoreError`.
    """
    place, key = analysis.place(home, pack), analysis.key(kind, parameters)
    if analysis.find(place, kind, parameters) is not None or state(place, key).state == "running":
        return
    command = [
        sys.executable,
        "-m",
        "mucore",
        "analyse",
        kind,
        "--params",
        json.dumps(dict(parameters)),
        "--home",
        str(home),
    ]
    command += ["--pack", str(pack)] if pack is not None else []
    root = Path(__file__).resolve().parents[2]  # the checkout, where the package is not installed
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")])),
    }
    log = _path(place, key).with_suffix(".log")
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as sink:
            process = subprocess.Popen(
                command,
                stdout=sink,
                stderr=sink,
                stdin=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,  # ignored on Windows, where the flag below does the same
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
    except OSError as error:
        raise StoreError(
            f"The analysis could not be started: {error.strerror or error}."
        ) from error
    _STARTED.append(process)
    Reporter(place, key, process.pid)  # the process itself takes a moment to come up


_STARTED: list[subprocess.Popen] = []


def _take_leave() -> None:
    """A child that has ended counts as a process until its parent takes note."""
    _STARTED[:] = [process for process in _STARTED if process.poll() is None]


class Reporter:
    """Keeps the progress file of an analysis that process `pid` (default: this one) computes."""

    def __init__(self, home: Path, key: str, pid: int | None = None):
        self.path = _path(home, key)
        self.pid = os.getpid() if pid is None else pid
        self._last = 0.0
        self(0.0, "starting", force=True)

    def __call__(self, done: float, step: str, *, force: bool = False) -> None:
        if force or time.monotonic() - self._last >= _EVERY_SECONDS:
            self._last = time.monotonic()
            self._write(min(max(done, 0.0), 1.0), step, "")

    def failed(self, sentence: str) -> None:
        self._write(0.0, "", sentence)

    def done(self) -> None:
        with suppress(OSError):
            self.path.unlink(missing_ok=True)

    def _write(self, done: float, step: str, error: str) -> None:
        try:
            created = psutil.Process(self.pid).create_time()
        except psutil.NoSuchProcess:
            created = 0.0
        content = {
            "pid": self.pid,
            "created": created,
            "progress": done,
            "step": step,
            "error": error,
        }
        write(self.path, json.dumps(content).encode())


def _path(home: Path, key: str) -> Path:
    return analysis.folder(home) / f"{key}.progress"


def _last_words(home: Path, key: str) -> list[str]:
    try:
        lines = (
            _path(home, key)
            .with_suffix(".log")
            .read_text(encoding="utf-8", errors="replace")
            .strip()
            .splitlines()
        )
    except OSError:
        return []
    return [f"Its last words were: {lines[-1].strip()}"] if lines else []


def _lives(pid: int, created: float) -> bool:
    try:
        process = psutil.Process(pid)
        return (
            abs(process.create_time() - created) < _SAME_START_SECONDS
            and process.status() != psutil.STATUS_ZOMBIE
        )
    except psutil.Error:
        return False
