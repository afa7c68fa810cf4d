"""What holds for all tests."""

import pytest
from hypothesis import settings

# How long an example takes depends on what else the machine does, and says nothing about the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
FIRST = ("cluster", "tuning")  # the longest modules; last, they would run alone on one of the cores


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.parent.name not in FIRST)
