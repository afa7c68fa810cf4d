"""Average ranks with the critical difference."""

from __future__ import annotations

import pytest

from dashboard import theme
from dashboard.charts import critical_difference
from mucore.statistics.significance import average_ranks

NAMES = {"salun": "SalUn", "ssd": "SSD", "scrub": "SCRUB"}


def test_critical_difference_by_hand():
    """Two blocks, three methods: ranks 1, 2, 3 in both. q(0.05, 3, inf) = 3.314, so CD = 3.314 /
    sqrt 2 * sqrt(3 * 4 / (6 * 2)) = 2.343.
    """
    ranking = average_ranks({"salun": [1.0, 2.0], "ssd": [2.0, 3.0], "scrub": [3.0, 4.0]})
    keys, forgot = {"ssd": "k"}, {"salun": 0, "ssd": 2}
    figure = critical_difference.draw(ranking, NAMES, keys, forgot, dark=False, selected="k")
    (marks,) = figure.data
    assert list(marks.y) == ["SalUn", "<b>SSD</b>", "SCRUB"] and list(marks.x) == [1, 2, 3]
    assert [color == theme.LIGHT.muted for color in marks.marker.color] == [True, False, False]
    assert [line[2] for line in marks.customdata] == [
        "<br>forgot in 0 of 2 scenarios",
        "<br>forgot in 2 of 2 scenarios",
        "",
    ]
    scale, bar = figure.layout.shapes
    assert scale.x1 - scale.x0 == pytest.approx(2.343, abs=1e-3)
    assert (bar.y0, bar.y1) == (-0.3, 2.3)  # joins all three
    assert "SalUn" in critical_difference.alt_text(ranking, NAMES)
