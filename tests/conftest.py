"""What holds for all tests."""

from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler.loadscope import LoadScopeScheduling

# How long an example takes depends on what else the machine does, and says nothing about the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
# The longest; last, they would run alone on one of the cores.
FIRST = {"cluster": 0, "browser": 1, "tuning": 2}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: FIRST.get(item.path.parent.name, len(FIRST)))


class OneBrowser(LoadScopeScheduling):
    """Modules as they are, but all that looks at the same applications goes to one process."""

    def _split_scope(self, nodeid: str) -> str:
        return "browser" if nodeid.startswith("tests/browser/") else super()._split_scope(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling | None:
    return OneBrowser(config, log) if config.getoption("dist") == "loadscope" else None
