"""Facts are found whole and in order, whatever words stand around them."""

from __future__ import annotations

import pytest
from facts import numbers, tells


@pytest.mark.parametrize(
    ("text", "facts", "found"),
    [
        ("2 of 50 methods, 0.5\u202f%", (2, 50, "0.5 %"), True),
        ("2 of 50 methods", (50, 2), False),  # in their order
        ("50 methods", (5,), False),
        ("0.5 s", (5,), False),
        ("1,200 samples", (200,), False),
        ("SCRUB+R", ("SCRUB",), True),
        ("resalun", ("salun",), False),
        ("SalUn\n3 runs", ("SalUn", 3), False),  # of two lines
        ("it ends at 5.", (5,), True),
    ],
)
def test_facts_are_whole_in_order_and_on_one_line(text, facts, found):
    assert tells(text, *facts) is found


def test_numbers_are_as_printed():
    assert numbers("−0.60 and +3 of 1,200, top5, 88.0 %.") == ["−0.60", "+3", "1,200", "88.0"]
