"""CKA of layers with layers."""

from __future__ import annotations

import numpy as np
import pytest
from facts import tells

from dashboard.charts import layer_heatmap


def test_layer_heatmap_by_value():
    original = np.array([[1.0, 0.7], [0.6, 0.55]])
    retrain = np.array([[0.95, 0.8], [0.7, 0.85]])
    info = layer_heatmap.layer_heatmap_info(
        "DUCK",
        layers=["a", "b"],
        original=original,
        retrain=retrain,
        references=np.array([0.97, 0.9]),
    )
    assert (
        info.most_changed == 1
        and list(info.to_original) == [1.0, 0.55]
        and list(info.to_retrain) == [0.95, 0.85]
    )
    figure = layer_heatmap.draw(info, dark=False)
    assert [trace.zmin for trace in figure.data] == [pytest.approx(0.5)] * 2 and figure.data[
        0
    ].zmax == 1.0
    assert np.array_equal(figure.data[1].z, retrain) and list(figure.data[1].x) == ["a", "b"]
    assert tells(layer_heatmap.alt_text(info), "b", "0.550", "0.850", "Retrain")
