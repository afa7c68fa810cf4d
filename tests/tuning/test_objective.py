"""The objective of a search, by hand and beside the verdict."""

from statistics import fmean

import numpy as np
import pytest

from mucore.tuning import objective
from mucore.tuning.objective import MEASURED, Limit, limits, score
from mucore.verdicts import Line, Spread, rules_of
from mucore.verdicts.rules import decide


def on_seeds(**numbers):
    """Numbers of three seeds, as a study has them: one mapping a seed."""
    return [dict(zip(numbers, row, strict=True)) for row in zip(*numbers.values(), strict=True)]


def test_two_numbers_on_three_seeds():
    known = {"fa": Limit(0.02, 0.0), "ra": Limit(0.027, -1.0)}
    # fa 0.5 and ra 0.25; above Retrain ra is no loss, and fa counts both ways; ra 3
    gaps = on_seeds(fa=(0.01, -0.05, 0.0), ra=(-0.00675, 0.5, -0.081))
    scores = [score(each, known) for each in gaps]
    assert scores == pytest.approx([0.5, 2.5, 3.0]) and fmean(scores) == pytest.approx(2.0)


def test_margins_are_those_of_the_verdict():
    """One class, chance 0.1: a fifth of 10 points of forget accuracy, of the attack at most 5
    points, and 3 % of what Retrain has above chance.
    """
    before = on_seeds(ra=(1, 1, 1), va=(0.9, 0.9, 0.9), fa=(1, 1, 1), mia=(0, 0, 0))
    after = on_seeds(ra=(1, 1, 1), va=(0.9, 0.9, 0.9), fa=(0.9, 0.9, 0.9), mia=(0.4, 0.5, 0.6))
    found = limits("one_class", before, after, chance=0.1)
    assert {name: (round(each.margin, 12), each.side) for name, each in found.items()} == {
        "ra": (0.027, -1.0),
        "va": (0.024, -1.0),
        "fa": (0.02, 0.0),
        "mia": (0.05, 0.0),
    }
    # doing nothing: 10 points of 2 in forget accuracy, and 40, 50 and 60 of 5 by the attack
    gaps = on_seeds(ra=(0, 0, 0), va=(0, 0, 0), fa=(0.1, 0.1, 0.1), mia=(-0.4, -0.5, -0.6))
    assert [score(each, found) for each in gaps] == pytest.approx([8, 10, 12])


def test_of_poison_only_what_stops_short_is_a_fault():
    before = on_seeds(va=(0.9, 0.9, 0.9), fa=(1, 1, 1), fa_true=(0, 0, 0))
    after = on_seeds(va=(0.9, 0.9, 0.9), fa=(0.02, 0.02, 0.02), fa_true=(0.9, 0.9, 0.9))
    found = limits("backdoor", before, after, chance=0.1)
    assert found["fa"] == Limit(0.03, 1.0) and found["fa_true"] == Limit(0.03, -1.0)
    further = {"va": 0.01, "fa": -0.02, "fa_true": 0.05}
    assert score(further, found) == 0
    # right as often as Retrain, and the attacker has a tenth of the labels that he wanted
    assert score(further | {"fa": 0.12}, found) == pytest.approx(4)


def test_a_score_is_below_that_of_what_failed():
    assert score({"fa": -1.0}, {"fa": Limit(0.002, 0.0)}) == objective.CAP < objective.WORST


@pytest.mark.parametrize("scenario", ["one_class", "class_wise", "backdoor", "identities"])
def test_what_is_inside_on_average_forgot_by_the_verdict(scenario):
    rules, rng, inside = rules_of(scenario, chance=0.1), np.random.default_rng(0), 0
    names = [MEASURED.get(metric, metric) for metric in rules.metrics]
    for _ in range(200):
        retrain = rng.uniform(0.3, 0.9, (len(names), 1)) + rng.normal(0, 0.01, (len(names), 3))
        way = rng.choice([-1, 1], (len(names), 1)) * rng.uniform(0.03, 0.3, (len(names), 1))
        way[[name == "ra" for name in names]] = 0.1  # one that fits less well judges nothing
        original = retrain + way + rng.normal(0, 0.01, way.shape)
        gaps = rng.normal(0, 0.012, way.shape) + rng.normal(0, 0.004, retrain.shape)
        by_name = [
            on_seeds(**dict(zip(names, each, strict=True))) for each in (original, retrain, gaps)
        ]
        known = limits(scenario, by_name[0], by_name[1], chance=0.1)
        parts = (retrain + gaps, original, retrain)
        values, before, after = (
            {metric: row.tolist() for metric, row in zip(rules.metrics, each, strict=True)}
            for each in parts
        )
        line = Line(values=values, original=before, retrain=after)
        spreads = {metric: Spread.of(after[metric], samples=100) for metric in rules.metrics}
        word = decide(line, spreads, rules).word
        if fmean(score(each, known) for each in by_name[2]) <= 1:
            inside += 1
            assert word == "forgot"
    assert 20 < inside < 180


@pytest.mark.parametrize(
    ("scenario", "names"),
    [
        ("one_class", {"ra", "fa", "va", "mia"}),
        ("class_wise", {"ra", "va_forgotten", "va_remaining", "fa"}),
        ("backdoor", {"va", "fa", "fa_true"}),
        ("label_flip", {"va", "fa", "fa_true"}),
        ("identities", {"ra", "fa", "va", "mia_loss"}),
    ],
)
def test_terms_go_by_what_a_scenario_asks_for(scenario, names):
    assert {*objective.terms(scenario)} == names


def test_a_network_collapsed_if_it_gives_one_class_to_nearly_all_that_stays():
    # rows are true classes; class 2 is gone, and its samples go to class 0
    kept = np.array([[50, 0, 0], [0, 50, 0], [900, 0, 0]])
    assert objective.collapsed(kept, ()) and not objective.collapsed(kept, (2,))
    assert objective.collapsed(np.array([[50, 0, 0], [50, 0, 0], [0, 0, 900]]), (2,))
    # of two classes one stays: whoever gives it to everything is right
    assert not objective.collapsed(np.array([[50, 0], [50, 0]]), (1,))
    assert not objective.collapsed(np.zeros((2, 2)), ())
