"""The score of a search, by hand."""

import math

import numpy as np
import pytest

from mucore.errors import BadValue
from mucore.tuning import objective

UNITS = {"fa": 0.01, "ra": 0.002, "va": 0.01, "mia": 0.04}


def test_the_score_is_the_mean_gap_in_noise_units():
    gaps = {"fa": 0.03, "ra": -0.004, "va": 0.01, "mia": -0.08}
    assert objective.score(gaps, UNITS, tuple(UNITS)) == pytest.approx((3 + 2 + 1 + 2) / 4)


def test_a_term_counts_as_its_cap_at_most():
    far = {"fa": 1.0, "ra": 1.0, "va": 1.0, "mia": 1.0}
    # 100, 100 (500 units), 100 and 25 units
    assert objective.score(far, UNITS, tuple(UNITS)) == pytest.approx((3 * 100 + 25) / 4)
    assert objective.score(far, UNITS, tuple(UNITS)) < objective.WORST


def test_units_are_the_spread_of_a_difference_and_have_a_floor():
    retrains = [{"fa": value, "ra": 1.0} for value in (0.80, 0.82, 0.84)]
    found = objective.units(retrains)
    assert found == {"fa": pytest.approx(math.sqrt(2) * 0.02), "ra": objective.FLOOR}
    with pytest.raises(BadValue):
        objective.units(retrains[:1])


def test_a_retrain_of_another_seed_scores_about_eight_tenths():
    """E |N(0, 1)| = sqrt(2 / pi) where the units are known; with units of five Retrains a little
    more.
    """
    rng = np.random.default_rng(0)
    scores = []
    for _ in range(2000):
        numbers = rng.normal(0.8, 0.02, size=(12, 4))
        retrains = [dict(zip(UNITS, row, strict=True)) for row in numbers]
        unit = objective.units(retrains[:10])
        gaps = {name: retrains[10][name] - retrains[11][name] for name in UNITS}
        scores.append(objective.score(gaps, unit, tuple(UNITS)))
    assert np.mean(scores) == pytest.approx(math.sqrt(2 / math.pi), rel=0.15)


def test_what_went_less_than_a_tenth_of_the_way_stood_still():
    seen = {"original": 1.0, "retrain": 0.9, "unit": 0.01}
    assert objective.stood_still(0.995, **seen)
    assert not objective.stood_still(0.985, **seen)
    # original and Retrain less than two units apart: nobody can tell
    assert not objective.stood_still(1.0, **seen | {"unit": 0.06})


def test_standing_still_never_beats_what_moved_and_is_no_worse_than_the_original():
    original = 12.0
    assert objective.penalised(3.0, original=original) == 13.0
    assert objective.penalised(14.0, original=original) == 15.0


@pytest.mark.parametrize(
    ("scenario", "names"),
    [
        ("one_class", {"ra", "fa", "va", "mia"}),
        ("class_wise", {"ra", "va_forgotten", "va_remaining", "mia"}),
        ("backdoor", {"ra", "va", "fa", "fa_true", "va_poisoned"}),
        ("label_flip", {"ra", "va", "fa", "fa_true", "va_poisoned"}),
        ("identities", {"ra", "fa", "va", "mia_loss"}),
    ],
)
def test_terms_go_by_what_a_scenario_asks_for(scenario, names):
    assert {*objective.terms(scenario)} == names <= objective.NUMBERS.keys()
    assert objective.telling(scenario) in objective.NUMBERS


@pytest.mark.parametrize("scenario", ["backdoor", "label_flip"])
def test_labels_that_are_wrong_as_the_attacker_wants_are_far_from_retrain(scenario):
    names = objective.terms(scenario)
    unit, alike = dict.fromkeys(names, 0.002), dict.fromkeys(names, 0.0)
    # right as often as Retrain, and the attacker has a tenth of the labels that he wanted
    attacked = alike | {"fa": 0.1}
    assert objective.score(alike, unit, names) == 0
    assert objective.score(attacked, unit, names) == pytest.approx(50 / len(names))
    assert objective.revision(scenario) > objective.revision("one_class")


def test_a_network_collapsed_if_it_gives_one_class_to_nearly_all_that_stays():
    # rows are true classes; class 2 is gone, and its samples go to class 0
    kept = np.array([[50, 0, 0], [0, 50, 0], [900, 0, 0]])
    assert objective.collapsed(kept, ()) and not objective.collapsed(kept, (2,))
    assert objective.collapsed(np.array([[50, 0, 0], [50, 0, 0], [0, 0, 900]]), (2,))
    # of two classes one stays: whoever gives it to everything is right
    assert not objective.collapsed(np.array([[50, 0], [50, 0]]), (1,))
    assert not objective.collapsed(np.zeros((2, 2)), ())
