"""Where runs run: local worker processes, one a device. Imports no torch; the worker process
does.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from mucore.processes import own_group
from mucore.store import Store


def ensure_workers(store: Store) -> list[subprocess.Popen]:
    """Start a worker on this store where none lives; returns the process, if so."""
    return [] if store.workers() else [start_worker(store)]


def start_worker(
    store: Store,
    *,
    device: str = "auto",
    number: int = 0,
    threads: int | None = None,
    parent_pid: int | None = None,
) -> subprocess.Popen:
    """Start one detached worker process, the `number`-th from 0 of those that share the devices.
    With `parent_pid` it leaves when that process is gone and the queue is empty.
    """
    given = {"device": device, "number": number, "threads": threads, "parent-pid": parent_pid}
    flags = [f"--{name}={value}" for name, value in given.items() if value is not None]
    return start_process(store, ["worker", *flags])


def start_process(
    store: Store, command: Sequence[str], *, detached: bool = True
) -> subprocess.Popen:
    """A command of `python -m mucore` on this store, detached or, on Linux, until this process
    ends; what it prints goes to `<home>/logs/workers.log`. Raises `ReadOnly`.
    """
    store.check_writable()
    log = Path(store.home) / "logs" / "workers.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    root = Path(__file__).resolve().parents[2]  # the checkout, where the package is not installed
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")])),
    }
    if store.url:
        environment["MUCORE_STORE_URL"] = store.url
    if store.artifacts_url:
        environment["MUCORE_ARTIFACTS"] = store.artifacts_url
    with log.open("ab") as sink:
        return subprocess.Popen(
            [sys.executable, "-m", "mucore", *command, "--home", str(store.home)],
            stdout=sink,
            stderr=sink,
            stdin=subprocess.DEVNULL,
            env=environment,
            **own_group(with_parent=not detached),
        )


def threads_of(workers: int) -> int | None:
    """All threads for one worker (a single run wants them all); an equal share for several."""
    return None if workers <= 1 else max(1, (os.cpu_count() or 1) // workers)
