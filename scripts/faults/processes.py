"""Workers in processes of their own. They are forked from one that has loaded what they need, which
takes longer than they live.

What is killed is a process like any other: it has its own session, its own number, and dies alone.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    [
        "torch._dynamo",
        "pyarrow.parquet",
        "scipy.stats",
        "sklearn.datasets",
        "sklearn.linear_model",
        "sklearn.model_selection",
        "mucore.cli.commands",
        "mucore.runner.worker",
    ]
)


class Process:
    """`mucore` with these arguments. What it prints goes to the end of the file `log`."""

    def __init__(self, words: Sequence[str], log: Path, environment: Mapping[str, str]):
        log.parent.mkdir(parents=True, exist_ok=True)
        self._process = _CONTEXT.Process(
            target=_main, args=(list(words), str(log), dict(environment)), daemon=True
        )
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    def poll(self) -> int | None:
        """Its exit code, or minus the signal that ended it; None while it lives."""
        return self._process.exitcode

    def kill(self) -> None:
        self._process.kill()
        self._process.join()

    def end(self, seconds: float = 120.0) -> int:
        """Ask it to end by SIGTERM; its exit code. Raises `TimeoutError`."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGTERM)
        self._process.join(seconds)
        if (code := self.poll()) is None:
            self.kill()
            raise TimeoutError(f"a worker did not end within {seconds:g} s of SIGTERM")
        return code


def _main(words: list[str], log: str, environment: dict[str, str]) -> None:
    os.setsid()
    os.environ |= environment
    sink = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    for stream in (1, 2):
        os.dup2(sink, stream)
    from mucore.cli import main

    sys.exit(main(words))
