"""Stores to test on: SQLite in a file, and in the CI tier a Postgres server of our own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from postgres import running_server

from mucore.store import Store, open_store, workers


@pytest.fixture(autouse=True)
def first_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """A heartbeat that has run out need not be looked at twice."""
    monkeypatch.setattr(workers, "RECHECK_SECONDS", 0.0)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a fresh server."""
    with running_server() as server:
        yield server.url


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


POSTGRES = pytest.param("postgres", marks=pytest.mark.slow)


@pytest.fixture(params=["sqlite", POSTGRES])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store on each database."""
    with open_store(tmp_path, url=_url(request)) as opened:
        yield opened


@pytest.fixture(params=["sqlite", POSTGRES])
def shared_url(request: pytest.FixtureRequest) -> str | None:
    """The `url` of a store that several processes can open with the same home."""
    return _url(request)


def _url(request: pytest.FixtureRequest) -> str | None:
    if request.param == "postgres":
        return request.getfixturevalue("postgres_url")
    return None
