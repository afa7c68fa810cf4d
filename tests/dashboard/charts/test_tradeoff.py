"""Forgetting against utility."""

from __future__ import annotations

from dataclasses import replace

import pytest
from facts import tells
from gap_tables import GAPS, with_verdicts

from dashboard.charts import tradeoff
from mucore import catalog


def test_pareto_by_hand():
    """(distance, utility): b beats c in both; a and b trade; d ties with a and is no better, so
    both stay.
    """
    a, b, c, d = (0.0, 1.0), (1.0, 2.0), (1.5, 1.5), (0.0, 1.0)
    assert tradeoff.pareto([a, b, c, d]) == [True, True, False, True]
    assert tradeoff.pareto([]) == []


def test_tradeoff_info_is_in_points(table):
    info = tradeoff.tradeoff_info(table)
    marks = {mark.title: mark for mark in info.marks}
    assert (marks["SCRUB"].x, marks["SCRUB"].y) == (pytest.approx(4.0), pytest.approx(-2.0))
    assert marks["SCRUB"].x_half is None
    # nearest in FA: SSD (2 points), then SCRUB (4, but higher TA), then Fine-tune (highest TA);
    # SalUn is farther and lower than SCRUB
    assert {title for title, mark in marks.items() if mark.pareto} == {"SSD", "SCRUB", "Fine-tune"}
    assert info.original == (pytest.approx(50.0), pytest.approx(1.0))
    assert info.missing == ("Bad teacher",)
    # 30 points of TA lost; 50 points of FA away, where the farthest near method has 40
    assert info.outside == ("SSD", "Original")
    assert info.near_y[0] > -tradeoff.NEAR_POINTS > info.all_y[0] + 20
    # 0 to 40 and 15 % room on either side
    assert info.near_x == (pytest.approx(-6.0), pytest.approx(46.0))
    assert info.all_x[1] > 50


def test_only_methods_that_forgot_are_called_unbeaten(table):
    judged = with_verdicts(
        table, {"ssd": "damaged", "scrub": "forgot", "finetune": "did nothing", "salun": "forgot"}
    )
    info = tradeoff.tradeoff_info(judged)
    # SCRUB is nearer, by indication
    assert {mark.title for mark in info.marks if mark.pareto} == {"SalUn"}
    assert {mark.title: mark.verdict for mark in info.marks}["SCRUB"] == "forgot?"
    none = tradeoff.tradeoff_info(
        with_verdicts(table, dict.fromkeys(("ssd", "scrub", "finetune", "salun"), "damaged"))
    )
    assert not any(
        mark.pareto for mark in none.marks
    ) and "None of them forgot" in tradeoff.alt_text(none)


def test_the_noise_of_retrain_is_a_grey_box_around_it(table):
    bare = tradeoff.tradeoff_info(table)
    assert bare.noise is None
    figure = tradeoff.draw(bare, dark=False)
    assert not [shape for shape in figure.layout.shapes if shape.type == "rect"]
    info = tradeoff.tradeoff_info(replace(table, noise={"fa": 0.02, "ta": 0.01}))
    assert info.noise == pytest.approx((2.0, 1.0))
    (box,) = [
        shape for shape in tradeoff.draw(info, dark=True).layout.shapes if shape.type == "rect"
    ]
    assert (box.x0, box.x1, box.y0, box.y1) == pytest.approx((-2.0, 2.0, -1.0, 1.0))
    assert tells(tradeoff.alt_text(info), "2.0 points", "1.0 of test accuracy")


def test_tradeoff_figure(table):
    info = tradeoff.tradeoff_info(table)
    figure = tradeoff.draw(info, dark=False, selected=info.marks[0].row)
    families = [
        catalog.FAMILIES[f]
        for f in catalog.FAMILIES
        if any(mark.family == f for mark in info.marks)
    ]
    assert [trace.name for trace in figure.data] == [*families, "Retrain", "Original"]
    assert sum(len(trace.x) for trace in figure.data) == len(GAPS) + 2
    named = {annotation.text for annotation in figure.layout.annotations}
    assert {"Retrain", "Original", "SSD"} <= named and "SalUn" not in named
    near = tradeoff.draw(info, dark=True, zoom=True)
    assert near.layout.yaxis.range == info.near_y
    assert "SSD" not in {annotation.text for annotation in near.layout.annotations}
