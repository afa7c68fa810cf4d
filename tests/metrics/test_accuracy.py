"""Accuracies against counts that fit on a page."""

from __future__ import annotations

import numpy as np
import pytest

from mucore.errors import BadValue
from mucore.metrics.accuracy import accuracy, accuracy_of_classes, per_class, top_accuracy
from mucore.outputs import confusion

# Ten samples: true 0 0 0 0 1 1 1 2 2 2, predicted 0 0 0 1 1 1 0 2 0 0.
COUNTS = np.array([[3, 1, 0], [1, 2, 0], [2, 0, 1]])


def test_counts_are_those_of_the_ten_samples():
    labels = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 2])
    predicted = np.array([0, 0, 0, 1, 1, 1, 0, 2, 0, 0])
    assert (confusion(labels, predicted, 3) == COUNTS).all()


def test_accuracy_is_the_share_on_the_diagonal():
    assert accuracy(confusion=COUNTS) == pytest.approx(6 / 10)


def test_accuracy_of_classes_counts_their_rows_alone():
    assert accuracy_of_classes(confusion=COUNTS, classes=(1,)) == pytest.approx(2 / 3)
    assert accuracy_of_classes(confusion=COUNTS, classes=(0, 2)) == pytest.approx((3 + 1) / (4 + 3))


def test_per_class_is_missing_where_a_class_has_no_sample():
    np.testing.assert_allclose(
        per_class(confusion=np.array([[3, 1, 0], [0, 0, 0], [2, 0, 1]])), [3 / 4, np.nan, 1 / 3]
    )


def test_no_samples_is_said_in_words():
    with pytest.raises(BadValue, match="needs at least one sample, but this split has none"):
        accuracy(confusion=np.zeros((3, 3), int))
    with pytest.raises(BadValue, match="has none of them"):
        accuracy_of_classes(confusion=np.diag([1, 0, 1]), classes=(1,))


def test_top_two_by_hand():
    """The true class is first, second and third; in the last line it shares the second place, which
    counts.
    """
    logits = np.array([[3.0, 2, 1], [3, 2, 1], [3, 2, 1], [3, 1, 1]], np.float32)
    assert top_accuracy(logits=logits, labels=np.array([0, 1, 2, 2]), k=2) == 3 / 4
    assert top_accuracy(logits=logits, labels=np.array([0, 1, 2, 2]), k=1) == 1 / 4
    assert top_accuracy(logits=np.full((2, 4), np.nan), labels=np.array([0, 1]), k=2) == 0


@pytest.mark.parametrize(
    ("classes", "labels", "reason"),
    [
        (3, np.zeros((2, 3), np.int64), "yes-or-no"),
        (2, np.zeros(2, np.int64), "every one is in the top 2"),
        (3, np.zeros(0, np.int64), "one sample"),
    ],
)
def test_top_two_needs_three_classes_and_a_sample(classes, labels, reason):
    with pytest.raises(BadValue, match=reason):
        top_accuracy(logits=np.zeros((len(labels), classes)), labels=labels, k=2)
