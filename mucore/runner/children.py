"""A process of its own for code that is not mucore's, such as a user's method.

It is started afresh, so it shares nothing with this process; it gets a folder, and messages and
files are all that comes back. It is watched, with whatever it starts, and ended with all of that at
the end of its time, at too much memory, when somebody cancels, and with this process. What goes
wrong in it is one sentence. Imports no torch.
"""

from __future__ import annotations

import contextlib
import json
import logging
import math
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

import psutil

from mucore import errors
from mucore.errors import BadValue, MethodFailed, MucoreError
from mucore.runner.inside import ENDED, RAISED, READY, SAID

SECONDS, GIGABYTES = "MUCORE_METHOD_SECONDS", "MUCORE_METHOD_GB"  # settings
# where they are not set
LEAST_SECONDS, TIMES_RETRAIN = 600.0, 20.0
SHARE_OF_FREE = 0.75
SHORT_SECONDS, SHORT_GIGABYTES = 180.0, 4.0
START_SECONDS = 300.0  # to import what it needs, on a machine that does much else
TICK, LOOK = 0.1, 0.25  # seconds from one question to the next: cancelled? how much memory?
PRINTED = 20_000  # bytes that are kept of what is printed first, and of what is printed last
MOST_PROCESSES = max(64, 4 * (os.cpu_count() or 1))
_MARK = "MUCORE_CHILD"  # in the environment of a child and of all that it starts
_LONGEST = 1 << 20  # bytes of a message
_WAITING = 1000  # messages; one that sends more at a time waits

log = logging.getLogger("mucore")
OnMessage = Callable[[dict[str, Any]], float | None]


@dataclass(frozen=True)
class Limits:
    """What a child may take: seconds on the wall once it is ready, and bytes of resident memory,
    together with all that it starts.
    """

    seconds: float
    memory: float


def limits(retrain_seconds: float | None = None) -> Limits:
    """The settings, or 20 times Retrain's seconds but ten minutes at least, and three quarters of
    what memory is free now. Raises `BadValue` for a setting that is no number.
    """
    return _limits(max(LEAST_SECONDS, TIMES_RETRAIN * (retrain_seconds or 0.0)), math.inf)


def short_limits() -> Limits:
    """The settings, or three minutes and 4 GB where so much is free: of a trial on small problems
    that somebody waits for. Raises `BadValue`.
    """
    return _limits(SHORT_SECONDS, SHORT_GIGABYTES)


def _limits(seconds: float, gigabytes: float) -> Limits:
    from mucore.fitting import free_memory  # brings what no child needs

    gigabytes = min(gigabytes, SHARE_OF_FREE * free_memory() / 1e9)
    return Limits(_setting(SECONDS, seconds), _setting(GIGABYTES, gigabytes) * 1e9)


def _setting(name: str, default: float) -> float:
    text = os.environ.get(name) or ""
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < 1e9:
        raise BadValue(f"{name} is a number above 0, such as 60, but got {text[:40]!r}.")
    return value


def run(
    target: str,
    folder: Path,
    limits: Limits,
    *,
    who: str,
    on_message: OnMessage,
    on_print: Callable[[str], None] = lambda text: None,
    asked: Callable[[], None] = lambda: None,
    on_device: bool = False,
) -> None:
    """Call `target`, "module:function", as `function(folder, say)` in a process of its own, and
    wait for its end; `on_message` gets what it says and may return seconds that do not count.

    `asked` is called all the while, to raise where it shall stop; `on_print` gets what is printed,
    in whole lines as they come and, of more than 40 kB, only the last ones, at the end. `who`
    stands in sentences. A child that works on a GPU, `on_device`,
    is watched alone, for drivers reserve more memory than there is. Raises `MethodFailed` where it
    does not come to its end within its limits, and the `BadValue`, `Refused` or `BadFile` that it
    raised.
    """
    child = _Child(target, folder, limits, who, confined=not on_device)
    try:
        child.attend(on_message, on_print, asked)
    finally:
        child.end()
        if text := child.printed(all_of_it=True):
            on_print(text)


class _Child:
    def __init__(self, target: str, folder: Path, limits: Limits, who: str, *, confined: bool):
        self.limits, self.who = limits, who
        self.mark = uuid.uuid4().hex
        arguments = [target, str(folder), str(limits.memory if confined else 0), str(os.getpid())]
        code = (
            "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
            "from mucore.runner.inside import main; main(*sys.argv[2:])"
        )
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, json.dumps(sys.path), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, _MARK: self.mark},
            start_new_session=True,  # Ctrl-C does not reach it; ignored on Windows
        )
        self.seen: set[psutil.Process] = set()
        self._messages: queue.Queue[bytes] = queue.Queue(_WAITING)
        self._over = False  # what comes now is not heard any more
        self._first, self._last, self._more, self._told = b"", b"", 0, 0
        self._threads = [
            threading.Thread(target=work, daemon=True) for work in (self._listen, self._drain)
        ]
        for thread in self._threads:
            thread.start()

    # -- what comes from it

    def _listen(self) -> None:
        stream = _stream(self.process.stdout)
        for line in iter(partial(stream.readline, _LONGEST), b""):
            if not self._over:
                self._messages.put(line)

    def _drain(self) -> None:
        """Read what is printed, or it would wait for ever, and keep little of it."""
        descriptor = _stream(self.process.stderr).fileno()
        while part := os.read(descriptor, 1 << 16):
            room = PRINTED - len(self._first)
            self._first += part[:room]
            last = self._last + part[room:] if room > 0 else self._last + part
            self._more += max(0, len(last) - PRINTED)
            self._last = last[-PRINTED:]

    def printed(self, *, all_of_it: bool = False) -> str:
        """The whole lines that came since the last call, or all that came, but for the middle of
        much.
        """
        new = self._first[self._told :]
        if not all_of_it:
            new = new[: new.rfind(b"\n") + 1]
        self._told += len(new)
        if all_of_it:
            left_out = f"\n... {self._more:,} bytes more ...\n".encode() if self._more else b""
            new += left_out + self._last
        return new.decode(errors="replace").strip()

    # -- while it works

    def attend(
        self, on_message: OnMessage, on_print: Callable[[str], None], asked: Callable[[], None]
    ) -> None:
        end, look, ready = time.monotonic() + START_SECONDS, 0.0, False
        while True:
            asked()
            kind, content = self._next()
            if kind == READY:
                end, ready = time.monotonic() + self.limits.seconds, True
            elif kind == SAID:
                end += on_message(content) or 0.0
            elif kind == RAISED:
                raise self._raised(content)
            elif kind == ENDED:
                return
            now = time.monotonic()
            if now > end:
                raise self._too_long(ready)
            if now >= look:
                self._look()
                if text := self.printed():
                    on_print(text)
                look = now + LOOK

    def _next(self) -> tuple[str, dict[str, Any]]:
        """The kind and content of its next message; "" where none has come in a while."""
        try:
            line = self._messages.get(timeout=TICK)
        except queue.Empty:
            if self.process.poll() is None:
                return "", {}
            self._kill()  # those that it left hold the pipe open
            self._threads[0].join(timeout=2.0)
            if self._messages.empty():
                raise self._died() from None
            line = self._messages.get()
        with contextlib.suppress(ValueError, TypeError):
            kind, content = json.loads(line)
            if isinstance(content, dict):
                return str(kind), content
        return "", {}  # none of ours

    def _look(self) -> None:
        held, family = 0, []
        with contextlib.suppress(psutil.Error):
            me = psutil.Process(self.process.pid)
            family = [me, *me.children(recursive=True)]
        self.seen.update(family)
        for each in family:
            with contextlib.suppress(psutil.Error):
                held += each.memory_info().rss
        if len(family) > MOST_PROCESSES:
            raise MethodFailed(
                f"{self.who} was ended when it had started {len(family) - 1:,} processes; "
                f"{MOST_PROCESSES - 1} are allowed at a time."
            )
        if held > self.limits.memory:
            raise MethodFailed(
                f"{self.who} was ended when it and the processes that it had started held "
                f"{held / 1e9:.3g} GB. {self._allowed_memory()}"
            )

    # -- what went wrong

    def _raised(self, content: dict[str, Any]) -> MucoreError:
        kind, text = str(content.get("kind")), str(content.get("text"))
        log.info("%s", content.get("traceback"))
        if content.get("ours") and kind in ("BadValue", "Refused", "BadFile"):
            return getattr(errors, kind)(text)
        where = str(content.get("where") or "")[:200]
        text = text[:300].rstrip(". ")
        if kind == "SystemExit":
            return MethodFailed(f"{self.who} called sys.exit({text}){where}. It has to return.")
        if content.get("ours") and text:
            return MethodFailed(f"{self.who} ended with an error{where}: {text}.")
        if kind == "MemoryError" or "allocate memory" in text:  # the second is PyTorch's way
            return MethodFailed(f"{self.who} asked for too much{where}. {self._allowed_memory()}")
        return MethodFailed(f"{self.who} raised {kind}{': ' if text else ''}{text}{where}.")

    def _died(self) -> MethodFailed:
        code = self.process.returncode
        how = f"with exit code {code}"
        if code < 0:
            with contextlib.suppress(ValueError):
                how = f"by the signal {signal.Signals(-code).name}"
        why = (
            "most likely the system ended it because memory ran out"
            if code == -getattr(signal, "SIGKILL", 9)
            else "os._exit, or a crash in a library"
        )
        return MethodFailed(f"{self.who} ended its process {how} before it returned: {why}.")

    def _too_long(self, ready: bool) -> MethodFailed:
        if not ready:
            return MethodFailed(
                f"{self.who} could not be started within {START_SECONDS:g} s. Try it again when "
                "this machine does less."
            )
        return MethodFailed(
            f"{self.who} was ended after {self.limits.seconds:.3g} s, the time that it may take. "
            f"Set {SECONDS} to allow more."
        )

    def _allowed_memory(self) -> str:
        return (
            f"It may take {self.limits.memory / 1e9:.3g} GB on this machine. Set {GIGABYTES} to "
            "allow more."
        )

    # -- its end

    def end(self) -> None:
        """End it and all that it started. What hangs in the kernel is left to it."""
        _stream(self.process.stdin).close()
        self._kill()
        try:
            self.process.wait(timeout=10.0)
        except subprocess.TimeoutExpired:
            log.warning("%s cannot be ended; it hangs in the kernel or a driver", self.who)
        self._over = True
        with contextlib.suppress(queue.Empty):
            while True:
                self._messages.get_nowait()
        for thread, stream in zip(
            self._threads, (self.process.stdout, self.process.stderr), strict=True
        ):
            thread.join(timeout=2.0)
            if not thread.is_alive():
                _stream(stream).close()

    def _kill(self) -> None:
        for _ in range(50):
            if hasattr(os, "killpg"):  # at once, so that no fork gets away
                with contextlib.suppress(OSError):
                    os.killpg(self.process.pid, signal.SIGKILL)
            left = [each for each in self.seen | _marked(self.mark) if _lives(each)]
            if not left:
                return
            for each in left:
                with contextlib.suppress(psutil.Error):
                    each.kill()
            time.sleep(0.02)


def _marked(mark: str) -> set[psutil.Process]:
    """The processes of a child, those too that have left its session and lost their parents."""
    found = set()
    for each in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if each.environ().get(_MARK) == mark:
                found.add(each)
    return found


def _lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream
