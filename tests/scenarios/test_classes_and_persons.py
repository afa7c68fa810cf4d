"""Classes at random, classes near a downstream set, shares of a class, and persons: by hand, by
property, by mistake.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mucore import catalog
from mucore.errors import BadValue
from mucore.forget_sets.saved import forget_hash
from mucore.runner.grid import Grid, MethodChoice, ScenarioChoice, expand
from mucore.runs import make_recipe, make_spec, resolve
from mucore.scenarios.select import by_similarity, forgotten_classes, select

# Twenty samples with ids 50..69: five classes of four, ten persons of two images, each within a
# class.
LABELS = np.arange(20) // 4
IDS = np.arange(50, 70)
PERSONS = 100 + np.arange(20) // 2


def at(*degrees: float) -> np.ndarray:
    """Vectors of different lengths in these directions."""
    angles = np.radians(degrees)
    return (
        np.stack([np.cos(angles), np.sin(angles)], axis=1) * np.arange(1, len(degrees) + 1)[:, None]
    )


def chosen(scenario: str, *, order: Any = slice(None), **changes: Any) -> list[int]:
    arrays = {
        name: changes.pop(name, None) for name in ("elsewhere", "prototypes", "downstream_means")
    }
    parameters = resolve(catalog.scenario(scenario).parameters, changes, owner=scenario)
    return select(
        scenario,
        parameters,
        labels=LABELS[order],
        ids=IDS[order],
        classes=5,
        identities=PERSONS[order],
        elsewhere=arrays["elsewhere"],
        prototypes=arrays["prototypes"],
        downstream=arrays["downstream_means"],
    ).tolist()


def classes_of(ids: list[int]) -> list[int]:
    """The classes of forgotten ids, all of whose samples must be there."""
    classes = np.unique(LABELS[np.isin(IDS, ids)])
    assert sorted(ids) == IDS[np.isin(LABELS, classes)].tolist()
    return classes.tolist()


def persons_of(ids: list[int]) -> list[int]:
    """The persons of forgotten ids, all of whose images must be there."""
    persons = np.unique(PERSONS[np.isin(IDS, ids)])
    assert sorted(ids) == IDS[np.isin(PERSONS, persons)].tolist()
    return persons.tolist()


# -- classes


@given(n=st.integers(1, 4), seed=st.integers(0, 30))
@settings(max_examples=40, deadline=None)
def test_random_classes_takes_whole_classes_and_fewer_are_part_of_more(n: int, seed: int):
    drawn = classes_of(chosen("random_classes", n=n, seed=seed))
    assert len(drawn) == n
    assert set(drawn) <= set(classes_of(chosen("random_classes", n=4, seed=seed)))


def test_every_class_can_be_drawn():
    assert {classes_of(chosen("random_classes", seed=seed))[0] for seed in range(40)} == {
        0,
        1,
        2,
        3,
        4,
    }


def test_top_classes_by_hand():
    """Source classes at 12, 15, 130, 60 and 200 degrees, downstream classes at 10 and 90.

    The one at 10 picks class 0 (2 degrees away), the one at 90 picks class 3 (30 away). Class 1 is
    nearer to a downstream class (5) than class 3, but nobody's pick, so it comes third; then class
    2 (40) and class 4 (110).
    """
    means, downstream = at(12, 15, 130, 60, 200), at(10, 90)
    assert by_similarity(means, downstream).tolist() == [0, 3, 1, 2, 4]
    for n, wanted in ((1, [0]), (2, [0, 3]), (3, [0, 1, 3]), (4, [0, 1, 2, 3])):
        assert (
            classes_of(chosen("top_classes", n=n, prototypes=means, downstream_means=downstream))
            == wanted
        )


def test_top_classes_when_downstream_classes_agree_or_outnumber():
    """Two downstream classes with the same nearest class make one pick; of three picks and n = 2,
    the two most similar go.
    """
    assert by_similarity(at(0, 90, 40), at(5, 10)).tolist() == [0, 2, 1]
    assert by_similarity(at(0, 90, 180), at(20, 95, 190)).tolist() == [1, 2, 0]


def test_equal_similarity_goes_by_number_and_a_row_of_zeros_comes_last():
    assert by_similarity(
        np.array([[0.0, 0.0], [0, 2], [0, 1]]), np.array([[0.0, 3.0]])
    ).tolist() == [1, 2, 0]


@given(scale=st.floats(0.1, 100), order=st.permutations(range(3)))
@settings(max_examples=30, deadline=None)
def test_neither_the_length_of_features_nor_the_order_of_downstream_classes_matters(
    scale: float, order: list[int]
):
    means, downstream = at(10, 50, 95, 170, 260), at(22, 101, 247)
    assert (
        by_similarity(scale * means, downstream[order]).tolist()
        == by_similarity(means, downstream).tolist()
    )


def test_forgotten_classes_are_those_of_the_forgotten_samples():
    for scenario in ("random_classes", "top_classes"):
        assert forgotten_classes(scenario, np.array([4, 1, 4])) == (1, 4)
    assert forgotten_classes("class_fraction", np.array([4, 4])) == ()


@pytest.mark.parametrize(
    ("fraction", "count"), [(0.01, 1), (0.25, 1), (0.5, 2), (0.8, 3), (1.0, 4)]
)
def test_class_fraction_takes_that_share_of_the_class(fraction: float, count: int):
    got = chosen("class_fraction", class_id=2, fraction=fraction)
    assert len(got) == count and set(got) <= {58, 59, 60, 61}
    assert set(got) <= set(chosen("class_fraction", class_id=2, fraction=1.0))


# -- persons


@given(count=st.integers(1, 9), seed=st.integers(0, 30))
@settings(max_examples=40, deadline=None)
def test_identities_takes_all_images_of_each_person(count: int, seed: int):
    assert len(persons_of(chosen("identities", count=count, seed=seed))) == count


def test_named_persons_are_taken_instead_of_drawn_ones():
    assert chosen("identities", persons="109,100") == [50, 51, 68, 69]


def test_whoever_is_in_another_split_is_never_drawn():
    there = np.array([100, 101, 102, 103, 104, 105, 106, 107, 999])
    for seed in range(5):
        assert persons_of(chosen("identities", count=2, seed=seed, elsewhere=there)) == [108, 109]
        assert persons_of(chosen("competition", fraction=0.3, seed=seed, elsewhere=there)) == [
            108,
            109,
        ]


@pytest.mark.parametrize(
    ("fraction", "count"), [(0.02, 1), (0.1, 1), (0.14, 1), (0.16, 2), (0.5, 5), (0.9, 9)]
)
def test_competition_takes_the_persons_who_come_nearest_to_the_share(fraction: float, count: int):
    """Each person is a tenth of the images."""
    assert len(persons_of(chosen("competition", fraction=fraction))) == count


# -- on any machine


CHOICES = {
    "random_classes": {"n": 2, "seed": 3},
    "class_fraction": {"class_id": 1, "fraction": 0.5, "seed": 1},
    "identities": {"count": 3, "persons": None, "seed": 2},
    "competition": {"fraction": 0.3, "seed": 5},
}


@given(order=st.permutations(range(20)), scenario=st.sampled_from(sorted(CHOICES)))
@settings(max_examples=40, deadline=None)
def test_the_order_of_samples_does_not_matter(order: list[int], scenario: str):
    assert chosen(scenario, order=order, **CHOICES[scenario]) == chosen(
        scenario, **CHOICES[scenario]
    )


def test_golden_choices():
    """If these move, so does every stored result: raise the cards' revisions."""
    found = {name: forget_hash(chosen(name, **values)) for name, values in CHOICES.items()}
    assert found == {
        "random_classes": "521fb82b45d3edb1",
        "class_fraction": "1f993d17a3cf068f",
        "identities": "71e7af813ea4e8d6",
        "competition": "4ab8321f70e609a8",
    }


# -- mistakes


@pytest.mark.parametrize(
    ("scenario", "values", "sentence"),
    [
        ("random_classes", {"n": 5}, "from 1 to 4, so that one of 5 is left, but got 5"),
        ("top_classes", {}, "compares classes with a downstream set, but got no features"),
        (
            "identities",
            {"count": 11},
            "from 1 to the 10 who are in the training images alone, but got 11",
        ),
        (
            "identities",
            {"persons": [100, 7]},
            r"training images alone \(100 to 109\), but got \[100, 7\]",
        ),
        (
            "identities",
            {"persons": [101], "elsewhere": np.array([101])},
            r"training images alone \(100 to 109\), but got \[101\]",
        ),
        (
            "identities",
            {"elsewhere": np.arange(100, 110)},
            "but all 10 are in validation or test too. Split the data set by person",
        ),
        ("competition", {"fraction": 1.0}, "forgets all 20"),
    ],
)
def test_bad_parameters_get_a_sentence(scenario: str, values: dict, sentence: str):
    with pytest.raises(BadValue, match=sentence):
        chosen(scenario, **values)


@pytest.mark.parametrize(
    ("scenario", "values", "sentence"),
    [
        (
            "identities",
            {},
            (
                "forgets persons, but digits does not say who is on its images. Choose one with "
                "identities: .*npz"
            ),
        ),
        (
            "top_classes",
            {},
            "digits has no downstream set of its own. Name one with images of the same shape",
        ),
        (
            "top_classes",
            {"downstream": "cifar10"},
            r"the shape \(1, 8, 8\) of digits, but those of cifar10 have \(3, 32, 32\)",
        ),
        ("random_classes", {"n": 10}, "would forget 10 of the 10 classes of digits"),
    ],
)
def test_what_a_catalogued_data_set_cannot_serve_is_said_before_anything_runs(
    scenario: str, values: dict, sentence: str
):
    grid = Grid(
        dataset="digits",
        model="mlp",
        preset="quick",
        scenarios=[ScenarioChoice(id=scenario, parameters=values)],
        methods=[MethodChoice(id="finetune")],
    )
    with pytest.raises(BadValue, match=sentence):
        expand(grid)


# -- cards and specs


def test_methods_for_whole_classes_serve_every_class_wise_scenario_and_the_others_none():
    for card in catalog.scenarios():
        assert catalog.serves(catalog.method("gkt"), card.id) == card.class_wise
        assert catalog.serves(catalog.metric("tfa"), card.id) == card.class_wise
        if card.class_wise:
            assert not catalog.serves(catalog.method("scrub_rewind"), card.id)
    named = catalog.MethodCard(
        id="mine",
        title="",
        family="own",
        source="",
        summary="",
        reads=frozenset(),
        scenarios=frozenset({"class_wise"}),
        scenarios_reason="-",
    )
    assert catalog.serves(named, "random_classes") and not catalog.serves(named, "one_class")


def test_the_downstream_set_is_written_into_the_spec(monkeypatch):
    common: dict[str, Any] = {
        "dataset": "digits",
        "model": "mlp",
        "recipe": make_recipe("quick"),
        "scenario": "top_classes",
        "method": "gkt",
    }
    named = make_spec(**common, scenario_parameters={"downstream": "digits"})
    cards = tuple(
        replace(card, downstream=("digits", "cifar10")) if card.id == "digits" else card
        for card in catalog.datasets()
    )
    monkeypatch.setattr(catalog, "DATASETS", cards)
    assert (
        make_spec(**common).scenario_parameters
        == named.scenario_parameters
        == {"n": 1, "downstream": "digits"}
    )
    assert make_spec(**common).key == named.key
