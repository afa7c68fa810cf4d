"""Accuracy of each class less Retrain's."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dashboard.charts import class_gaps

CLASSES = pd.Index(["shirt", "bag"], name="Class")


def test_runs_stand_below_the_band_of_retrains():
    gaps = pd.DataFrame([[5.0, np.nan], [-20.0, 0.0]], ["A", "B"], CLASSES)
    halves = pd.Series([2.5, np.nan], CLASSES)
    (drawn,) = class_gaps.draw(gaps, halves, "forget", dark=True).data
    assert list(drawn.y)[1:] == ["A", "B"] and drawn.zmax == class_gaps.FULL
    assert [list(line) for line in drawn.text] == [
        ["± 2.5", "± –"],
        ["+5.0", "–"],
        ["−20.0", "0.0"],
    ]
    assert list(drawn.z[0]) == [0, 0] and drawn.z[1][0] == 5 and np.isnan(drawn.z[1][1])
    (narrow,) = class_gaps.draw(gaps, halves, "forget", dark=True, stacked=True).data
    assert list(narrow.y) == ["shirt", "bag"] and narrow.text[0][1] == "+5.0"
    assert np.array_equal(np.transpose(narrow.z), drawn.z, equal_nan=True)
    told = class_gaps.alt_text(gaps, halves, "forget")
    assert "B at shirt, -20.0" in told and "A at shirt, +5.0" in told and "2.5 points" in told
    alone = class_gaps.draw(gaps / 10, pd.Series(dtype=float), "test", dark=False)
    assert list(alone.data[0].y) == ["A", "B"]
