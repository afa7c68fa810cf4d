"""The gap of accuracies beside the ratio of similarities."""

from __future__ import annotations

from dataclasses import replace

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
    stems = [(one.xref, one.x0, one.x1) for one in figure.layout.shapes if one.layer == "below"]
    assert stems == [("x", 0, bar.gap) for bar in info.bars] + [
        ("x2", 1, bar.ratio) for bar in info.bars
    ]
    assert "Place" in [note.text for note in figure.layout.annotations]
    assert figure.data[2].name == "The paper" and len(figure.data[2].x) == 4
    dashes = [shape.line.dash for shape in figure.layout.shapes if shape.line.dash]
    assert sorted(dashes) == ["dash", "dash", "dot", "dot"]
    names = [a for a in figure.layout.annotations if a.text in ("– – Retrain", "··· Original")]
    # one above the other, so that they never meet
    assert sorted((a.text, a.xref, a.yshift) for a in names) == [
        ("··· Original", "x", 17),
        ("··· Original", "x2", 17),
        ("– – Retrain", "x", 1),
        ("– – Retrain", "x2", 1),
    ]
    assert (
        tuple(figure.layout.xaxis.range) == info.gaps
        and tuple(figure.layout.xaxis2.range) == info.ratios
    )
    assert not info.cut and replace(info, bars=(replace(info.bars[0], ratio_half=5.0),)).cut
    assert tells(gap_and_ratio.alt_text(info), "SalUn", "1.0 points", "nearest to 1", "DUCK")


def test_many_methods_draw_the_interval_of_the_selected_one_alone(rows):
    info = gap_and_ratio.gap_and_ratio_info(rows, "test")
    crowd = tuple(
        replace(info.bars[0], key=f"m{number}", title=str(number), gap_half=50.0, ratio_half=5.0)
        for number in range(13)
    )
    figure = gap_and_ratio.draw(replace(info, bars=crowd), dark=False, selected="m3")
    assert list(figure.data[0].error_x.array) == [
        50.0 if number == 3 else 0.0 for number in range(13)
    ]
    assert (
        "selected method alone" in replace(info, bars=crowd).note
        and not replace(info, bars=crowd).cut
    )
