"""Cost against distance to Retrain, the marks of the one scatter, and names that never meet."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations

import pandas as pd
import pytest
from gap_tables import with_verdicts
from hypothesis import given
from hypothesis import strategies as st

from dashboard import frames
from dashboard.charts import cost_distance, scatter
from dashboard.charts.parts import name_labels
from dashboard.frames import Cell, Estimate
from mucore.verdicts import Word

WORDS: Mapping[str, Word] = {
    "scrub": "forgot",
    "ssd": "damaged",
    "finetune": "did nothing",
    "salun": "forgot",
}
AWAY = {"original": 0.3, "scrub": 0.02, "ssd": 0.25, "finetune": 0.29, "salun": 0.0}


@pytest.fixture
def judged(table: frames.ResultsTable) -> frames.ResultsTable:
    """Each method at 10 % of Retrain's work; distances of AWAY, SCRUB's ± 1 point."""

    def placed(row: frames.Row) -> frames.Row:
        half = 0.01 if row.method == "scrub" else None
        away = Estimate(AWAY[row.method], half, 2) if row.method in AWAY else None
        cost = Cell(value=Estimate(0.1, None, 2))
        return replace(row, distance=away, cells={**row.cells, "rte_work": cost})

    table = with_verdicts(table, WORDS)
    return replace(table, rows=tuple(map(placed, table.rows)))


def test_marks_are_in_points_and_a_line_is_drawn_for_indications_alone(judged):
    info = cost_distance.cost_distance_info(judged.rows, apart=0.004)
    found = {dot.title: dot for dot in info.dots}
    assert [dot.x for dot in info.dots] == pytest.approx([10.0] * 4) and info.work
    assert found["SCRUB"].y == pytest.approx(2.0) and not found["SCRUB"].shown
    assert (found["SCRUB"].low, found["SCRUB"].high) == pytest.approx((1.0, 3.0))
    assert found["SSD"].low is None and found["SSD"].fate == "damaged"
    assert (info.original, info.apart) == pytest.approx((30.0, 0.4))
    assert info.missing == ("Bad teacher",)


def test_on_a_log_axis_no_distance_stands_on_the_floor_where_retrain_does(judged):
    info = cost_distance.cost_distance_info(judged.rows, apart=0.004)
    assert info.floor == 0.1
    figure = cost_distance.draw(info, dark=False)
    traces = {trace.name: trace for trace in figure.data}
    assert traces["Retrain"].y[0] == traces["forgot"].y[0] == pytest.approx(-1.0)
    assert traces["Retrain"].x[0] == pytest.approx(2.0)  # 100 %
    assert traces["forgot, indicated"].marker.symbol == ("circle-open",)
    (band,) = [shape for shape in figure.layout.shapes if shape.name == "noise"]
    assert band.y1 == pytest.approx(math.log10(0.4))


def test_a_tick_of_a_log_axis_is_one_or_three_of_a_power_of_ten():
    axis = scatter.Axis(title="", low=0.05, high=40.0, log=True, unit=" %")
    assert axis.ticks() == pytest.approx([0.1, 0.3, 1.0, 3.0, 10.0, 30.0])
    assert axis.layout()["ticktext"][0] == "0.1 %" and axis.place(0.0) == axis.span[0]


@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.floats(0, 1), st.integers(1, 40)), min_size=1, max_size=40
    )
)
def test_names_meet_neither_each_other_nor_a_mark(places):
    named = [(x, y, f"{number}" * size) for number, (x, y, size) in enumerate(places, 1)]
    marks = [(x, y) for x, y, _ in named]
    labels = name_labels.place(named, (-0.1, 1.1), (-0.1, 1.1), marks, most=40)
    for size, shown in (
        (name_labels.WIDE, labels),
        (name_labels.NARROW, [label for label in labels if label.narrow]),
    ):
        window = name_labels._Window((-0.1, 1.1), (-0.1, 1.1), size)
        boxes = [window.box(label) for label in shown]
        assert not any(name_labels._meet(*pair) for pair in combinations(boxes, 2))
        assert all(window.holds(label) for label in shown)
    wide = name_labels._Window((-0.1, 1.1), (-0.1, 1.1), name_labels.WIDE)
    assert all(wide.covered(label, marks, []) == 0 for label in labels if not label.narrow)


def test_two_retrains_are_as_far_apart_as_their_mean_difference():
    runs = pd.DataFrame({"key": ["a", "b", "c"], "method": "retrain", "training_seed": [0, 1, 2]})
    wide = pd.DataFrame({"key": ["a", "b", "c"], "fa": [0.1, 0.2, 0.1], "ta": [0.9, 0.9, 0.6]})
    values = wide.melt("key", var_name="metric", value_name="value")
    # a and b 0.05, a and c 0.15, b and c 0.2
    assert frames.apart(runs, values, ("fa", "ta")) == pytest.approx(0.2)
    assert frames.apart(runs, values, ("fa", "missing")) is None
