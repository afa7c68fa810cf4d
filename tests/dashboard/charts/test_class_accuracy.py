"""Accuracy of each class."""

from __future__ import annotations

import numpy as np

from dashboard.charts import class_accuracy


def test_class_accuracy_by_hand():
    """Class 0: 3 of 4 right; class 1 has no sample; class 2: 2 of 2."""
    confusion = np.array([[3, 0, 1], [0, 0, 0], [0, 0, 2]])
    info = class_accuracy.class_accuracy_info(
        confusion, ("shirt", "bag", "boot"), np.eye(3, dtype=int)
    )
    assert info.method == (75.0, None, 100.0)
    assert info.retrain == (100.0, 100.0, 100.0)
    assert class_accuracy.class_accuracy_info(confusion).names == ("0", "1", "2")
    figure = class_accuracy.draw(info, dark=False)
    assert [trace.name for trace in figure.data] == ["This run", "Retrain"]
    assert "lowest shirt with 75.0 %" in class_accuracy.alt_text(info)
