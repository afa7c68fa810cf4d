"""The rule by hand-derived numbers: forget accuracy 1.00 of the original and 0.90 of Retrain, five
Retrains that vary by 0.01.

b = t(0.975, 4) · √2 · 0.01 = 2.7764 · 1.41421 · 0.01 = 0.03926. D = 0.10 > 2b = 0.0785, so it can
be resolved, and τ = max(b, D/10) = b.
"""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from facts import tells

from mucore.verdicts import WORDS, Band, Line, Rules, rules_of, seed_band, verdict
from mucore.verdicts.rule import PROBE

BAND = 2.7764451 * math.sqrt(2) * 0.01
RULES = Rules(forgetting=("fa", "mia_confidence"), utility=("ra", "ta"), chance=0.1)
BANDS = {
    "fa": Band(half=BAND, seeds=5),
    "ra": Band(half=0.002, seeds=5),
    "ta": Band(half=0.002, seeds=5),
}
RETRAIN = {"fa": 0.90, "ra": 1.0, "ta": 0.93}


def line(
    seeds: int = 5,
    *,
    original: float = 1.0,
    retrain: dict[str, float] | None = None,
    **values: float,
) -> Line:
    """The same numbers for each seed; what is not named is Retrain's."""
    reference = {**RETRAIN, **(retrain or {})}
    mine = {**reference, **values}
    return Line(
        values={name: [value] * seeds for name, value in mine.items()},
        original={name: [value] * seeds for name, value in {**reference, "fa": original}.items()},
        retrain={name: [value] * seeds for name, value in reference.items()},
    )


def test_the_band_of_five_retrains_is_students_interval_of_a_difference():
    values = [
        0.90 + 0.01 * z
        for z in (
            -1.2649110640673518,
            -0.6324555320336759,
            0.0,
            0.6324555320336759,
            1.2649110640673518,
        )
    ]
    # their sample standard deviation is 0.01
    assert seed_band(values, value=0.9, samples=1).half == pytest.approx(BAND, rel=1e-6)


@pytest.mark.parametrize(("m", "factor"), [(3, 6.08), (5, 3.93), (10, 3.20)])
def test_the_factor_of_the_spread(m: int, factor: float):
    values = [0.0, 1.0, *([0.5] * (m - 2))]  # s² = 2 · 0.25 / (m − 1)
    assert seed_band(values, value=0.5, samples=1).half / math.sqrt(0.5 / (m - 1)) == pytest.approx(
        factor, abs=0.01
    )


def test_one_retrain_leaves_the_binomial_band_and_a_provisional_word():
    band = seed_band([0.9], value=0.9, samples=1000)
    assert band.half == pytest.approx(1.96 * math.sqrt(2 * 0.9 * 0.1 / 1000))
    assert round(band.half, 4) == 0.0263
    found = verdict(line(1, fa=0.995), {**BANDS, "fa": band}, RULES)
    assert (found.word, found.provisional) == ("did nothing", True)


def test_what_never_decides_makes_no_word_provisional():
    made = line(fa=0.92, linear_probe=0.9)
    found = verdict(made, {**BANDS, PROBE: Band(half=0.01, seeds=2)}, RULES)
    assert (found.word, found.retrains, found.provisional) == ("forgot", 5, False)


def test_a_band_is_never_narrower_than_two_tenths_of_a_point():
    assert seed_band([1.0, 1.0, 1.0], value=1.0, samples=10**9).half == 0.002
    assert seed_band([1.0], value=1.0, samples=10**9).half == 0.002


@pytest.mark.parametrize(
    ("fa", "word"),
    [
        (0.995, "did nothing"),
        (0.97, "too little"),
        (0.92, "forgot"),
        (0.80, "too much"),
        (1.0, "did nothing"),
        (0.9, "forgot"),
    ],
)
def test_words_by_forget_accuracy(fa: float, word: str):
    found = verdict(line(fa=fa), BANDS, RULES)
    assert (found.word, found.metric, found.provisional) == (word, "fa", False)
    assert found.qualified == (word == "forgot")
    assert (found.retrains, found.seeds, found.agreeing) == (5, 5, 5)


def test_lost_accuracy_is_damage_whatever_was_forgotten():
    # ω = max(0.002, 0.03 · (0.93 − 0.1)) = 0.0249 < 0.08
    found = verdict(line(fa=0.92, ta=0.85), BANDS, RULES)
    assert (found.word, found.metric) == ("damaged", "ta")
    assert "forgot" in found.sentence
    assert verdict(line(fa=0.92, ta=0.91), BANDS, RULES).word == "forgot"  # 0.02 < 0.0249


def test_collapse_is_damage():
    assert verdict(replace(line(fa=0.92), collapsed=True), BANDS, RULES).word == "damaged"


def test_an_original_that_poison_made_worse_than_retrain_did_nothing():
    """It is below Retrain by more than ω, but no method did that; a network worse than the original
    was damaged.
    """
    start = line(fa=1.0, ta=0.80)
    start = replace(start, original={**start.original, "ta": [0.80] * 5})
    assert verdict(start, BANDS, RULES).word == "did nothing"
    assert (
        verdict(replace(start, values={**start.values, "ta": [0.75] * 5}), BANDS, RULES).word
        == "damaged"
    )
    # what forgot some and is as useful as the original is said to be so
    some = replace(start, values={**start.values, "fa": [0.95] * 5})
    assert tells(verdict(some, BANDS, RULES).sentence, "13.0", "93.0 %", "80.0 %")
    worse = replace(some, values={**some.values, "ta": [0.75] * 5})
    assert not tells(verdict(worse, BANDS, RULES).sentence, "80.0 %")


def test_nothing_to_forget_and_cannot_tell():
    # D = 0.03 ≤ b
    assert verdict(line(original=0.93, fa=0.93), BANDS, RULES).word == "nothing to forget"
    # b < D = 0.06 ≤ 2b
    assert verdict(line(original=0.96, fa=0.96), BANDS, RULES).word == "cannot tell"
    # D = 0: no division
    assert verdict(line(original=0.90, fa=0.90), BANDS, RULES).word == "nothing to forget"


def test_without_references_or_numbers_nothing_can_be_told():
    whole = line(fa=0.92)
    for broken in (
        replace(whole, retrain={}),
        replace(whole, original={}),
        replace(whole, values={**whole.values, "fa": [math.nan] * 5}),
        replace(whole, values={**whole.values, "ra": [math.inf] * 5, "ta": [math.nan] * 5}),
    ):
        found = verdict(broken, BANDS, RULES)
        assert found.word == "cannot tell" and found.sentence


def test_a_number_that_some_seeds_lack_leaves_no_word():
    whole = line(fa=0.92)
    for name in ("fa", "ta"):
        some = {**whole.values, name: [*whole.values[name][:-1], math.nan]}
        found = verdict(replace(whole, values=some), BANDS, RULES)
        assert found.word == "cannot tell" and tells(found.sentence, "1", "5")
    # what only Original or Retrain lacks is left out, and so is an attack that only guesses
    bands = {**BANDS, "mia_confidence": Band(half=0.02, seeds=5)}
    attacked = {**whole.values, "mia_confidence": [0.5, 0.5, 0.5, 0.5, math.nan]}
    known = {**whole.original, "mia_confidence": [0.5] * 5}
    both = replace(whole, values=attacked, original=known)
    assert verdict(both, bands, RULES).word == "forgot"
    both = replace(both, retrain={**whole.retrain, "mia_confidence": [0.5] * 5})
    assert verdict(both, bands, RULES).word == "cannot tell"
    assert verdict(replace(both, blind=True), bands, RULES).word == "forgot"


def test_what_moved_where_nothing_was_to_forget_is_said():
    # Original and Retrain agree; 0.14 is 3.6 bands away, 0.05 is one
    still, astray = (
        verdict(line(original=0.90, fa=fa), BANDS, RULES).sentence for fa in (0.85, 0.76)
    )
    assert tells(astray, "76.0 %") and not tells(still, "85.0 %")
    assert verdict(line(original=0.90, fa=0.76), BANDS, RULES).word == "nothing to forget"


def test_membership_counts_unless_its_attack_is_blind():
    bands = {**BANDS, "mia_confidence": Band(half=0.02, seeds=5)}
    told = line(fa=0.90, mia_confidence=0.05)
    told = replace(
        told,
        original={**told.original, "mia_confidence": [0.05] * 5},
        retrain={**told.retrain, "mia_confidence": [0.25] * 5},
    )
    found = verdict(told, bands, RULES)
    # excess 0.20, τ = 0.02: ten tolerances
    assert (found.word, found.metric) == ("too little", "mia_confidence")
    assert verdict(replace(told, blind=True), bands, RULES).word == "forgot"
    mixed = verdict(replace(told, values={**told.values, "fa": [0.80] * 5}), bands, RULES)
    assert mixed.word == "too little" and "too much" in mixed.sentence


@pytest.mark.parametrize(("fa", "provisional"), [(0.92, False), (0.96, True)])
def test_what_too_few_retrains_cannot_place_leaves_forgot_provisional(fa: float, provisional: bool):
    # D = 0.07 < 2b in forget accuracy, so that membership alone decides; 0.96 is 1.5 b short
    seen = line(original=0.97, fa=fa, mia_confidence=0.5)
    seen = replace(
        seen,
        original={**seen.original, "mia_confidence": [0.1] * 5},
        retrain={**seen.retrain, "mia_confidence": [0.5] * 5},
    )
    bands = {**BANDS, "mia_confidence": Band(half=0.05, seeds=5)}
    found = verdict(seen, bands, RULES)
    assert (found.word, found.metric, found.provisional) == (
        "forgot",
        "mia_confidence",
        provisional,
    )
    assert tells(found.sentence, "96.0 %", "90.0 %") == provisional


def test_features_that_still_know_the_class_are_told():
    rules = rules_of("class_wise", chance=0.1)
    bands = {name: Band(half=0.002, seeds=5) for name in ("fa", "tfa", "ra", "tra")} | {
        "linear_probe": Band(half=0.05, seeds=5)
    }
    numbers = {
        "fa": (0.0, 1.0, 0.0),
        "tfa": (0.0, 0.85, 0.0),
        "ra": (1.0, 1.0, 1.0),
        "tra": (0.9, 0.9, 0.9),
        "linear_probe": (0.8, 0.85, 0.6),
    }
    values, original, retrain = (
        {name: [each[place]] * 5 for name, each in numbers.items()} for place in range(3)
    )
    found = verdict(Line(values=values, original=original, retrain=retrain), bands, rules)
    assert found.word == "forgot" and "80.0 %" in found.sentence  # excess 0.2 > τ = 0.05
    agreed = verdict(
        Line(values={**values, "linear_probe": [0.62] * 5}, original=original, retrain=retrain),
        bands,
        rules,
    )
    assert agreed.word == "forgot" and "80.0 %" not in agreed.sentence
    assert (found.features, found.said) == ("still know it", "forgot on outputs")
    assert (agreed.features, agreed.said) == ("agree", "forgot")
    assert found.qualified and agreed.qualified  # the caveat is no other word


@pytest.mark.parametrize(
    ("value", "retrain", "features"),
    [
        (1.0, 0.3, "still know it"),  # where the original is: nothing moved
        (0.94, 0.3, "still know it"),  # 0.06 of 0.7: less than a tenth of Retrain's way
        (0.92, 0.3, ""),  # 0.08 of 0.7: more
        (1.0, 0.9985, ""),  # Retrain's features hardly moved either
    ],
)
def test_features_that_did_not_move_still_know_what_they_knew(value, retrain, features):
    """A probe often finds a class in features that have never seen it, so it cannot tell."""
    told = line(fa=0.90, cka_original_forget=value)
    told = replace(
        told,
        original={**told.original, "cka_original_forget": [1.0] * 5},
        retrain={**told.retrain, "cka_original_forget": [retrain] * 5},
    )
    found = verdict(told, BANDS, RULES)
    assert (found.word, found.features) == ("forgot", features)


def test_a_probe_that_finds_less_than_in_retrains_features_accuses_nobody():
    """All Retrains at 0.975 of 40 samples: a band of 0.002, and an original below them."""
    told = line(fa=0.90, linear_probe=0.97)
    told = replace(
        told,
        original={**told.original, "linear_probe": [0.97] * 5},
        retrain={**told.retrain, "linear_probe": [0.975] * 5},
    )
    found = verdict(told, {**BANDS, "linear_probe": Band(half=0.002, seeds=5)}, RULES)
    assert (found.word, found.features) == ("forgot", "agree")


def test_what_cheats_is_never_qualified():
    found = verdict(replace(line(fa=0.90), cheats=True), BANDS, RULES)
    assert (found.word, found.qualified) == ("forgot", False)


def test_to_follow_an_attacker_less_than_retrain_is_no_fault_unless_true_labels_fall_short():
    rules = rules_of("label_flip", chance=0.1)
    bands = {name: Band(half=0.01, seeds=5) for name in ("fa", "fa_true", "ta")}
    numbers = {"fa": (0.0, 0.9, 0.2), "fa_true": (0.8, 0.05, 0.8), "ta": (0.9, 0.8, 0.9)}

    def said(**values: float) -> str:
        mine, original, retrain = (
            {name: [each[place]] * 5 for name, each in numbers.items()} for place in range(3)
        )
        return verdict(
            Line(
                values={**mine, **{k: [v] * 5 for k, v in values.items()}},
                original=original,
                retrain=retrain,
            ),
            bands,
            rules,
        ).word

    assert said() == "forgot"  # fa is 0.2 below Retrain's
    assert said(fa_true=0.9) == "forgot"  # healed better than Retrain
    assert said(fa=0.2, fa_true=0.6) == "too little"
    assert said(fa=0.8, fa_true=0.8) == "too little"


def test_an_interval_over_seeds_that_crosses_a_border_makes_the_word_provisional():
    steady = line(5, fa=0.92)
    found = verdict(
        replace(steady, values={**steady.values, "fa": [0.92, 0.92, 0.92, 0.95, 0.89]}),
        BANDS,
        RULES,
    )
    # mean gap 0.02, s = √(2 · 0.03² / 4) = 0.0212, half width 2.776 · 0.0212/√5 = 0.0263: up to
    # 0.0463 > τ = 0.0393
    assert (found.word, found.other, found.provisional, found.agreeing) == (
        "forgot",
        "too little",
        True,
        4,
    )
    assert not verdict(steady, BANDS, RULES).provisional


def test_one_seed_under_many_retrains_is_provisional_too():
    assert verdict(line(1, fa=0.92), BANDS, RULES).provisional


def test_content_is_what_json_has():
    content = verdict(line(fa=0.92), BANDS, RULES).content()
    assert list(content) == ["word", "sentence", "metric", "provisional"]
    assert content["word"] in WORDS
