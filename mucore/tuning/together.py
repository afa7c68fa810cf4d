"""One search in several processes: each takes the next study that nobody else works on, so they
need nothing of each other but the files.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mucore import signals
from mucore.catalog import tuning
from mucore.errors import Cancelled, MucoreError
from mucore.processes import end_all, own_group
from mucore.runner.extra_workers import check_jobs
from mucore.runner.grid import Grid, parse_grid
from mucore.store import Store, open_store
from mucore.tuning.plan import Wish, check_means, studies_of, wish_of
from mucore.tuning.report import record
from mucore.tuning.search import Event, Search, StudiesFailed, claimed
from mucore.tuning.study import studies_in, write_found

log = logging.getLogger("mucore")


def search(
    grid: Grid,
    wish: Wish,
    store: Store,
    root: Path,
    *,
    jobs: int = 1,
    device: str = "auto",
    cancelled: Callable[[], bool] | None = None,
    on_event: Callable[[Event], None] = lambda _: None,
) -> None:
    """Bring all studies of `wish`, made of `grid`, to their end, in `jobs` processes of one thread
    each, this one among them; then write the settings that were found into the home. The log names
    studies that somebody else works on.

    Raises `Cancelled`, and `MucoreError`; `BadValue` before anything is trained where a study that
    there is has another seed or cap; `StudiesFailed` at the end, when all others are through. What
    ended before is kept, and written, either way.
    """
    check_jobs(jobs)
    check_means(wish, root)
    own = Search(wish, store, root, device=device, cancelled=cancelled, on_event=on_event)
    others: list[subprocess.Popen] = []
    tuning.at(store.home)  # a damaged file is told of before anything is trained
    try:
        left = [task for task, methods in wish.tasks if own.left(task, methods)]
        if jobs > 1 and left:
            for task in left:  # or all processes would wait for the first to make them
                own.references(task)
            for _ in range(jobs - 1):  # one by one, so that those before one that fails are ended
                others.append(_start(grid, wish, store.home, root, device))
        elsewhere = own.run()
        for other in others:
            _await(other, cancelled)
        if elsewhere and others:  # what these had is over now, or left by one that ended early
            elsewhere = own.run()
        for task, method in elsewhere:
            log.warning("somebody else works on %s under %s: it ends there", method, task.scenario)
    finally:
        end_all(others)
        with claimed(store.home / "tuning", "found", wait=lambda: False):
            beside = tuning.at(store.home)
            write_found(store.home / tuning.FILE, studies_in(root), beside=beside)
    if own.failed:
        raise StudiesFailed(
            f"{' '.join(own.failed.values())} What had ended is kept, and the same command goes on "
            "from there; all other studies went on."
        )


def records_of(
    grid: Grid, wish: Wish, store: Store, root: Path, **asked: Any
) -> tuple[list[dict[str, Any]], str]:
    """`search`, and what each study came to (`report.record`), with why some could not go on or "".
    Raises as that does, and `KeyboardInterrupt` with a sentence.
    """
    failed = ""
    try:
        search(grid, wish, store, root, **asked)
    except StudiesFailed as error:
        failed = str(error)  # said after what the others came to
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"Interrupted. The trials that ended are kept in {root}; the same command goes on from "
            "there."
        ) from None
    return [record(*found, wish.trials, root) for found in studies_of(wish, root)], failed


def _await(other: subprocess.Popen, cancelled: Callable[[], bool] | None) -> None:
    """Wait for a process to end, well or not: what it leaves undone is done here."""
    while True:
        try:
            other.wait(0.2)
            return
        except subprocess.TimeoutExpired:
            if cancelled is not None and cancelled():
                raise Cancelled from None


def _start(grid: Grid, wish: Wish, home: Path, root: Path, device: str) -> subprocess.Popen:
    content = {
        "grid": grid.model_dump(mode="json"),
        "trials": wish.trials,
        "seed": wish.seed,
        "cap": wish.cap,
        "root": str(root),
        "device": device,
    }
    return subprocess.Popen(
        [sys.executable, "-m", "mucore.tuning", json.dumps(content)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "MUCORE_HOME": str(home), "OMP_NUM_THREADS": "1"},
        **own_group(),
    )


def main() -> int:
    """A further process of a search, which its argument tells what to do. Ends at the next step
    when it is told to.
    """
    stopped = threading.Event()
    signals.on_end(lambda *_: stopped.set())
    content = json.loads(sys.argv[1])
    try:
        grid = parse_grid(content["grid"])
        wish, _ = wish_of(grid, **{name: content[name] for name in ("trials", "seed", "cap")})
        with open_store() as store:
            Search(
                wish,
                store,
                Path(content["root"]),
                device=content["device"],
                cancelled=stopped.is_set,
            ).run()
    except Cancelled:
        return 0
    except MucoreError as error:
        print(error, file=sys.stderr)
        return 1
    return 0
