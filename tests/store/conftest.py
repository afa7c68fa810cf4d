"""Stores to test on: SQLite in a file, SQLite in memory, and a Postgres server of our own where
Debian's package is installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mucore.store import Store, open_store

Command = Callable[..., subprocess.CompletedProcess[str]]


def _as_server_user(folder: Path) -> list[str]:
    """The prefix of a command that drops root, which Postgres refuses; gives `folder` to that
    user.
    """
    import pwd  # POSIX only

    if os.geteuid() != 0:
        return []
    known = {entry.pw_name for entry in pwd.getpwall()}
    user = "postgres" if "postgres" in known else "nobody"
    if shutil.which("runuser") is None:
        pytest.skip(
            "Postgres does not run as root, and there is no runuser to become somebody else."
        )
    shutil.chown(folder, user)
    return ["runuser", "-u", user, "--"]


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a fresh server, "postgresql://tester@/postgres?host=<socket folder>"."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not programs:
        pytest.skip("There is no Postgres here (Debian: apt-get install postgresql).")
    pytest.importorskip("psycopg")
    # Not under pytest's own folder, whose parents only root may enter; short, because socket paths
    # are limited to 107 bytes.
    folder = Path(tempfile.mkdtemp(prefix="mucore-pg-"))
    prefix = _as_server_user(folder)
    binaries, data = programs[-1].parent, folder / "data"

    def call(*arguments: str) -> None:
        done = subprocess.run(
            [*prefix, *arguments], cwd=folder, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stdout + done.stderr

    try:
        call(
            str(binaries / "initdb"),
            "-D",
            str(data),
            "-U",
            "tester",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
        )
        options = (
            f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off -c "
            "shared_buffers=16MB"
        )
        call(
            str(binaries / "pg_ctl"),
            "-D",
            str(data),
            "-w",
            "-l",
            str(folder / "log"),
            "-o",
            options,
            "start",
        )
        try:
            yield f"postgresql://tester@/postgres?host={folder}"
        finally:
            call(str(binaries / "pg_ctl"), "-D", str(data), "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """The address of an empty database; one for all tests, emptied for each, because a new one
    costs 7 MB and 300 files.
    """
    import psycopg

    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
            "current_database() AND pid <> pg_backend_pid()"
        )
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    return postgres_server


@pytest.fixture(params=["sqlite", "memory", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store on each database."""
    with open_store(tmp_path, url=_url(request)) as opened:
        yield opened


@pytest.fixture(params=["sqlite", "postgres"])
def shared_url(request: pytest.FixtureRequest) -> str | None:
    """The `url` of a store that several processes can open with the same home."""
    return _url(request)


def _url(request: pytest.FixtureRequest) -> str | None:
    if request.param == "postgres":
        return request.getfixturevalue("postgres_url")
    return "sqlite://" if request.param == "memory" else None
