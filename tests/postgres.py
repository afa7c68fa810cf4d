"""A Postgres server of our own for a test, which is skipped where there is none to be had."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack, contextmanager

import pytest
from faults import servers
from faults.servers import Server


@contextmanager
def running_server() -> Generator[Server]:
    """A server that is started; skips the test where there is none to be had."""
    with ExitStack() as stack:
        try:
            server = stack.enter_context(servers.running_server())
        except servers.NoServer as reason:
            pytest.skip(str(reason))
        yield server
