"""What runs in a child process of `mucore.runner.children`, before and around what it was asked.

Imports little: a child is ready soon, and what it is asked to do brings PyTorch where it needs it.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

Say = Callable[[dict[str, Any]], None]
READY, ENDED, RAISED, SAID = "ready", "ended", "raised", "said"  # kinds of messages
_PR_SET_PDEATHSIG = 1  # of linux/prctl.h
_HERE = str(Path(__file__).parents[1])


def main(target: str, folder: str, memory: str, parent: str) -> None:
    """Call `target`, "module:function", with the folder and a function that sends messages.

    Messages go to the parent through what was the standard output, a line of JSON each; what is
    printed goes where errors do. Nothing can be read from the standard input.
    """
    wire, keys = os.fdopen(os.dup(1), "w", encoding="utf-8"), os.dup(0)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    # a line is read as it comes, and none is lost
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", errors="replace", buffering=1, closefd=False)
    lock = threading.Lock()

    def send(kind: str, content: dict[str, Any]) -> None:
        with lock:
            try:
                wire.write(json.dumps([kind, content]) + "\n")
                wire.flush()
            except (OSError, ValueError):  # nobody listens any more
                _end_all()

    _end_with(int(parent), keys)
    _confine(int(float(memory)))
    try:
        module, _, name = target.partition(":")
        function = getattr(importlib.import_module(module), name)
        send(READY, {})
        function(Path(folder), lambda message: send(SAID, message))
    except BaseException as error:  # whatever it is, it is told, and ends this process alone
        send(RAISED, _told(error))
    else:
        send(ENDED, {})
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(0)  # threads and exit handlers of others are not waited for


def _told(error: BaseException) -> dict[str, Any]:
    try:
        text = " ".join(str(error).split())
    except Exception:
        text = ""
    trace = traceback.format_exception(error)
    return {
        "kind": type(error).__name__,
        "ours": type(error).__module__ == "mucore.errors",
        "text": text[:1000],
        "where": _where(error),
        "traceback": "".join(trace)[-20_000:],
    }


def _where(error: BaseException) -> str:
    """` (mine.py, line 12)`: the last place outside of mucore and of installed packages; "" where
    there is none.
    """
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((_HERE, "<")) and "site-packages" not in frame.filename
    ]
    return f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""


def _end_with(parent: int, keys: int) -> None:
    """End with the parent: when its end of the standard input is closed, and, where the system does
    that, even while a library holds every thread.
    """
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            _end_all()

    def wait() -> None:
        with contextlib.suppress(OSError):
            if os.read(keys, 1) == b"":
                _end_all()

    threading.Thread(target=wait, daemon=True).start()


def _end_all() -> None:
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


def _confine(memory: int) -> None:
    """No file of a crash's memory, the first to go where memory runs out, and at most so many bytes
    of its own; 0: as many as there are.
    """
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # not on Windows

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if memory:
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
