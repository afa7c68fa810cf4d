"""Intervals as they are drawn."""

from __future__ import annotations

from dashboard.charts.parts import intervals


def test_no_bar_is_drawn_where_no_mark_has_an_interval():
    assert intervals.bars([None, None], "red")["visible"] is False
    assert intervals.bars([1.0, None], "red")["array"] == [1.0, 0.0]
