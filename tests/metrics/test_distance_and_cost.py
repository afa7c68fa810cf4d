"""Distances and costs on numbers that can be checked in the head."""

from __future__ import annotations

import numpy as np
import pytest

from mucore.errors import BadValue
from mucore.metrics.cost import comparable, relative_work, rte, samples_read, taken, work
from mucore.metrics.distance import l2, l2_normalised

RETRAINED = {"a": np.array([[3.0, 0.0]], np.float32), "b": np.array([4.0], np.float32)}
UNLEARNED = {"a": np.array([[5.0, 3.0]], np.float32), "b": np.array([-2.0], np.float32)}


def test_l2_is_over_all_tensors_together():
    """Differences 2, 3 and 6: √(4 + 9 + 36) = 7. ‖θr‖ = √(9 + 16) = 5."""
    assert l2(unlearned=UNLEARNED, retrained=RETRAINED) == pytest.approx(7)
    assert l2_normalised(unlearned=UNLEARNED, retrained=RETRAINED) == pytest.approx(7 / 5)


def test_l2_of_small_differences_keeps_its_digits():
    """float32 squares of 1e-25 would vanish."""
    assert l2(
        unlearned={"a": np.full(4, 1e-25, np.float32)}, retrained={"a": np.zeros(4, np.float32)}
    ) == pytest.approx(2e-25)


def test_normalising_by_zero_is_refused():
    with pytest.raises(BadValue, match="all of them are zero"):
        l2_normalised(unlearned={"a": np.ones(1)}, retrained={"a": np.zeros(1)})


def test_rte_is_a_ratio_of_seconds(cost):
    assert rte(unlearned=cost(seconds=3.0), retrained=cost(seconds=12.0)) == 0.25


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [("device", "cuda", "device cuda instead of cpu"), ("threads", 1, "threads 1 instead of 2")],
)
def test_rte_needs_equal_conditions(cost, name, value, sentence):
    with pytest.raises(BadValue, match=f"{sentence}. Run Retrain again"):
        rte(unlearned=cost(), retrained=cost(**{name: value}))
    assert not comparable(unlearned=cost(), retrained=cost(**{name: value}))


def test_processor_time_goes_before_the_walls_and_compares_with_itself_alone(cost):
    busy = cost(seconds=100.0, processor_seconds=4.0)
    assert taken(busy) == 4.0 and taken(cost(seconds=3.0, processor_seconds=None)) == 3.0
    assert rte(unlearned=busy, retrained=cost(seconds=9.0, processor_seconds=16.0)) == 0.25
    with pytest.raises(BadValue, match="clock wall instead of processor"):
        rte(unlearned=busy, retrained=cost())
    assert not comparable(unlearned=cost(), retrained=busy)


def test_work_counts_a_gradient_three_times(cost):
    assert work(cost=cost(reads={"forget/backward": 40, "retain/forward": 120})) == 240
    assert work(cost=cost(reads={})) == 0
    read = cost(reads={"retain/backward": 160})
    assert relative_work(unlearned=cost(), retrained=read) == 0.5
    with pytest.raises(BadValue):
        relative_work(unlearned=cost(), retrained=cost(reads={}))


def test_rte_of_an_untimed_retrain_is_refused(cost):
    with pytest.raises(BadValue, match="took no time"):
        rte(unlearned=cost(), retrained=cost(seconds=0.0))


def test_samples_read_adds_every_pass(cost):
    assert (
        samples_read(
            cost=cost(reads={"forget/backward": 40, "retain/forward": 120, "retain/backward": 7})
        )
        == 167
    )
