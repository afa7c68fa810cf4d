"""CKA of layers with layers."""

from __future__ import annotations

import numpy as np
import pytest
from facts import tells

from dashboard.charts import layer_heatmap


def test_layer_heatmap_by_value():
    value = {
        "layers": ["a", "b"],
        "original": np.array([[1.0, 0.7], [0.6, 0.55]]),
        "retrain": np.array([[0.95, 0.8], [0.7, 0.85]]),
        "original_retrain": np.array([0.97, 0.9]),
    }
    table = layer_heatmap.diagonals(value)
    assert table["CKA to the original"].tolist() == [1.0, 0.55]
    assert table["CKA to Retrain"].tolist() == [0.95, 0.85]
    figure = layer_heatmap.draw(value, "DUCK", dark=False)
    assert [trace.zmin for trace in figure.data] == [pytest.approx(0.5)] * 2
    assert figure.data[0].zmax == 1.0 and list(figure.data[1].x) == ["a", "b"]
    assert np.array_equal(figure.data[1].z, value["retrain"])
    assert tells(layer_heatmap.alt_text(value, "DUCK"), "b", "0.550", "0.850", "Retrain")
