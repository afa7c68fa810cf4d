"""Average ranks with the critical difference."""

from __future__ import annotations

import pytest

from dashboard.charts import critical_difference
from mucore.statistics.significance import alike_in_pairs, average_ranks


def test_critical_difference_by_hand():
    """Two blocks, three methods: ranks 1, 2, 3 in both. q(0.05, 3, inf) = 3.314, so CD = 3.314 /
    sqrt 2 * sqrt(3 * 4 / (6 * 2)) = 2.343.
    """
    ranking = average_ranks({"salun": [1.0, 2.0], "ssd": [2.0, 3.0], "scrub": [3.0, 4.0]})
    names = {
        "salun": ("SalUn", "sparsity"),
        "ssd": ("SSD", "influence"),
        "scrub": ("SCRUB", "teacher"),
    }
    info = critical_difference.critical_difference_info(ranking, names)
    assert [(each.title, each.rank) for each in info.methods] == [
        ("SalUn", 1.0),
        ("SSD", 2.0),
        ("SCRUB", 3.0),
    ]
    assert info.difference == pytest.approx(2.343, abs=1e-3) and info.bars == ((1.0, 2.0, 3.0),)
    figure = critical_difference.draw(info, dark=False)
    texts = [annotation.text for annotation in figure.layout.annotations]
    assert "critical difference 2.34" in texts and "SalUn  1.0" in texts and "3.0  SCRUB" in texts
    axis = figure.data[0]
    assert list(axis.x) == [1, 3, None, 1, 1, None, 2, 2, None, 3, 3] and axis.y[1] == 0
    # the bar is longer than the axis and still whole
    assert figure.layout.xaxis.range[1] > 1 + 2.343
    assert "SalUn" in critical_difference.alt_text(info)
    judged = critical_difference.critical_difference_info(
        ranking, names, None, {"salun": 0, "ssd": 2, "scrub": 1}
    )
    marks = critical_difference.draw(judged, dark=False).data[-1]
    assert list(marks.marker.symbol)[0] == "circle-open" or list(marks.marker.symbol)[0].endswith(
        "-open"
    )
    assert [line[3] for line in marks.customdata] == [
        f"<br>forgot in {count} of 2 scenarios" for count in (0, 2, 1)
    ]


def test_bars_of_paired_tests_join_the_methods_at_their_dots_alone():
    scores = {"salun": [1.0, 2.0], "ssd": [2.0, 3.0], "scrub": [3.0, 4.0]}
    names = {name: (name, "own") for name in scores}
    ranking = average_ranks(scores)
    tested = alike_in_pairs(
        ranking, [("salun", "ssd", 0.01), ("salun", "scrub", 0.2), ("ssd", "scrub", 0.9)]
    )
    info = critical_difference.critical_difference_info(tested, names, in_pairs=True)
    assert info.bars == ((1.0, 3.0), (2.0, 3.0)) and not info.whole and info.difference is None
    figure = critical_difference.draw(info, dark=True)
    dots = [list(each.x) for each in figure.data if each.mode == "markers"][:2]
    assert dots == [[1.0, 3.0], [2.0, 3.0]]
    assert not any("critical" in str(each.text) for each in figure.layout.annotations)
    # three neighbours under one bar need no dots
    every = alike_in_pairs(
        ranking, [("salun", "ssd", 0.5), ("salun", "scrub", 0.2), ("ssd", "scrub", 0.9)]
    )
    assert critical_difference.critical_difference_info(every, names, in_pairs=True).whole
