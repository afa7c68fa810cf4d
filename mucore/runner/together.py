"""Further processes that take the same runs from the queue as this one, each with one thread."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from mucore.errors import BadValue, MucoreError, said
from mucore.store import Store, open_store

MODULE = "mucore.runner.together"  # this one, which runs as a program, too
MOST_JOBS = 1024
LOOK_SECONDS = 1.0  # between two looks whether who started a process is still there


@contextmanager
def helpers(
    store: Store, keys: Collection[str], count: int, *, device: str = "auto"
) -> Generator[None]:
    """`count` processes that work on the queued runs `keys` of the store until none of them is
    left. Those that still run when the block ends are told to give their run back and end.
    """
    others: list[subprocess.Popen[bytes]] = []
    try:
        content = {"keys": sorted(keys), "device": device}
        for _ in range(count):  # one by one, so that those before one that fails are ended
            others.append(start(MODULE, content, store.home))
        yield
    finally:
        end(others)


def check_jobs(jobs: int) -> None:
    """Raise `BadValue` where nobody would work, or more processes than a machine has room for."""
    if not 1 <= jobs <= MOST_JOBS:
        raise BadValue(
            f"The work takes one process at least and {MOST_JOBS} at most, but got {said(jobs)}."
        )


def start(module: str, content: Mapping[str, Any], home: Path) -> subprocess.Popen[bytes]:
    """`python -m module` with one thread on a home; what to do, and the id of this process as
    `parent`, comes on its stdin (`asked`). It gets no Ctrl-C: `end` tells it to end.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "MUCORE_HOME": str(home), "OMP_NUM_THREADS": "1"},
        start_new_session=True,  # Ctrl-C does not reach it; ignored on Windows
    )
    assert process.stdin is not None
    # one that has ended already leaves its work to the others
    with suppress(BrokenPipeError):
        process.stdin.write(json.dumps({**content, "parent": os.getpid()}).encode())
    with suppress(BrokenPipeError):
        process.stdin.close()
    return process


def asked() -> dict[str, Any]:
    """What a process that `start` made is to do. Raises `MucoreError` where who started it was gone
    before all was said.
    """
    try:
        return json.loads(sys.stdin.read())
    except ValueError:
        raise MucoreError("The process that wanted this one is gone.") from None


def orphaned(parent: int) -> bool:
    """Whether the process that started this one is gone."""
    return os.getppid() != parent


def end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """Tell those that still run to end, and wait for all."""
    for process in processes:
        if process.poll() is None:
            process.terminate()
    for process in processes:
        process.wait()


def main() -> int:
    """One of the further processes: which runs to take comes on stdin. Gives its run back and ends
    when it is told to, or when the process that started it is gone.
    """
    from mucore.runner.worker import set_threads, stop_on_signals, work

    stop = stop_on_signals()
    try:
        content = asked()
        threading.Thread(target=_follow, args=(content["parent"], stop), daemon=True).start()
        set_threads(1)
        with open_store() as store:
            work(store, device=content["device"], only=content["keys"], until_done=True, stop=stop)
    except MucoreError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _follow(parent: int, stop: threading.Event) -> None:
    while not (orphaned(parent) or stop.wait(LOOK_SECONDS)):
        pass
    stop.set()


if __name__ == "__main__":
    sys.exit(main())
