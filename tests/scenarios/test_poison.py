"""What the depoisoning scenarios do to a training set: flips and patches counted by hand, and a
sentence for every bad input.
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
from mucore.scenarios.poison import (
    check_fits,
    class_pairs,
    flipped_classes,
    note,
    poisoned_ids,
    poisoned_labels,
    trigger_mask,
)
from mucore.scenarios.select import forgotten_classes, select

# 24 samples with ids 100..123, six of each of four classes, one class after the other.
LABELS = np.arange(24) // 6
IDS = np.arange(100, 124)


def poison(scenario: str, **given) -> dict:
    return {
        "scenario": scenario,
        **resolve(catalog.scenario(scenario).parameters, given, owner=scenario),
    }


def chosen(scenario: str, **given) -> np.ndarray:
    return poisoned_ids(poison(scenario, **given), LABELS, IDS, 4)


def counts(ids: np.ndarray) -> list[int]:
    return np.bincount(LABELS[ids - 100], minlength=4).tolist()


# -- flipped labels


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"budget": 8}, [2, 2, 2, 2]),
        ({"budget": 10}, [3, 3, 2, 2]),  # the first classes take what does not divide
        ({"budget": 3}, [1, 1, 1, 0]),
        ({"budget": 0.5}, [3, 3, 3, 3]),
        ({"budget": 5, "pairs": "0-3"}, [3, 0, 0, 2]),
        ({"budget": 12, "pairs": "1-2"}, [0, 6, 6, 0]),  # whole classes may swap
    ],
)
def test_flips_are_spread_evenly_over_the_paired_classes(given: dict, expected: list[int]):
    assert counts(chosen("label_flip", **given)) == expected


def test_every_flipped_sample_gets_its_partners_label_and_no_other_changes():
    """First with last: 0-3 and 1-2."""
    ids = chosen("label_flip", budget=8)
    flipped = np.isin(IDS, ids)
    labels = poisoned_labels(poison("label_flip", budget=8), LABELS, flipped, 4)
    assert (labels[flipped] == 3 - LABELS[flipped]).all()
    assert (labels[~flipped] == LABELS[~flipped]).all()
    assert np.bincount(labels).tolist() == [6, 6, 6, 6]  # as many come as go


def test_default_pairs_of_ten_classes_are_muboxs():
    assert class_pairs(poison("label_flip"), 10) == [(0, 9), (1, 8), (2, 7), (3, 6), (4, 5)]
    assert flipped_classes(poison("label_flip", pairs="7-2,0-9"), 10) == (0, 2, 7, 9)


# -- patches


def test_a_backdoor_takes_random_samples_of_every_class_and_calls_them_the_target():
    ids = chosen("backdoor", budget=20, target=2)
    # 4 of 24 stay clean, so of no class more than 4
    assert len(set(ids.tolist())) == 20 and min(counts(ids)) >= 2
    stamped = np.isin(IDS, ids)
    labels = poisoned_labels(poison("backdoor", budget=20, target=2), LABELS, stamped, 4)
    assert (labels[stamped] == 2).all() and (labels[~stamped] == LABELS[~stamped]).all()
    own = int((LABELS[stamped] == 2).sum())
    assert (
        "20 of 24 training samples are poisoned: a patch was stamped on them and they are called "
        f"class 2, which {own} of them"
    ) in note(poison("backdoor", budget=20, target=2), LABELS, stamped, 4)


@pytest.mark.parametrize(
    ("position", "rows", "columns"),
    [
        ("bottom_right", (3, 4), (4, 5)),
        ("bottom_left", (3, 4), (0, 1)),
        ("top_right", (0, 1), (4, 5)),
        ("top_left", (0, 1), (0, 1)),
        ("centre", (1, 2), (2, 3)),
    ],
)
def test_the_patch_lies_where_it_is_asked_for(
    position: str, rows: tuple[int, int], columns: tuple[int, int]
):
    """Two by two on an image of five rows and six columns."""
    mask = trigger_mask(poison("backdoor", size=2, position=position), 5, 6)
    assert {(int(r), int(c)) for r, c in zip(*np.nonzero(mask), strict=True)} == {
        (r, c) for r in rows for c in columns
    }


# -- both


@pytest.mark.parametrize("scenario", ["label_flip", "backdoor"])
def test_the_scenario_forgets_what_was_poisoned(scenario: str):
    given = poison(scenario, budget=8, seed=3)
    forget = select(scenario, given, labels=LABELS, ids=IDS, classes=4)
    assert (
        forget.tolist() == poisoned_ids(given, LABELS, IDS, 4).tolist() == sorted(forget.tolist())
    )
    assert forgotten_classes(scenario, LABELS[forget - 100]) == ()


@given(order=st.permutations(range(24)), scenario=st.sampled_from(["label_flip", "backdoor"]))
@settings(max_examples=20, deadline=None)
def test_the_order_of_samples_does_not_matter(order: list[int], scenario: str):
    got = poisoned_ids(poison(scenario, budget=9), LABELS[order], IDS[order], 4)
    assert got.tolist() == chosen(scenario, budget=9).tolist()


@given(
    small=st.integers(1, 23),
    large=st.integers(1, 23),
    seed=st.integers(0, 50),
    scenario=st.sampled_from(["label_flip", "backdoor"]),
)
@settings(max_examples=40, deadline=None)
def test_a_smaller_budget_is_part_of_a_larger_one(small: int, large: int, seed: int, scenario: str):
    small, large = sorted([small, large])
    part, whole = (
        set(chosen(scenario, budget=budget, seed=seed).tolist()) for budget in (small, large)
    )
    assert len(part) == small and part <= whole


def test_the_seed_decides():
    first, again, other = (chosen("backdoor", budget=8, seed=seed).tolist() for seed in (1, 1, 2))
    assert first == again != other


def test_golden_samples_of_the_digits():
    """If these move, so does every stored result: raise the cards' revisions."""
    labels = load_digits().target
    flips, patches = (
        poisoned_ids(poison(scenario, **given), labels, np.arange(len(labels)), 10)
        for scenario, given in (
            ("label_flip", {"budget": 20, "seed": 0}),
            ("backdoor", {"budget": 12, "target": 0, "size": 4, "seed": 0}),
        )
    )
    assert [forget_hash(flips), forget_hash(patches)] == ["1cbbd6961b7c4fcd", "e65ea474e4741ea4"]
    assert np.bincount(labels[flips]).tolist() == [2] * 10


# -- bad input


@pytest.mark.parametrize(
    ("scenario", "given", "sentence"),
    [
        (
            "label_flip",
            {"pairs": "0-4"},
            r"A pair names two classes from 0 to 3, but got 0-4. Take it out",
        ),
        (
            "label_flip",
            {"budget": 23, "pairs": "0-1"},
            "takes 12 samples of each of 2 classes, but class 0 has 6. Choose fewer",
        ),
        ("backdoor", {"budget": 1.0}, "at most 23 of 24 training samples, but got 1"),
        ("backdoor", {"target": 4}, "The target of a backdoor is a class from 0 to 3, but got 4"),
    ],
)
def test_what_the_data_rule_out_gets_a_sentence(scenario: str, given: dict, sentence: str):
    with pytest.raises(BadValue, match=sentence):
        chosen(scenario, **given)


def test_pairs_are_the_same_however_they_are_written():
    assert (
        poison("label_flip", pairs="8-1; 0-9, ")["pairs"]
        == poison("label_flip", pairs=["0-9", "1-8"])["pairs"]
        == ["0-9", "1-8"]
    )
    assert poison("label_flip", pairs="none")["pairs"] is None


def test_an_odd_number_of_classes_has_no_pairs_of_its_own():
    with pytest.raises(
        BadValue, match="an even number of classes, but there are 7. Name the pairs, such as 0-6"
    ):
        class_pairs(poison("label_flip"), 7)
    assert class_pairs(poison("label_flip", pairs="0-6"), 7) == [(0, 6)]


def test_a_card_is_enough_to_refuse_what_cannot_be():
    check_fits(poison("backdoor"), classes=10, shape=(1, 28, 28))
    check_fits(poison("label_flip", pairs="0-30"), classes=None, shape=None)
    with pytest.raises(BadValue, match="but got 0-30"):
        check_fits(poison("label_flip", pairs="0-30"), classes=10, shape=None)
    with pytest.raises(BadValue, match="but got 10"):
        check_fits(poison("backdoor", target=10), classes=10, shape=None)
    with pytest.raises(BadValue, match="8 by 8 pixels"):
        check_fits(poison("backdoor", size=8), classes=10, shape=(1, 8, 8))
