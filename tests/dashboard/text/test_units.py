"""Numbers and lists of names as a person reads them."""

from __future__ import annotations

import pytest

from dashboard.text import units


@pytest.mark.parametrize(
    ("names", "text"),
    [([], ""), (["A"], "A"), (["A", "B"], "A and B"), (["A", "B", "C"], "A, B and C")],
)
def test_names_are_joined_by_commas_and_a_last_and(names: list[str], text: str) -> None:
    assert units.joined(names) == units.joined(tuple(names)) == text
