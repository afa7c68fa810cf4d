"""Forget sets: definitions on twelve samples, golden ids on real labels, and a sentence for every
bad input.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from mucore import catalog
from mucore.errors import BadValue
from mucore.forget_sets.saved import forget_hash
from mucore.runs import resolve
from mucore.scenarios.select import forgotten_classes, select

# Twelve samples with ids 100..111; four of each class, one after the other.
LABELS = np.arange(12) // 4
IDS = np.arange(100, 112)
LOSSES = np.array([0.5, 0.1, 0.1, 0.9, 0.2, 0.2, 0.8, 0.1, 0.3, 0.9, 0.4, 0.6])
# the downstream class looks like class 0
FEATURES = {"prototypes": np.eye(3), "downstream": np.eye(3)[:1]}


def chosen(scenario: str, **given) -> list[int]:
    parameters = resolve(catalog.scenario(scenario).parameters, given, owner=scenario)
    return select(
        scenario,
        parameters,
        labels=LABELS,
        ids=IDS,
        classes=3,
        losses=LOSSES,
        **FEATURES,
        identities=IDS,
    ).tolist()


def test_every_card_has_a_selector_and_usable_defaults():
    for card in catalog.scenarios():
        given = {"ids": {"ids": [100]}, "label_flip": {"pairs": "0-2"}}.get(card.id, {})
        assert chosen(card.id, **given), card.id


def test_one_class_takes_its_budget_from_that_class():
    got = chosen("one_class", class_id=1, budget=0.5)
    assert len(got) == 2 and set(got) < {104, 105, 106, 107}
    assert chosen("one_class", class_id=2, budget=4) == [108, 109, 110, 111]


def test_all_classes_takes_its_budget_from_everything():
    got = chosen("all_classes", budget=6)
    assert len(set(got)) == 6 and set(got) < set(IDS.tolist())


def test_class_wise_takes_whole_classes():
    assert chosen("class_wise", class_ids=[2, 0]) == [100, 101, 102, 103, 108, 109, 110, 111]
    assert forgotten_classes("class_wise", np.array([2, 2, 0, 2])) == (0, 2)
    assert forgotten_classes("one_class", np.array([0, 0])) == ()


def test_worst_case_is_the_lowest_loss_and_ties_go_by_id():
    """Losses 0.1 belong to 101, 102 and 107."""
    assert chosen("worst_case", budget=2) == [101, 102]
    assert chosen("worst_case", budget=4) == [101, 102, 104, 107]


def test_best_case_is_the_highest_loss_and_ties_go_by_id():
    """Losses 0.9 belong to 103 and 109."""
    assert chosen("best_case", budget=1) == [103]
    assert chosen("best_case", budget=3) == [103, 106, 109]


def test_ids_are_taken_as_they_are_and_sorted():
    assert chosen("ids", ids="111, 100") == [100, 111]


@pytest.mark.parametrize(
    ("share", "count"), [(0.02, 1), (0.125, 2), (0.12, 1), (0.5, 6), (0.9, 11)]
)
def test_a_share_rounds_to_the_nearest_and_is_one_at_least(share: float, count: int):
    """Of twelve: 0.24, 1.5 (half goes up), 1.44, 6 and 10.8."""
    assert len(chosen("all_classes", budget=share)) == count


@given(
    order=st.permutations(range(12)),
    scenario=st.sampled_from(["one_class", "all_classes", "class_wise", "worst_case", "best_case"]),
)
@settings(max_examples=40)
def test_the_order_of_samples_does_not_matter(order: list[int], scenario: str):
    parameters = resolve(catalog.scenario(scenario).parameters, {}, owner=scenario)
    got = select(
        scenario, parameters, labels=LABELS[order], ids=IDS[order], classes=3, losses=LOSSES[order]
    )
    assert got.tolist() == chosen(scenario)


@given(small=st.integers(1, 11), large=st.integers(1, 11), seed=st.integers(0, 50))
@settings(max_examples=40)
def test_a_smaller_budget_is_part_of_a_larger_one(small: int, large: int, seed: int):
    small, large = sorted([small, large])
    assert set(chosen("all_classes", budget=small, seed=seed)) <= set(
        chosen("all_classes", budget=large, seed=seed)
    )


def test_the_seed_decides():
    assert (
        chosen("all_classes", budget=5, seed=1)
        == chosen("all_classes", budget=5, seed=1)
        != chosen("all_classes", budget=5, seed=2)
    )


GOLDEN_IDS = [103, 339, 561, 992, 999, 1202, 1255, 1727, 1765]
GOLDEN_HASH = "0a2417492ef09a6a"


def test_golden_ids_of_the_digits():
    """Five per cent of the 183 threes are nine samples. If these move, so does every stored result:
    raise the card's revision.
    """
    labels = load_digits().target
    ids = select(
        "one_class",
        {"class_id": 3, "budget": 0.05, "seed": 0},
        labels=labels,
        ids=np.arange(len(labels)),
        classes=10,
    )
    assert ids.tolist() == GOLDEN_IDS and ids.dtype == np.int64
    assert (labels[ids] == 3).all()
    assert forget_hash(ids) == GOLDEN_HASH


def test_hash_names_the_set_not_its_order():
    assert forget_hash([3, 1]) == forget_hash(np.array([1, 3])) != forget_hash([13])


@pytest.mark.parametrize(
    ("scenario", "given", "sentence"),
    [
        ("one_class", {"class_id": 3}, "from 0 to 2, but got 3"),
        (
            "one_class",
            {"budget": 5},
            "over class 0 must be from 1 to its 4 samples, but got 5. Choose fewer",
        ),
        (
            "all_classes",
            {"budget": 1.0},
            "At least one sample must stay to be retained, but scenario all_classes forgets all 12",
        ),
        ("class_wise", {"class_ids": [0, 0]}, "once each, at least one, but got"),
        ("class_wise", {"class_ids": [7]}, "from 0 to 2, but got 7"),
    ],
)
def test_bad_parameters_get_a_sentence(scenario: str, given: dict, sentence: str):
    with pytest.raises(BadValue, match=sentence):
        chosen(scenario, **given)


def test_missing_or_broken_losses_get_a_sentence():
    with pytest.raises(
        BadValue, match="orders samples by their losses, but got none: measure them"
    ):
        select("worst_case", {"budget": 2}, labels=LABELS, ids=IDS, classes=3)
    with pytest.raises(BadValue, match="must be finite to order samples, but 1 are not"):
        select(
            "best_case",
            {"budget": 2},
            labels=LABELS,
            ids=IDS,
            classes=3,
            losses=np.where(IDS == 105, np.nan, LOSSES),
        )
