"""Accuracy of each class."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from builders import make_result

from dashboard.charts import class_accuracy

NONE = pd.Series(dtype=float)


def test_class_accuracy_by_hand():
    """Class 0: 3 of 4 right; class 1 has no sample; class 2: 2 of 2."""
    confusion = np.array([[3, 0, 1], [0, 0, 0], [0, 0, 2]])
    mine = class_accuracy.accuracies(confusion, ("shirt", "bag", "boot"))
    retrain = class_accuracy.accuracies(np.eye(3, dtype=int), ("shirt", "bag", "boot"))
    assert mine.dropna().to_dict() == {"shirt": 75.0, "boot": 100.0} and mine.isna()["bag"]
    assert retrain.tolist() == [100.0, 100.0, 100.0]
    assert [*class_accuracy.accuracies(confusion).index] == ["0", "1", "2"]
    answers = class_accuracy.accuracies([[[3, 1], [0, 2]]], ["smiling"])
    assert answers.to_dict() == {"smiling: no": 75.0, "smiling: yes": 100.0}
    figure = class_accuracy.draw(mine, retrain, NONE, dark=False)
    assert [trace.name for trace in figure.data] == ["This run", "Retrain"]
    assert "lowest shirt with 75.0 %" in class_accuracy.alt_text(mine, retrain, NONE)
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
    assert halves["0"] == pytest.approx(28.75) and np.isnan(halves["1"])
    assert (
        class_accuracy.retrains_apart(seeds[:1]).empty and class_accuracy.retrains_apart([]).empty
    )
    assert class_accuracy.retrains_apart(seeds, split="forget").empty
    one = class_accuracy.accuracies(seeds[0].confusion["test"])
    (_, retrain) = class_accuracy.draw(one, one, halves, dark=True).data
    assert list(retrain.error_y.array) == pytest.approx([28.75, 0.0]) and retrain.error_y.visible
    (_, few) = class_accuracy.draw(one, one - 40, halves, dark=True).data
    assert list(few.error_y.arrayminus) == pytest.approx([10.0, 0.0])  # no accuracy is below 0
    assert "28.8 points" in class_accuracy.alt_text(one, one, halves)
    assert "28.8" not in class_accuracy.alt_text(one, None, halves)  # around nothing
