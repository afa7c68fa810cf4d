"""Interval bars: all of them while marks are few, those of the selected method in a crowd."""

from __future__ import annotations

import pytest

from dashboard.charts import agl_agr, cka_scatter, last_layer
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


def cka_info(count: int) -> cka_scatter.CkaScatterInfo:
    marks = tuple(
        cka_scatter.Mark(f"m{k}", f"m{k}", f"M{k}", "teacher", 0.5 + k / 100, 0.4, 0.05, 0.1)
        for k in range(count)
    )
    return cka_scatter.CkaScatterInfo(
        "test", marks, None, None, (), (), None, (0.0, 1.0), (0.8, 1.0), ()
    )


def last_info(count: int) -> last_layer.LastLayerInfo:
    return last_layer.LastLayerInfo(
        tuple(
            last_layer.Mark(f"m{k}", f"M{k}", "teacher", 0.5 + k / 100, 0.5, 0.1, 0.05, 0.1, 2)
            for k in range(count)
        ),
        (),
    )


def agl_info(count: int) -> agl_agr.AglAgrInfo:
    marks = tuple(
        agl_agr.Mark(f"m{k}", f"m{k}", f"M{k}", "teacher", 0.5 + k / 100, 0.4, 0.05, 0.1)
        for k in range(count)
    )
    return agl_agr.AglAgrInfo("both", marks, (None, None), (), ())


CHARTS = [
    (cka_scatter, cka_info, ("x", "y"), "0.500 ± 0.050"),
    (last_layer, last_info, ("cka", "gain"), "0.500 ± 0.050"),
    (agl_agr, agl_info, ("agl", "agr"), "0.500 ± 0.050"),
]


@pytest.mark.parametrize(
    ("chart", "make", "place", "said"), CHARTS, ids=lambda one: getattr(one, "__name__", "")
)
def test_every_scatter_has_its_marks_in_place_and_keeps_the_rule(chart, make, place, said):
    few, many = make(intervals.MOST), make(CROWD)
    assert few.note == "" and "selected method alone" in many.note

    def trace(info, selected=""):
        return next(
            each
            for each in chart.draw(info, dark=False, selected=selected).data
            if each.name == "Teacher and student"
        )

    drawn = list(zip(trace(few).x, trace(few).y, strict=True))
    assert drawn == [tuple(getattr(mark, name) for name in place) for mark in few.marks]
    assert all(trace(few).error_x.array) and all(trace(few).error_y.array)
    assert not any(trace(many).error_x.array) and not trace(many).error_y.visible
    selected = trace(many, selected="m2")
    assert (
        [bool(half) for half in selected.error_x.array]
        == [bool(half) for half in selected.error_y.array]
        == [k == 2 for k in range(CROWD)]
    )
    assert said in selected.customdata[0]  # under the cursor, drawn or not
