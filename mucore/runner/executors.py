"""Where runs run: local worker processes, one a device. Imports no torch; the worker process
does.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from mucore.store import Store


def ensure_workers(
    store: Store, *, device: str = "auto", count: int = 1, parent_pid: int | None = None
) -> list[subprocess.Popen]:
    """Start what is missing to have `count` living workers on this store; returns the processes
    started, none if enough live already.

    A worker is detached: it goes on when its starter ends. With `parent_pid` it leaves when that
    process is gone and the queue is empty.
    """
    missing = max(count - len(store.workers()), 0)
    return [
        start_worker(
            store, device=device, number=number, threads=threads_of(count), parent_pid=parent_pid
        )
        for number in range(count - missing, count)
    ]


def start_worker(
    store: Store,
    *,
    device: str = "auto",
    number: int = 0,
    threads: int | None = None,
    parent_pid: int | None = None,
) -> subprocess.Popen:
    """Start one detached worker process, the `number`-th from 0 to share the devices."""
    command = ["worker", "--device", device, "--number", str(number)]
    if threads is not None:
        command += ["--threads", str(threads)]
    if parent_pid is not None:
        command += ["--parent-pid", str(parent_pid)]
    return start_process(store, command)


def start_process(store: Store, command: Sequence[str]) -> subprocess.Popen:
    """A command of `python -m mucore` on this store, detached; what it prints goes to
    `<home>/logs/workers.log`. Raises `ReadOnly`.
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
            start_new_session=True,  # ignored on Windows, where the flag below does the same
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )


def threads_of(workers: int) -> int | None:
    """All threads for one worker (a single run wants them all); an equal share for several."""
    return None if workers <= 1 else max(1, (os.cpu_count() or 1) // workers)
