"""Classes of a forget set."""

from __future__ import annotations

import numpy as np
import pytest
from facts import numbers, tells

from dashboard.charts import set_classes


def info(classes: int = 3) -> set_classes.SetClassesInfo:
    everything = np.full(classes, 40)
    forgotten = np.zeros(classes, np.int64)
    forgotten[:2] = 10, 40
    return set_classes.set_classes_info(
        [f"class {number}" for number in range(classes)], everything, forgotten
    )


def test_what_goes_and_what_stays_add_up():
    found = info()
    assert (found.forgotten, found.staying, found.shares) == (
        (10, 40, 0),
        (30, 0, 40),
        (25.0, 100.0, 0.0),
    )
    table = set_classes.table(found)
    assert table["To forget"].tolist() == [10, 40, 0] and table["Forgotten, %"].tolist() == [
        25.0,
        100.0,
        0.0,
    ]
    assert tells(set_classes.alt_text(found), "class 1 40", "100 %", "class 0 10", "25 %")
    nothing = set_classes.set_classes_info(["a"], np.array([0]), np.array([0]))
    assert nothing.shares == (0.0,) and numbers(set_classes.alt_text(nothing)) == ["1"]  # class


@pytest.mark.parametrize("classes", [3, set_classes.MOST_NAMED + 1])
def test_the_bars_are_the_counts(classes):
    found = info(classes)
    figure = set_classes.draw(found, dark=False)
    gone, stay = figure.data[0], figure.data[1]
    named = len(found.names) <= set_classes.MOST_NAMED
    assert (
        tuple(gone.x if named else gone.y) == found.forgotten
        and tuple(stay.x if named else stay.y) == found.staying
    )
    assert figure.layout.barmode == "stack"
