"""Further processes that take the same runs from the queue as this one, each with one thread."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Collection, Generator
from contextlib import contextmanager

from mucore.errors import BadValue
from mucore.store import Store, open_store


@contextmanager
def helpers(
    store: Store, keys: Collection[str], count: int, *, device: str = "auto"
) -> Generator[None]:
    """`count` processes that work on the queued runs `keys` of the store until none of them is
    left. Those that still run when the block ends are told to give their run back and end.
    """
    others: list[subprocess.Popen[bytes]] = []
    try:
        others += [_start(store, keys, device) for _ in range(count)]
        yield
    finally:
        for other in others:
            if other.poll() is None:
                other.terminate()
        for other in others:
            other.wait()


def check_jobs(jobs: int) -> None:
    """Raise `BadValue` where nobody would work, or more than any machine has cores for."""
    if not 1 <= jobs <= 1024:
        raise BadValue(f"--jobs is a number of processes from 1 to 1,024, but got {jobs}.")


def _start(store: Store, keys: Collection[str], device: str) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-m", "mucore.runner.together"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "MUCORE_HOME": str(store.home), "OMP_NUM_THREADS": "1"},
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps({"keys": sorted(keys), "device": device}).encode())
    process.stdin.close()
    return process


def main() -> int:
    """One of the further processes: which runs to take comes on stdin."""
    from mucore.runner.worker import set_threads, stop_on_signals, work

    stop = stop_on_signals()
    asked = json.loads(sys.stdin.read())
    set_threads(1)
    with open_store() as store:
        work(store, device=asked["device"], only=asked["keys"], until_done=True, stop=stop)
    return 0


if __name__ == "__main__":
    sys.exit(main())
