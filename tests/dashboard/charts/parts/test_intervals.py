"""Intervals as they are drawn and said."""

from __future__ import annotations

from dashboard.charts.parts import intervals


def test_no_bar_is_drawn_where_no_mark_has_an_interval():
    assert intervals.bars([None, None], "red")["visible"] is False
    assert intervals.bars([1.0, None], "red")["array"] == [1.0, 0.0]


def test_an_interval_in_words():
    assert intervals.said(-4.23, 8.1, digits=1, signed=True) == "−4.2 ± 8.1"
    assert intervals.said(4.23, None, digits=1, signed=True) == "+4.2"
    assert intervals.said(0.9, 0.01, digits=3) == "0.900 ± 0.010"
