"""Interval bars: all of them while marks are few, those of the selected method in a crowd."""

from __future__ import annotations

from dashboard.charts.parts import intervals

CROWD = intervals.MOST + 1


def test_bars_of_a_crowd_are_those_of_the_selected_mark():
    halves = [1.0, None, 2.0]
    chosen = [False, False, True]
    assert intervals.sparing(halves, "red", chosen=chosen, marks=intervals.MOST)["array"] == [
        1.0,
        0.0,
        2.0,
    ]
    assert intervals.sparing(halves, "red", chosen=chosen, marks=CROWD)["array"] == [0.0, 0.0, 2.0]
    assert not intervals.sparing(halves, "red", chosen=[False] * 3, marks=CROWD)["visible"]
    assert intervals.bars([None, None], "red")["visible"] is False


def test_an_interval_in_words():
    assert intervals.said(-4.23, 8.1, digits=1, signed=True) == "−4.2 ± 8.1"
    assert intervals.said(4.23, None, digits=1, signed=True) == "+4.2"
    assert intervals.said(0.9, 0.01, digits=3) == "0.900 ± 0.010"
