"""The gap of accuracies beside the ratio of similarities."""

from __future__ import annotations

import pandas as pd
import pytest
from facts import tells
from similarities import cka, line, long

from dashboard.charts import gap_and_ratio
from dashboard.frames import representation as computed


def test_gap_and_ratio_by_value(rows):
    info = gap_and_ratio.gap_and_ratio_info(rows, "test")
    assert [bar.title for bar in info.bars] == ["SalUn", "DUCK", "SCRUB", "Fine-tune"]
    assert [bar.gap for bar in info.bars] == pytest.approx([1.0, 2.0, 10.0, 20.0])
    assert info.bars[1].ratio == pytest.approx(0.9 * 0.97 / 0.95)
    # by ratio: DUCK 0.919, SCRUB 0.863, Fine-tune 0.827, SalUn 0.810
    assert [bar.place_by_ratio for bar in info.bars] == [4, 1, 2, 3] and info.moved == 4
    assert info.original == (pytest.approx(30.0), pytest.approx(0.81)) and info.retrain == (
        pytest.approx(0.0),
        pytest.approx(1.0),
    )
    assert info.missing == ("SISA",)


def test_places_are_by_nearness_to_a_ratio_of_1():
    """A method beyond Retrain, 1.2, comes after one before it, 0.9."""
    lines = pd.DataFrame([line(method) for method in ("retrain", "duck", "salun")])
    values = cka(retrain_0=(1.0, 1.0), duck_0=(0.5, 0.6), salun_0=(1.0, 0.9))
    values += [
        ("retrain-0", "average_gap", 0.0),
        ("duck-0", "average_gap", 0.1),
        ("salun-0", "average_gap", 0.2),
    ]
    info = gap_and_ratio.gap_and_ratio_info(
        computed.similarity_rows(lines, long(values), "test"), "test"
    )
    assert [(bar.title, bar.place_by_ratio) for bar in info.bars] == [("DUCK", 2), ("SalUn", 1)]


def test_gap_and_ratio_figure(rows):
    info = gap_and_ratio.gap_and_ratio_info(rows, "test", computed.paper_values())
    figure = gap_and_ratio.draw(info, dark=False)
    left, right = figure.data[0], figure.data[1]
    assert list(left.y) == list(right.y) == [bar.title for bar in info.bars]
    assert list(left.x) == [bar.gap for bar in info.bars] and list(right.x) == [
        bar.ratio for bar in info.bars
    ]
    assert figure.data[2].name == "The paper" and len(figure.data[2].x) == 4
    assert tells(gap_and_ratio.alt_text(info), "SalUn", "1.0 points", "nearest to 1", "DUCK")
