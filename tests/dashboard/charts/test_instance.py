"""One sample under several runs."""

from __future__ import annotations

import numpy as np
import pytest
from facts import tells

from dashboard.charts import instance


def test_an_instance_shows_the_true_class_and_the_likely_ones():
    first, second = np.full(20, 0.01), np.full(20, 0.01)
    first[3], second[15] = 0.81, 0.81
    info = instance.instance_info(
        ["A", "B"], [first, second], np.asarray(19), [f"c{place}" for place in range(20)]
    )
    assert len(info.names) == instance.MOST and info.left_out == 10
    assert {"c3", "c15", "c19"} <= set(info.names) and [
        info.names[place] for place in info.true
    ] == ["c19"]
    assert dict(zip(info.names, info.panels[0][1], strict=True))["c3"] == pytest.approx(81.0)
    figure = instance.draw(info, dark=False)
    assert len(figure.data) == 2 and len(set(figure.data[0].marker.color)) == 2
    assert tells(instance.alt_text(info), "c19", "A", "c3", "81 %", "B", "c15", "81 %")
