"""What a child process is asked to do in tests of `mucore.runner.children`: well, and otherwise."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Say = Callable[[dict[str, Any]], None]


def well(folder: Path, say: Say) -> None:
    say({"at": 0.5})
    (folder / "answer").write_text((folder / "question").read_text()[::-1], encoding="utf-8")
    say({"at": 1.0})


def surroundings(folder: Path, say: Say) -> None:
    say({"path": sys.path, "pid": os.getpid(), "torch": "torch" in sys.modules})


def raises(folder: Path, say: Say) -> None:
    raise ZeroDivisionError("no luck\nat all")


def refuses(folder: Path, say: Say) -> None:
    from mucore.errors import Refused

    raise Refused("Not with me. Choose another.")


def leaves(folder: Path, say: Say) -> None:
    sys.exit(3)


def interrupts(folder: Path, say: Say) -> None:
    raise KeyboardInterrupt


def drops_dead(folder: Path, say: Say) -> None:
    os._exit(0)


def crashes(folder: Path, say: Say) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def never_ends(folder: Path, say: Say) -> None:
    say({"pid": os.getpid()})
    while True:
        pass


def hears_nothing(folder: Path, say: Say) -> None:
    """As a library that hangs inside a call: no signal that can be refused gets through."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    say({"pid": os.getpid()})
    while True:
        time.sleep(60)


def fills_memory(folder: Path, say: Say) -> None:
    kept = []
    while True:
        kept.append(bytearray(os.urandom(1 << 20)) * 16)


def multiplies(folder: Path, say: Say) -> None:
    """A slow fork bomb, with an end where nobody stops it."""
    for _ in range(12):
        os.fork()
        time.sleep(0.1)
    time.sleep(60)


def leaves_others_behind(folder: Path, say: Say) -> None:
    """A process in a session of its own, whose parent is gone."""
    text = (
        "import os, subprocess, sys; "
        "options = {'start_new_session': True, 'stdout': -3, 'stderr': -3}; "
        "print(subprocess.Popen(['sleep', '600'], **options).pid)"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    say({"pid": int(done.stdout)})


def talks(folder: Path, say: Say) -> None:
    print("first words", flush=True)
    line = "x" * 1023
    for _ in range(300 << 10):  # 300 MB
        print(line)
    print("last words", file=sys.stderr, flush=True)


def prints_and_never_ends(folder: Path, say: Say) -> None:
    print("here I am")
    while True:
        pass


def asks(folder: Path, say: Say) -> None:
    say({"said": input("Go on? ")})


def closes_everything(folder: Path, say: Say) -> None:
    os.closerange(0, 100)
    time.sleep(600)
