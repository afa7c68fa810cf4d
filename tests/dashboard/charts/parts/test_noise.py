"""The grey of Retrain against Retrain, as a shape."""

from __future__ import annotations

import pytest

from mucore.statistics.significance import half_band


def test_how_far_values_lie_apart():
    # differences of every two, either way: 1, 2 and 3; of six in order the place of 97.5 % is 4.875
    assert half_band([1.0, 2.0, 4.0]) == pytest.approx(2 + 0.875)
    assert half_band([1.0, 1.0]) == 0.0 and half_band([1.0]) is None and half_band([]) is None
