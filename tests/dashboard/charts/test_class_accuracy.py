"""Accuracy of each class."""

from __future__ import annotations

import numpy as np
import pytest
from builders import make_result

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
    assert not figure.data[1].error_y.visible


def test_grey_around_retrain_is_as_far_as_its_seeds_lie_apart():
    """Class 0: 50, 60 and 80 % right, so ± 10, 20 and 30 points: 20 + 0.875 * 10; class 1: none."""
    seeds = [
        make_result(
            method="retrain", training_seed=seed, confusion={"test": [[right, 10 - right], [0, 0]]}
        )
        for seed, right in enumerate((5, 6, 8))
    ]
    halves = class_accuracy.retrains_apart(seeds)
    assert halves == (pytest.approx(28.75), None)
    assert class_accuracy.retrains_apart(seeds[:1]) == class_accuracy.retrains_apart([]) == ()
    assert class_accuracy.retrains_apart(seeds, split="forget") == ()
    one = seeds[0].confusion["test"]
    info = class_accuracy.class_accuracy_info(one, retrain=one, halves=halves)
    (_, retrain) = class_accuracy.draw(info, dark=True).data
    assert list(retrain.error_y.array) == pytest.approx([28.75, 0.0]) and retrain.error_y.visible
    assert "28.8 points" in class_accuracy.alt_text(info)
    assert class_accuracy.class_accuracy_info(one, halves=halves).noise == ()  # around nothing
