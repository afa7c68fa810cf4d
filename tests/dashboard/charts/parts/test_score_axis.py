"""The axis of an attack's scores."""

from __future__ import annotations

import pytest

from dashboard.charts.parts import score_axis
from mucore.metrics import membership


@pytest.mark.parametrize("attack", membership.ATTACKS)
def test_ticks_lie_inside_and_are_few(attack):
    places = score_axis.ticks(attack, -3.0, 12.0)
    assert len(places) <= 7 and all(-3.0 <= place <= 12.0 for place, _ in places)
    if attack == "confidence":
        assert (0.0, "50 %") in score_axis.ticks(attack, -1.0, 1.0)
    if attack == "entropy":
        short = [text for _, text in score_axis.ticks(attack, 2.9, 4.1)]
        assert short == ["0.001", "5 · 10<sup>−4</sup>", "2 · 10<sup>−4</sup>", "10<sup>−4</sup>"]
