"""The rule by hand-derived numbers, by a second implementation, and by what it promises.

The hand's numbers: forget accuracy 1.00 of the original and 0.90 of Retrain, so the margin is a
fifth of 0.10, 0.02; utility 0.93 at a chance of 0.1, so its margin is 0.03 · 0.83 = 0.0249.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from facts import tells
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from mucore.verdicts import Line, Rules, Spread, rules_of, verdict
from mucore.verdicts.rules import decide

RULES = Rules(forgetting=("fa", "mia_confidence"), utility=("ra", "ta"), chance=0.1)
STEADY = Spread(deviation=0.001, seeds=10)
SPREADS = dict.fromkeys(("fa", "ra", "ta", "mia_confidence", "linear_probe"), STEADY)
RETRAIN = {"fa": 0.90, "ra": 1.0, "ta": 0.93}


def line(seeds: int = 5, *, original: float = 1.0, **values: float) -> Line:
    """The same numbers for each seed; what is not named is Retrain's."""
    return Line(
        values={name: [value] * seeds for name, value in {**RETRAIN, **values}.items()},
        original={name: [value] * seeds for name, value in {**RETRAIN, "fa": original}.items()},
        retrain={name: [value] * seeds for name, value in RETRAIN.items()},
    )


def scattered(values: list[float], **others: float) -> Line:
    """Seeds whose forget accuracies are `values`."""
    made = line(len(values), **others)
    return replace(made, values={**made.values, "fa": values})


def test_the_spread_of_retrains_is_students_or_the_samples():
    five = [0.9 + 0.01 * math.sqrt(0.4) * z for z in (-2, -1, 0, 1, 2)]  # s = 0.01
    spread = Spread.of(five, samples=1000)
    assert spread.deviation == pytest.approx(0.01)
    assert spread.band == pytest.approx(2.7764451 * math.sqrt(2) * 0.01, rel=1e-6)
    # 90 % of one seed by five Retrains: t(0.95, 4) = 2.1318, √(1 + 1/1)
    assert spread.chance([0.0]).half == pytest.approx(2.1318468 * math.sqrt(2) * 0.01, rel=1e-6)
    # three seeds speak for themselves: t(0.95, 2) = 2.9200, s = 0.01
    assert spread.chance([0.0, 0.01, 0.02]).half == pytest.approx(2.9199856 * 0.01 / math.sqrt(3))
    alone = Spread.of([0.9], samples=1000)
    assert alone.band == pytest.approx(1.959964 * math.sqrt(2 * 0.09 / 1000), rel=1e-4)
    assert alone.chance([0.0]).half == pytest.approx(1.6448536 * math.sqrt(2 * 0.09 / 1000))
    assert Spread.of([1.0] * 3, samples=10**9).band == 0.002


@pytest.mark.parametrize(
    ("fa", "word"),
    [
        (1.0, "did nothing"),
        (0.991, "did nothing"),  # 0.009 of 0.10
        (0.989, "too little"),
        (0.921, "too little"),
        (0.919, "forgot"),
        (0.9, "forgot"),
        (0.881, "forgot"),
        (0.879, "too much"),
    ],
)
def test_words_by_forget_accuracy(fa: float, word: str):
    found = verdict(line(fa=fa), SPREADS, RULES)
    assert (found.word, found.metric, found.shown) == (word, "fa", True)
    assert (found.seeds, found.retrains, found.qualified) == (5, 10, word == "forgot")


def test_margins_are_a_fifth_of_the_way_within_bounds():
    def margin(original: float, metric: str = "fa") -> float:
        retrain = RETRAIN | {"mia_confidence": 0.9}
        made = Line(
            values={name: [value] * 5 for name, value in retrain.items()},
            original={name: [value] * 5 for name, value in (retrain | {metric: original}).items()},
            retrain={name: [value] * 5 for name, value in retrain.items()},
        )
        checks = {each.metric: each for each in decide(made, SPREADS, RULES).checks}
        return checks[metric].margin

    assert margin(1.0) == pytest.approx(0.02)
    assert margin(0.0) == 0.03 and margin(0.0, "mia_confidence") == 0.05
    assert margin(0.901) == 0.002


def test_seventy_percent_of_the_way_is_never_forgot():
    for way in (0.1, 0.5, 1.0):  # of a point and more
        found = verdict(line(original=0.9 + 0.1 * way, fa=0.9 + 0.03 * way), SPREADS, RULES)
        assert (found.word, found.shown) == ("too little", True)


def test_what_the_interval_crosses_is_an_indication_with_the_seeds_that_decide():
    found = verdict(scattered([0.90, 0.91, 0.92, 0.90, 0.92]), SPREADS, RULES)
    # mean gap 0.01, s = 0.01, half = 2.1318 · 0.01 / √5 = 0.0095 < 0.02 − 0.01: shown
    assert (found.word, found.shown) == ("forgot", True)
    found = verdict(scattered([0.90, 0.91, 0.94, 0.90, 0.92]), SPREADS, RULES)
    # mean 0.014, s = 0.016733; half = 0.01595 > 0.006: t(0.95, n − 1) · s / √n < 0.006 from 23 on
    s = 0.016733
    needed = next(n for n in range(3, 50) if stats.t.ppf(0.95, n - 1) * s / math.sqrt(n) < 0.006)
    assert (found.word, found.shown, found.needed) == ("forgot", False, needed)
    assert found.provisional and found.qualified and tells(found.sentence, str(needed))
    wide = verdict(scattered([0.80, 1.0, 0.9, 0.82, 0.97]), SPREADS, RULES)
    assert (wide.shown, wide.needed) == (False, None) and tells(wide.sentence, "50")


def test_lost_accuracy_is_damage_whatever_was_forgotten():
    assert verdict(line(ta=0.904), SPREADS, RULES).word == "damaged"  # 0.026 > 0.0249
    assert verdict(line(ta=0.906), SPREADS, RULES).word == "forgot"
    lost = line(ta=0.85)
    shaky = replace(lost, values={**lost.values, "ta": [0.75, 0.93, 0.93, 0.86, 0.93]})
    found = verdict(shaky, SPREADS, RULES)
    assert (found.word, found.metric, found.shown) == ("damaged", "ta", False)
    collapsed = verdict(replace(line(), collapsed=True), SPREADS, RULES)
    assert (collapsed.word, collapsed.shown) == ("damaged", True)


def test_an_original_that_poison_made_worse_than_retrain_did_nothing():
    start = line(fa=1.0, ta=0.80)
    start = replace(start, original={**start.original, "ta": [0.80] * 5})
    assert verdict(start, SPREADS, RULES).word == "did nothing"
    worse = replace(start, values={**start.values, "ta": [0.75] * 5})
    assert verdict(worse, SPREADS, RULES).word == "damaged"


def test_nothing_to_forget_where_the_interval_of_the_way_holds_zero():
    assert verdict(line(original=0.9), SPREADS, RULES).word == "nothing to forget"
    near = scattered([0.9] * 5, original=0.91)
    assert verdict(near, SPREADS, RULES).word == "forgot"
    # mean 0.01, s = 0.0158, half = 2.1318 · 0.0158 / √5 = 0.0151
    shaky = replace(near, original={**near.original, "fa": [0.93, 0.9, 0.92, 0.89, 0.91]})
    found = verdict(shaky, SPREADS, RULES)
    assert (found.word, found.metric, found.shown) == ("nothing to forget", "", False)
    assert tells(found.sentence, "91.0 %", "90.0 %") and not found.provisional


def test_without_references_or_numbers_nothing_can_be_told():
    whole = line()
    for broken in (
        replace(whole, retrain={}),
        replace(whole, original={}),
        replace(whole, values={**whole.values, "fa": [math.nan] * 5}),
        replace(whole, values={**whole.values, "ta": [*whole.values["ta"][:-1], math.nan]}),
        replace(whole, values={**whole.values, "ra": [math.inf] * 5, "ta": [math.nan] * 5}),
    ):
        found = verdict(broken, SPREADS, RULES)
        assert (found.word, found.shown, found.provisional) == ("cannot tell", False, False)
        assert found.sentence


def test_an_original_ten_points_below_retrain_on_its_own_data_judges_nothing():
    for fit, word in ((0.91, "forgot"), (0.89, "cannot tell")):
        made = line(fa=0.9)
        made = replace(made, original={**made.original, "ra": [fit] * 5})
        assert verdict(made, SPREADS, RULES).word == word
    assert tells(verdict(made, SPREADS, RULES).sentence, "89.0 %", "100.0 %", "preprocess")


def test_membership_counts_unless_its_attack_is_blind():
    told = line(mia_confidence=0.05)
    told = replace(
        told,
        original={**told.original, "mia_confidence": [0.05] * 5},
        retrain={**told.retrain, "mia_confidence": [0.25] * 5},
    )
    found = verdict(
        replace(told, values={**told.values, "mia_confidence": [0.1] * 5}), SPREADS, RULES
    )
    assert (found.word, found.metric) == ("too little", "mia_confidence")  # 0.15 > 0.2 · 0.20
    assert verdict(replace(told, blind=True), SPREADS, RULES).word == "forgot"
    # an attack that fails on one seed leaves no word, unless it only guesses
    some = replace(told, values={**told.values, "mia_confidence": [0.2] * 4 + [math.nan]})
    assert verdict(some, SPREADS, RULES).word == "cannot tell"
    assert verdict(replace(some, blind=True), SPREADS, RULES).word == "forgot"


@pytest.mark.parametrize(
    ("value", "word"), [(0.54, "forgot"), (0.56, "too much"), (0.4, "too much")]
)
def test_where_original_and_retrain_agree_in_one_metric_it_may_not_leave_them(value, word):
    # by more than the widest margin of an attack
    both = line(mia_confidence=value)
    known = {"mia_confidence": [0.5] * 5}
    both = replace(both, original={**both.original, **known}, retrain={**both.retrain, **known})
    found = verdict(both, SPREADS, RULES)
    assert (found.word, found.metric, found.shown) == (word, "mia_confidence", True)


def test_features_that_still_know_the_class_are_told():
    rules = rules_of("class_wise", chance=0.1)
    numbers = {  # method, original, Retrain
        "fa": (0.0, 1.0, 0.0),
        "tfa": (0.0, 0.85, 0.0),
        "ra": (1.0, 1.0, 1.0),
        "tra": (0.9, 0.9, 0.9),
        "linear_probe": (0.8, 0.85, 0.6),
    }
    spreads = dict.fromkeys(numbers, Spread(deviation=0.01, seeds=5))
    parts = [{name: [each[k]] * 5 for name, each in numbers.items()} for k in range(3)]

    def found(probe: float):
        mine = {**parts[0], "linear_probe": [probe] * 5}
        return verdict(Line(values=mine, original=parts[1], retrain=parts[2]), spreads, rules)

    assert (found(0.8).said, found(0.8).qualified) == ("forgot on outputs", True)
    assert (found(0.62).said, found(0.62).features) == ("forgot", "agree")
    assert found(0.3).features == "agree"  # a probe that finds less than in Retrain's


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
    told = line(cka_original_forget=value)
    told = replace(
        told,
        original={**told.original, "cka_original_forget": [1.0] * 5},
        retrain={**told.retrain, "cka_original_forget": [retrain] * 5},
    )
    assert verdict(told, SPREADS, RULES).features == features


def test_what_cheats_is_never_qualified():
    found = verdict(replace(line(), cheats=True), SPREADS, RULES)
    assert (found.word, found.qualified) == ("forgot", False)


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"fa": 0.0, "fa_true": 0.8}, "forgot"),  # fa is 0.2 below Retrain's
        ({"fa": 0.0, "fa_true": 0.9}, "forgot"),  # healed better than Retrain
        ({"fa": 0.2, "fa_true": 0.6}, "too little"),
        ({"fa": 0.0, "fa_true": 0.7}, "too little"),  # 7 margins beyond, 3 short
        ({"fa": 0.8, "fa_true": 0.8}, "too little"),
    ],
)
def test_to_follow_an_attacker_less_than_retrain_is_no_fault(values, word):
    numbers = {"fa": (0.9, 0.2), "fa_true": (0.05, 0.8), "ta": (0.8, 0.9)}
    original, retrain = ({name: [each[k]] * 5 for name, each in numbers.items()} for k in range(2))
    mine = {"ta": [0.9] * 5} | {name: [value] * 5 for name, value in values.items()}
    spreads = dict.fromkeys(numbers, STEADY)
    found = verdict(
        Line(values=mine, original=original, retrain=retrain),
        spreads,
        rules_of("label_flip", chance=0.1),
    )
    assert (found.word, found.shown) == (word, True)


shares = st.floats(0.0, 1.0).map(lambda share: round(share, 3))


@given(
    st.integers(1, 6).flatmap(lambda n: st.tuples(*[st.lists(shares, min_size=n, max_size=n)] * 6)),
    st.lists(shares, min_size=1, max_size=5),
)
@example(([0.871, 0.078], [0.0, 0.0], [0.547, 0.316], *[[0.0, 0.0]] * 3), [0.016])
def test_a_second_implementation_gives_the_same_word(numbers, retrains):
    """By scipy's intervals and the text of the rule, for forget and retain accuracy."""
    fa, fa_original, fa_retrain, ra, ra_original, ra_retrain = map(np.array, numbers)
    spreads = {name: Spread.of(retrains, samples=500) for name in ("fa", "ra")}
    made = Line(
        values={"fa": fa, "ra": ra},
        original={"fa": fa_original, "ra": ra_original},
        retrain={"fa": fa_retrain, "ra": ra_retrain},
    )
    found = decide(made, spreads, Rules(forgetting=("fa",), utility=("ra",), chance=0.1))

    def half(d):
        n, m = len(d), len(retrains)
        if n >= 3:
            return stats.sem(d) * stats.t.ppf(0.95, n - 1)
        if m >= 3:
            return np.std(retrains, ddof=1) * math.sqrt(1 + 1 / n) * stats.t.ppf(0.95, m - 1)
        p = np.clip(np.mean(retrains), 1 / 1000, 1 - 1 / 1000)
        return stats.norm.ppf(0.95) * math.sqrt((1 + 1 / n) * p * (1 - p) / 500)

    way, d, moved, lost = (
        fa_original - fa_retrain,
        fa - fa_retrain,
        fa - fa_original,
        ra_retrain - ra,
    )
    margin = min(max(0.2 * abs(way.mean()), 0.002), 0.03)
    allowed = max(0.03 * (ra_retrain.mean() - 0.1), 0.002)
    told = abs(way.mean()) > half(way)
    still = told and abs(moved.mean()) < 0.1 * abs(way.mean())
    kept = (ra_original - ra).mean() <= allowed
    excess = d.mean() * (1 if way.mean() >= 0 else -1)
    unfit = (ra_retrain - ra_original).mean()
    borders = [margin, -margin, allowed, 0.1 * abs(way.mean()), 0.1]
    near = np.abs(np.array([excess, excess, lost.mean(), abs(moved.mean()), unfit]) - borders).min()
    if near < 1e-9 or abs(abs(way.mean()) - half(way)) < 1e-9:
        return  # the last bit decides
    if unfit > 0.1:
        word, shown = "cannot tell", False
    elif lost.mean() > allowed and not (still and kept):
        word, shown = "damaged", lost.mean() - half(lost) > allowed
    elif not told:
        word, shown = "nothing to forget", False
    elif still:
        word, shown = "did nothing", abs(moved.mean()) + half(moved) < 0.1 * abs(way.mean())
    elif excess > margin:
        word, shown = "too little", excess - half(d) > margin
    elif excess < -margin:
        word, shown = "too much", excess + half(d) < -margin
    else:
        inside = abs(excess) + half(d) < margin and lost.mean() + half(lost) < allowed
        word, shown = "forgot", inside
    assert (found.word, found.shown) == (word, shown)


@given(st.lists(shares, min_size=3, max_size=6), st.floats(0.05, 0.5))
def test_a_copy_of_the_original_is_shown_to_have_done_nothing(retrained, way):
    n = len(retrained)
    low = [0.5 * share for share in retrained]
    original = [share + way for share in low]
    made = Line(
        values={"fa": original, "ta": [0.9] * n},
        original={"fa": original, "ta": [0.9] * n},
        retrain={"fa": low, "ta": [0.9] * n},
    )
    rules = Rules(forgetting=("fa",), utility=("ta",))
    found = verdict(made, {name: Spread.of(low, samples=100) for name in ("fa", "ta")}, rules)
    assert (found.word, found.shown) == ("did nothing", True)


@pytest.mark.parametrize("n", [3, 5, 12])
def test_more_seeds_of_the_same_spread_keep_a_shown_word_shown(n):
    for way in (0.0, 0.01, 0.05):
        pattern = np.resize([-0.004, 0.004], n) * math.sqrt((n - 1) / n)
        few = verdict(scattered([*(0.9 + way + pattern)]), SPREADS, RULES)
        pattern = np.resize([-0.004, 0.004], 4 * n) * math.sqrt((4 * n - 1) / (4 * n))
        many = verdict(scattered([*(0.9 + way + pattern)]), SPREADS, RULES)
        if few.shown and n % 2 == 0:  # an odd pattern has another mean
            assert (many.word, many.shown) == (few.word, True)


def test_a_retrain_of_another_seed_is_rarely_accused():
    """Of draws from ten Retrains: at most 5 % are shown damaged or shown to have forgotten too
    little, and none is shown to have done nothing.
    """
    draw = np.random.default_rng(0)
    retrains = {
        "fa": [*draw.normal(0.85, 0.02, 10)],
        "mia_confidence": [*draw.normal(0.25, 0.02, 10)],
        "ra": [1.0] * 10,
        "ta": [*draw.normal(0.89, 0.004, 10)],
    }
    original = {"fa": 1.0, "mia_confidence": 0.05, "ra": 1.0, "ta": 0.895}
    spreads = {name: Spread.of(each, samples=1000) for name, each in retrains.items()}
    words = []
    for _ in range(400):
        order = draw.permutation(10)
        words.append(
            decide(
                Line(
                    values={name: [each[i] for i in order[:5]] for name, each in retrains.items()},
                    original={name: [value] * 5 for name, value in original.items()},
                    retrain={name: [each[i] for i in order[5:]] for name, each in retrains.items()},
                ),
                spreads,
                RULES,
            )
        )
    accused = [each.word for each in words if each.shown and each.word != "forgot"]
    assert len(accused) <= 20 and "did nothing" not in accused
    assert any(each.word == "forgot" and each.shown for each in words)


def test_content_is_what_json_has():
    content = verdict(line(), SPREADS, RULES).content()
    assert (content["word"], content["shown"], content["provisional"]) == ("forgot", True, False)
    assert (content["metric"], content["seeds_needed"]) == ("fa", None)
