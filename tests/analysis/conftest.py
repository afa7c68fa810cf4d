"""What tests of analyses that need weights share: a store of real runs, made once a module in its
fixture `home`.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from mucore.store import Store, open_store


@pytest.fixture
def store(home: Path, tmp_path: Path) -> Iterator[Store]:
    """A copy of the module's `home` for one test to write to."""
    shutil.copytree(home, tmp_path / "home")
    with open_store(tmp_path / "home") as store:
        yield store
