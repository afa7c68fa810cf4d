"""How well things agree two by two."""

from __future__ import annotations

import numpy as np
import pytest

from dashboard.charts import agreement


def test_agreement_info_and_figure():
    values = np.array([[1.0, -0.5, np.nan], [-0.5, 1.0, 0.25], [np.nan, 0.25, 1.0]])
    info = agreement.agreement_info(["TA", "FA", "RTE"], values, what="Kendall's τ", signed=True)
    assert info.values[0] == (1.0, -0.5, None) and info.least == ("TA", "FA", -0.5)
    figure = agreement.draw(info, dark=False)
    assert (figure.data[0].zmin, figure.data[0].zmax) == (-1, 1) and figure.data[0].text[0][
        1
    ] == "−0.50"
    assert "TA and FA" in agreement.alt_text(info)
    shares = agreement.agreement_info(
        ["a", "b"], np.array([[1.0, 0.87], [0.87, 1.0]]), what="same, %", signed=False
    )
    drawn = agreement.draw(shares, dark=True).data[0]
    assert drawn.zmin == pytest.approx(0.8) and drawn.text[0][1] == "87"
    lone = agreement.agreement_info(["a"], np.ones((1, 1)), what="same, %", signed=False)
    assert lone.least is None and "no pair" in agreement.alt_text(lone)
