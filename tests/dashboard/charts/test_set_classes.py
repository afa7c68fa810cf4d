"""Classes of a forget set."""

from __future__ import annotations

import numpy as np
from facts import tells

from dashboard.charts import set_classes


def test_what_goes_and_what_stays_add_up():
    everything, forgotten = np.full(30, 40), np.zeros(30, np.int64)
    forgotten[[3, 29]] = 10, 40
    names = [f"class {number}" for number in range(30)]
    found = set_classes.set_classes_info(names, everything, forgotten)
    assert len(found.names) == set_classes.SHOWN and found.names[-1] == "class 29"
    assert (found.forgotten[3], found.staying[3]) == (10, 30)
    assert (found.forgotten[-1], found.staying[-1]) == (40, 0)
    assert tells(set_classes.alt_text(found), "class 3 10 of 40", "class 29 40 of 40")
    gone, stay = set_classes.draw(found, dark=False).data
    assert (tuple(gone.x), tuple(stay.x)) == (found.forgotten, found.staying)
