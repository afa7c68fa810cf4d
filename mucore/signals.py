"""What asks a process to end: Ctrl-C, SIGTERM, on Windows SIGBREAK, and SIGHUP, which comes when
its terminal is closed.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from typing import Any

Handler = Callable[[int, Any], Any]
HANGUP: int | None = getattr(signal, "SIGHUP", None)  # Windows has none


def ending(*, ctrl_c: bool = True) -> list[int]:
    """Those that this system has. SIGHUP is left alone where `nohup` has it ignored."""
    names = ("SIGINT", "SIGTERM", "SIGBREAK") if ctrl_c else ("SIGTERM", "SIGBREAK")
    found = [getattr(signal, name) for name in names if hasattr(signal, name)]
    if HANGUP is not None and signal.getsignal(HANGUP) is not signal.SIG_IGN:
        found.append(HANGUP)
    return found


def on_end(handler: Handler, *, ctrl_c: bool = True) -> dict[int, Any]:
    """Call `handler` for each of `ending`; what they had before, for `restore`."""
    hung_up = _without_terminal(handler)
    return {
        number: signal.signal(number, hung_up if number == HANGUP else handler)
        for number in ending(ctrl_c=ctrl_c)
    }


def restore(before: Mapping[int, Any]) -> None:
    for number, handler in before.items():
        signal.signal(number, signal.SIG_DFL if handler is None else handler)


def _without_terminal(handler: Handler) -> Handler:
    """`handler`, after which words for the terminal that is gone go nowhere instead of failing."""
    terminals = [stream for stream in (1, 2) if os.isatty(stream)]

    def hung_up(number: int, frame: Any) -> None:
        for stream in terminals:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        handler(number, frame)

    return hung_up
