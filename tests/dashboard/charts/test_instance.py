"""One sample under several runs."""

from __future__ import annotations

import numpy as np
import pandas as pd
from facts import tells

from dashboard.charts import instance


def test_an_instance_shows_the_true_class_and_the_likely_ones():
    every = pd.DataFrame(np.full((20, 2), 1.0), [f"c{place}" for place in range(20)], ["A", "B"])
    every.loc["c3", "A"] = every.loc["c15", "B"] = 81.0
    shown = instance.likeliest(every / 100, {"c19"})
    assert len(shown) == instance.MOST and {"c3", "c15", "c19"} <= set(shown.index)
    assert [*shown.index] == sorted(shown.index, key=lambda name: int(name[1:]))
    figure = instance.draw(100 * shown, {"c19"}, dark=False)
    assert len(figure.data) == 2 and len(set(figure.data[0].marker.color)) == 2
    told = instance.alt_text(100 * shown, {"c19"})
    assert tells(told, "c19", "A", "c3", "81 %", "B", "c15", "81 %")
