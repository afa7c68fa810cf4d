"""Trouble of the store: locks, full disks, restarts of the server, and files that are gone."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from faults.ground import Field, Ground, Group, Skipped, Tally, pick, wait_for
from mucore.errors import StoreError
from mucore.runner.plan import launch, make_plan
from mucore.store import open_store

LOCKED = "database locked"
FULL = "disk full"
RESTARTED = "Postgres restarted"
CRASHED = "Postgres crashed"
STRANGER = "another home refused"
REMOVED = "file removed"
DAMAGED = "file damaged"

DISK_MEGABYTES = 64


def lock(ground: Ground, rng: random.Random, tally: Tally, most: int) -> None:
    """Another program holds the write lock of SQLite while two workers run."""
    with ground.field(tally) as field:
        field.launch()
        field.keep(2)
        other = sqlite3.connect(field.store.home / "store.sqlite", isolation_level=None)
        with contextlib.closing(other):
            for _ in range(min(most, 1 if ground.short else 3)):
                field.caught(rng.choice(field.workers))
                time.sleep(pick(rng, 2.0))
                _hold(other)
                tally.did[LOCKED] += 1
                # a worker asks for 30 seconds before it says that it waits
                time.sleep(8.0 if ground.short else rng.choice([20.0, 45.0, 75.0]))
                other.execute("ROLLBACK")
        _all_live(field, tally)
        field.finish()


def _hold(connection: sqlite3.Connection) -> None:
    def begun() -> bool:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
        return True

    wait_for(begun, "the lock")


def fill_disk(ground: Ground, rng: random.Random, tally: Tally, most: int) -> None:
    """The home lies on a small disk, which is filled to the last byte while two workers run."""
    with _disk(ground) as disk, ground.field(tally, home=disk / "home") as field:
        field.launch()
        field.keep(2)
        for _ in range(min(most, 1 if ground.short else 3)):
            field.caught(rng.choice(field.workers))
            time.sleep(pick(rng, 2.0))
            ballast = disk / "ballast"
            until = time.monotonic() + (8.0 if ground.short else rng.choice([10.0, 30.0, 60.0]))
            tally.did[FULL] += 1
            while time.monotonic() < until:  # what a worker gives back is filled, too
                _fill(ballast)
                time.sleep(0.2)
            ballast.unlink()
        _all_live(field, tally)
        field.finish()


def _fill(ballast: Path) -> None:
    with contextlib.suppress(OSError), ballast.open("ab", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            with contextlib.suppress(OSError):
                while file.write(bytes(size)) == size:
                    pass


@contextmanager
def _disk(ground: Ground) -> Generator[Path]:
    """A disk of 64 MB. Raises `Skipped` where none can be mounted."""
    disk = ground.folder / "disk"
    disk.mkdir(exist_ok=True)
    options = ["-t", "tmpfs", "-o", f"size={DISK_MEGABYTES}m", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(["mount", *options], capture_output=True).returncode:
        raise Skipped("A small disk can be mounted by root alone.")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def restart(ground: Ground, rng: random.Random, tally: Tally, most: int) -> None:
    """Postgres ends, or crashes, under two workers and is back after a while. A home with other
    files is refused meanwhile.
    """
    server = ground.server()
    url = ground.database()
    with ground.field(tally, url=url) as field:
        field.launch()
        field.keep(2)
        for _ in range(min(most, 1 if ground.short else 3)):
            field.caught(rng.choice(field.workers))
            time.sleep(pick(rng, 2.0))
            crash = rng.random() < 0.5
            server.stop("immediate" if crash else "fast")
            tally.did[CRASHED if crash else RESTARTED] += 1
            time.sleep(pick(rng, 8.0 if ground.short else 40.0))
            server.start()
        _all_live(field, tally)
        stranger = ground.folder / "another home"
        try:
            open_store(stranger, url=url).close()
        except StoreError:
            tally.did[STRANGER] += 1
        else:
            tally.broken.append("a home with other files was let to the database")
        finally:
            shutil.rmtree(stranger, ignore_errors=True)
        field.finish()


def lose_files(ground: Ground, rng: random.Random, tally: Tally, most: int) -> None:
    """Half of the comparison is there, some of its files go or are damaged, the rest is asked for.

    Numbers that were measured stay; what has to be read again is made again.
    """
    with ground.field(tally) as field:
        field.rewritten = True
        half = field.plan.grid.model_copy(update={"methods": field.plan.grid.methods[:1]})
        launch(make_plan(half, field.store), field.store, name="the first half")
        field.keep(2)
        wait_for(field.settled, "the first half")
        for worker in field.workers:
            worker.end()
        before = {result.key: result.metrics for result in field.store.results()}
        files = [
            path
            for path in sorted((field.store.home / "artifacts").rglob("*"))
            if path.is_file() and path.suffix in (".safetensors", ".parquet")
        ]
        for path in rng.sample(files, min(len(files), most, 2 if ground.short else 6)):
            _harm(path, rng, tally)
        field.launch()
        field.finish()
        after = {result.key: result.metrics for result in field.store.results(keys=list(before))}
        if after != before:
            tally.broken.append("numbers changed when files were made again")


def _harm(path: Path, rng: random.Random, tally: Tally) -> None:
    content = path.read_bytes()
    match rng.choice(["remove", "cut", "flip"]):
        case "remove":
            path.unlink()
            tally.did[REMOVED] += 1
            return
        case "cut":
            content = content[: rng.randrange(len(content))]
        case "flip":
            place = rng.randrange(len(content))
            content = content[:place] + bytes([content[place] ^ 255]) + content[place + 1 :]
    path.write_bytes(content)
    tally.did[DAMAGED] += 1


def _all_live(field: Field, tally: Tally) -> None:
    if dead := [worker.poll() for worker in field.workers if worker.poll() is not None]:
        tally.broken.append(f"{len(dead)} workers ended of trouble that passes, with {dead}")


GROUPS = (
    Group("locks", "The database is locked", lock, 12, 1, [LOCKED]),
    Group("disk", "The disk is full", fill_disk, 12, 1, [FULL]),
    Group("postgres", "Postgres goes away", restart, 12, 1, [RESTARTED, CRASHED]),
    Group("files", "Files are lost or damaged", lose_files, 30, 2, [REMOVED, DAMAGED]),
)
