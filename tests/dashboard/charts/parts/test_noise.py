"""The grey of Retrain against Retrain, as a shape."""

from __future__ import annotations

import pytest

from dashboard import theme
from dashboard.charts.parts import noise
from mucore.statistics.significance import apart


def test_how_far_values_lie_apart():
    # differences of every two, either way: 1, 2 and 3; of six in order the place of 97.5 % is 4.875
    assert apart([1.0, 2.0, 4.0]) == pytest.approx(2 + 0.875)
    assert apart([1.0, 1.0]) == 0.0 and apart([1.0]) is None and apart([]) is None


def test_a_box_and_strips():
    look = theme.ground(False)
    box = noise.band(look, x=(1, 2), y=(3, 4))
    assert [box[name] for name in ("x0", "x1", "y0", "y1")] == [1, 2, 3, 4]
    assert (box["xref"], box["yref"], box["layer"]) == ("x", "y", "below")
    assert box["fillcolor"] == look.grid
    strip = noise.band(look, x=(1, 2), xref="x3", yref="y3")
    assert (strip["xref"], strip["yref"]) == ("x3", "y3 domain")
    assert (strip["y0"], strip["y1"]) == (0, 1)
    assert noise.around(0.5, 0.1) == pytest.approx((0.4, 0.6))
    assert noise.around(None, 0.1) is None and noise.around(0.5, None) is None
