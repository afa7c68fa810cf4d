"""What tests of runs share: an empty store, and a session on a copy of a home trained once:
finetune on digits with its references.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from launching import digits

from mucore.runner.execute import execute
from mucore.runner.session import Session
from mucore.store import Store, open_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "home") as opened:
        yield opened


@pytest.fixture(scope="session")
def trained_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("trained") / "home"
    with open_store(home) as opened:
        execute(digits(), Session(opened, "cpu"))
    return home


@pytest.fixture
def session(trained_home: Path, tmp_path: Path) -> Iterator[Session]:
    shutil.copytree(trained_home, tmp_path / "trained")
    with open_store(tmp_path / "trained") as opened:
        yield Session(opened, "cpu")
