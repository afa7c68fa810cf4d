"""Decision fields: colours by hand, and which points stand in which picture."""

from __future__ import annotations

import numpy as np
import pytest

from dashboard import theme
from dashboard.charts import decision_fields as chart

POINTS = [[0.0, 0.5, 0], [0.5, -0.5, 1], [-0.5, 0.5, 0]]
SURE = np.array([[[255, 0], [0, 255]], [[128, 127], [255, 0]]], np.uint8)
BASE = np.array([[[255, 0], [255, 0]], [[128, 127], [255, 0]]], np.uint8)


@pytest.mark.parametrize("dark", [False, True])
def test_hue_is_the_class_and_saturation_how_sure_it_is(dark):
    ground, first, second = (
        np.array([int(text[at : at + 2], 16) for at in (1, 3, 5)])
        for text in (theme.ground(dark).background, *chart.FIELDS[:2])
    )
    found = chart.painted(chart.Field("Original", SURE), dark).astype(int)
    assert np.abs(found[0, 0] - (ground + 0.66 * (first - ground))).max() <= 1
    assert np.abs(found[0, 1] - (ground + 0.66 * (second - ground))).max() <= 1
    assert np.abs(found[1, 0] - (ground + 0.0624 * (first - ground))).max() <= 1
    away = chart.painted(chart.Field("Difference", SURE, BASE), dark).astype(int)
    hue = theme.family_style(chart.DIFFERENCE).color(dark)
    assert (away[0, 0] == ground).all() and (away[1, 1] == ground).all()
    assert away[0, 1].tolist() == [int(hue[at : at + 2], 16) for at in (1, 3, 5)]


def test_a_picture_has_all_points_and_a_difference_those_to_forget():
    fields = chart.Field("SCRUB", SURE), chart.Field("Difference", SURE, BASE)
    info = chart.decision_fields_info(fields, POINTS, [1])
    figure = chart.draw(info, dark=False)
    placed = [(trace.xaxis, list(trace.x), trace.marker.line.width) for trace in figure.data]
    assert placed == [("x", [0.0, -0.5], 0.6), ("x", [0.5], 2), ("x2", [0.5], 2)]
    assert len(figure.layout.images) == 2
    assert [each.text for each in figure.layout.annotations] == ["SCRUB", "Difference"]
    words = chart.alt_text(info)
    assert "SCRUB" in words and "25 %" in words
