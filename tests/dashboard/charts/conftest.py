"""Rows and a table that several figures are drawn from."""

from __future__ import annotations

import gap_tables
import pytest
import similarities

from dashboard import frames


@pytest.fixture
def rows() -> tuple[frames.Row, ...]:
    return similarities.rows()


@pytest.fixture
def table() -> frames.ResultsTable:
    return gap_tables.table()
