"""Losses of forgotten and of unseen persons."""

from __future__ import annotations

import numpy as np
import pytest
from facts import tells

from dashboard.charts import loss_histograms
from dashboard.frames.identity import Losses


def test_loss_histograms_share_an_axis_and_lose_nobody():
    panels = [
        ("SCRUB", Losses(np.linspace(0, 1, 50), np.linspace(0, 2, 40))),
        ("Retrain", Losses(np.full(10, 9.0), np.linspace(0, 1, 10))),
    ]
    info = loss_histograms.loss_histograms_info(panels)
    for panel in info.panels:
        assert sum(panel.forget) == pytest.approx(100) and sum(panel.unseen) == pytest.approx(100)
    assert info.panels[1].forget[-1] == pytest.approx(100) and info.panels[1].forget_median == 9.0
    figure = loss_histograms.draw(info, dark=False)
    assert len(figure.data) == 4 and [note.text for note in figure.layout.annotations] == [
        "SCRUB",
        "Retrain",
    ]
    alt = loss_histograms.alt_text(info)
    assert tells(alt, "SCRUB", "0.50 of forgotten", "1.00 of unseen")
