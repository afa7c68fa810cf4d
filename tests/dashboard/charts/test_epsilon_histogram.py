"""Samples by ε."""

from __future__ import annotations

import math

import pytest

from dashboard.charts import epsilon_histogram


def test_the_histogram_gives_f_and_the_bound():
    info = epsilon_histogram.epsilon_histogram_info(
        "SalUn", "sparsity", [2, 1, *[0] * 11, 1], missing=3, models=16
    )
    assert (
        info.weights[:3] == (1.0, 0.5, 0.25) and info.weights[-1] == 0.0 and len(info.weights) == 14
    )
    assert info.bound == pytest.approx(math.log(15))
    figure = epsilon_histogram.draw(info, dark=False)
    assert list(figure.data[0].y) == [2, 1, *[0] * 11, 1]
    assert figure.data[0].customdata[-1][0] == "6.5 and more"
    assert "4 forgotten samples" in epsilon_histogram.alt_text(
        info
    ) and "1 beyond" in epsilon_histogram.alt_text(info)
