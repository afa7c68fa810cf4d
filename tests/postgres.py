"""A Postgres server of our own for a test, which is skipped where there is none to be had."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest


class Server:
    """A fresh server in `folder`; `url` is "postgresql://tester@/postgres?host=<socket folder>"."""

    def __init__(self, folder: Path, binaries: Path):
        self.url = f"postgresql://tester@/postgres?host={folder}"
        self._folder, self._binaries = folder, binaries
        self._prefix = _as_server_user(folder)
        self._call("initdb", "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")

    def start(self) -> None:
        options = (
            f"-c listen_addresses='' -c unix_socket_directories={self._folder} -c fsync=off -c "
            "shared_buffers=16MB"
        )
        self._call("pg_ctl", "-w", "-l", str(self._folder / "log"), "-o", options, "start")

    def stop(self, mode: Literal["fast", "immediate"] = "immediate") -> None:
        """End the server with all its connections; `immediate` is as if it had crashed."""
        self._call("pg_ctl", "-m", mode, "-w", "stop")

    def _call(self, program: str, *arguments: str) -> None:
        data = ["-D", str(self._folder / "data")]
        done = subprocess.run(
            [*self._prefix, str(self._binaries / program), *data, *arguments],
            cwd=self._folder,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def running_server() -> Generator[Server]:
    """A server that is started; skips the test where there is none to be had."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not programs:
        pytest.skip("There is no Postgres here (Debian: apt-get install postgresql).")
    if importlib.util.find_spec("psycopg") is None:
        pytest.skip("The driver psycopg is not installed.")
    # Not under pytest's own folder, whose parents only root may enter; short, because socket paths
    # are limited to 107 bytes.
    folder = Path(tempfile.mkdtemp(prefix="mucore-pg-"))
    try:
        server = Server(folder, programs[-1].parent)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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
