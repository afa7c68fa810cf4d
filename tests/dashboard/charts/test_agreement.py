"""How well things agree two by two."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dashboard.charts import agreement


def test_agreement_by_hand():
    values = np.array([[1.0, -0.5, np.nan], [-0.5, 1.0, 0.25], [np.nan, 0.25, 1.0]])
    square = pd.DataFrame(values, ["TA", "FA", "RTE"], ["TA", "FA", "RTE"])
    (drawn,) = agreement.draw(square, "Kendall's τ", signed=True, dark=False).data
    assert (drawn.zmin, drawn.zmax) == (-1, 1)
    assert list(drawn.text[0]) == ["1.00", "−0.50", ""]
    assert "TA and FA, −0.50" in agreement.alt_text(square, "Kendall's τ", signed=True)
    shares = pd.DataFrame([[1.0, 0.87], [0.87, 1.0]], ["a", "a"], ["a", "a"])
    (drawn,) = agreement.draw(shares, "same, %", signed=False, dark=True).data
    assert drawn.zmin == pytest.approx(0.8) and drawn.text[0][1] == "87" and len(drawn.x) == 2
    alone = shares.iloc[:1, :1]
    assert "no pair" in agreement.alt_text(alone, "same, %", signed=False)
