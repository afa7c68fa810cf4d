"""A process of its own for code that is not mucore's, such as a user's method.

It is started afresh with the variables of `ENVIRONMENT` alone; it gets a folder, and files there
are all that comes back. It is ended, with whatever it started, at its end, at the end of its time,
at too much memory, when somebody cancels, and with this process. What goes wrong in it is one
sentence. Imports no torch.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import logging
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import psutil

from mucore import errors
from mucore.errors import BadValue, MethodFailed, MucoreError, StoreError

SECONDS, GIGABYTES = "MUCORE_METHOD_SECONDS", "MUCORE_METHOD_GB"  # settings
# where they are not set
LEAST_SECONDS, TIMES_RETRAIN = 600.0, 20.0
SHARE_OF_FREE = 0.75
TICK = 0.1  # seconds from one look at the child to the next
MOST_PRINTED = 1_000_000  # bytes that are kept of what is printed
# The variables of a child: of the system, of libraries that compute, and where methods are. No
# address of a store, no token.
ENVIRONMENT = re.compile(
    r"HOME|LANG|LANGUAGE|PATH|PATHEXT|SYSTEMROOT|TEMP|TMP|TMPDIR|USERPROFILE"
    r"|MUCORE_(HOME|PLUGINS)|NVIDIA_(VISIBLE_DEVICES|DRIVER_CAPABILITIES)"
    r"|(LC|LD|DYLD|CUBLAS|CUDA|CUDNN|KMP|MKL|OMP|OPENBLAS|PYTORCH|TORCH)_.*"
)
MARK = "MUCORE_CHILD"  # names the folder of a child to all that it starts
_MESSAGES, _PRINTED = "messages", "printed"  # files in the folder
_RAISED, _ENDED = "raised", "ended"  # keys of a child's last message
_PASSED_ON = ("BadFile", "BadValue", "MethodFailed", "Refused")

log = logging.getLogger("mucore")
Say = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Limits:
    """What a child may take: seconds on the wall, and bytes of resident memory, together with all
    that it starts.
    """

    seconds: float
    memory: float


def limits(retrain_seconds: float | None = None) -> Limits:
    """The settings, or 20 times Retrain's seconds but ten minutes at least, and three quarters of
    what memory is free now. Raises `BadValue` for a setting that is no number.
    """
    from mucore.fitting import free_memory  # brings what no child needs

    seconds = max(LEAST_SECONDS, TIMES_RETRAIN * (retrain_seconds or 0.0))
    gigabytes = SHARE_OF_FREE * free_memory() / 1e9
    return Limits(_setting(SECONDS, seconds), _setting(GIGABYTES, gigabytes) * 1e9)


def _setting(name: str, default: float) -> float:
    text = os.environ.get(name) or str(default)
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < 1e9:
        raise BadValue(f"{name} is a number above 0, such as 60, but got {text[:40]!r}.")
    return value


@contextlib.contextmanager
def folder() -> Generator[Path]:
    """A folder for what goes to a child and comes from it, deleted afterwards. Raises `StoreError`
    for what the disk refuses inside.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="mucore-", ignore_cleanup_errors=True) as name:
            yield Path(name)
    except OSError as error:
        raise StoreError(
            f"The method cannot be run: {error}. Free some space, or set TMPDIR."
        ) from error


def run(
    target: str,
    folder: Path,
    limits: Limits,
    *,
    who: str,
    on_message: Callable[[dict[str, Any]], object],
    on_print: Callable[[str], None] = lambda text: None,
    asked: Callable[[], None] = lambda: None,
) -> None:
    """Call `target`, "module:function", as `function(folder, say)` in a process of its own, and
    wait for its end; `on_message` gets what it says.

    `asked` is called all the while, to raise where it shall stop; `on_print` gets what is printed
    as it comes, the first `MOST_PRINTED` bytes. `who` stands in sentences. Raises `MethodFailed`
    where it does not come to its end within its limits, and the `BadValue`, `Refused` or `BadFile`
    that it raised.
    """
    end, over = time.monotonic() + limits.seconds, False
    with (
        (folder / _MESSAGES).open("a+b") as messages,
        (folder / _PRINTED).open("a+b") as printed,
        _started(target, folder) as child,
    ):
        try:
            while not _heard(messages, who, on_message):
                if over:
                    raise MethodFailed(
                        f"{who} ended its process (exit code {child.returncode}) before it "
                        "returned: os._exit, a crash in a library, or the system's want of memory."
                    )
                over = child.poll() is not None
                asked()
                _tell_printed(printed, on_print)
                if time.monotonic() > end:
                    raise _too_much(who, f"{limits.seconds:.3g} s", SECONDS)
                if sum(map(_memory, _all_of(child.pid))) > limits.memory:
                    raise _too_much(who, f"{limits.memory / 1e9:.3g} GB of memory", GIGABYTES)
                time.sleep(TICK)
        finally:
            for process in [*_all_of(child.pid), *_marked(folder)]:
                with contextlib.suppress(psutil.Error):
                    process.kill()
            _tell_printed(printed, on_print)


def _started(target: str, folder: Path) -> subprocess.Popen[bytes]:
    environment = {name: value for name, value in os.environ.items() if ENVIRONMENT.fullmatch(name)}
    environment |= {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUNBUFFERED": "1"}
    environment[MARK] = str(folder)
    with (folder / _PRINTED).open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-P", "-m", __name__, target, str(folder)],
            stdin=subprocess.PIPE,  # which tells it of the end of this process
            stdout=output,
            stderr=output,
            env=environment,
            start_new_session=True,  # Ctrl-C does not reach it; ignored on Windows
        )


def _heard(messages: BinaryIO, who: str, on_message: Callable[[dict[str, Any]], object]) -> bool:
    """Pass on what the child has said; whether it has come to its end."""
    for message in map(json.loads, _new_lines(messages)):
        if _RAISED in message:
            raise _raised(who, **message[_RAISED])
        if _ENDED in message:
            return True
        on_message(message)
    return False


def _new_lines(file: BinaryIO) -> Iterator[bytes]:
    """The whole lines that have come since the last call."""
    while (line := file.readline()).endswith(b"\n"):
        yield line
    file.seek(-len(line), os.SEEK_CUR)


def _tell_printed(printed: BinaryIO, on_print: Callable[[str], None]) -> None:
    if text := printed.read(MOST_PRINTED - printed.tell()).decode(errors="replace").strip():
        on_print(text)
    if printed.tell() >= MOST_PRINTED:
        printed.truncate(MOST_PRINTED)  # so that the disk holds whatever is printed


def _all_of(pid: int) -> list[psutil.Process]:
    """A process and all that it started."""
    try:
        parent = psutil.Process(pid)
        return [parent, *parent.children(recursive=True)]
    except psutil.Error:  # it has ended
        return []


def _marked(folder: Path) -> Iterator[psutil.Process]:
    """What a child left behind, whoever its parent is now."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get(MARK) == str(folder):
                yield process


def _memory(process: psutil.Process) -> int:
    """Resident bytes."""
    try:
        return process.memory_info().rss
    except psutil.Error:
        return 0


def _raised(who: str, kind: str, ours: bool, text: str, trace: str) -> MucoreError:
    log.info("%s", trace)
    if ours and kind in _PASSED_ON:
        return getattr(errors, kind)(text)
    return MethodFailed(f"{who} raised {kind}: {text}.")


def _too_much(who: str, what: str, setting: str) -> MethodFailed:
    return MethodFailed(
        f"{who} was ended because it took more than {what}, all that it may. Set {setting} to "
        "allow more."
    )


# -- in the child


def main(target: str, folder: str) -> None:
    """Call `target` with the folder and a function that sends messages, and tell how it ended."""
    parent = os.dup(0)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    messages = (Path(folder) / _MESSAGES).open("a", encoding="utf-8", buffering=1)

    def say(message: dict[str, Any]) -> None:
        messages.write(json.dumps(message) + "\n")

    try:
        module, _, name = target.partition(":")
        getattr(importlib.import_module(module), name)(Path(folder), say)
        say({_ENDED: True})
    except BaseException as error:  # whatever it is, it is told, and ends this process alone
        say({_RAISED: _told(error)})
    threading.Event().wait()  # until the parent ends it, with what it has started


def _told(error: BaseException) -> dict[str, Any]:
    text, ours = " ".join(str(error).split()), type(error).__module__ == "mucore.errors"
    return {
        "kind": type(error).__name__,
        "ours": ours,
        "text": text[:1000] if ours else f"{text[:300].rstrip('. ')}{_where(error)}",
        "trace": traceback.format_exc()[-20_000:],
    }


def _where(error: BaseException) -> str:
    """` (mine.py, line 12)`: the last place outside of mucore and of installed packages; "" where
    there is none.
    """
    here = (str(Path(__file__).parents[1]), "<")
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(here) and "site-packages" not in frame.filename
    ]
    return f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""


def _end_with(parent: int) -> None:
    """End with the parent, at whose end the pipe from it is closed."""
    os.read(parent, 1)
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
