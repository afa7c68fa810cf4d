"""A log axis over exponents."""

from __future__ import annotations

from dashboard.charts.parts import log_axis


def test_decades_label_whole_powers_and_halves_on_a_short_axis():
    long = log_axis.axis(-3.2, 2.4)
    assert long["tickvals"] == [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0]
    assert long["ticktext"][0] == "10<sup>−3</sup>"
    assert log_axis.axis(0.4, 1.6)["tickvals"] == [0.5, 1.0, 1.5]
    assert len(log_axis.axis(-40.0, 10.0)["tickvals"]) <= 7
    low, high = log_axis.span([1.0])
    assert low < 1.0 < high
