"""The rules by which docs/findings.md decides claims of papers, on small tasks made by hand: each
where it holds and where it fails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import facts
import findings_claims
import findings_rules as rules
import pytest
from findings_data import Task
from findings_rules import FAILS, HOLDS, OPEN, PARTLY, Answer
from findings_tasks import SEEDS, line, task

from dashboard.papers.mubox import MUBOX


def answer(check: Callable[[Sequence[Task]], Answer | None], *tasks: Task) -> str | None:
    found = check(tasks)
    return None if found is None else found[0]


def of_words(scenario: str, words: dict[str, str], division: str = "authors"):
    return task(scenario, *(line(n, 1.0, word) for n, word in words.items()), division=division)


def named(forgot: Sequence[str], others: Sequence[str], word: str = "too little") -> dict[str, str]:
    return dict.fromkeys(forgot, "forgot") | dict.fromkeys(others, word)


@pytest.mark.parametrize(
    ("norms", "scores", "word"),
    [
        # equally far in weights, ten times as far from Retrain; four methods leave τ open
        ((0.7, 0.7, 0.8, 0.9), (1.0, 20.0, 3.0, 4.0), PARTLY),
        ((0.7, 0.7, 0.8, 0.9), (1.0, 2.0, 3.0, 4.0), FAILS),
        ((0.6, 0.7, 0.8, 0.9), (1.0, 20.0, 30.0, 40.0), FAILS),  # none is equally far
    ],
)
def test_weights(norms: Sequence[float], scores: Sequence[float], word: str):
    names = ("ssd", "pgu", "scrub", "salun")
    lines = [
        line(name, score, l2_normalised=norm)
        for name, norm, score in zip(names, norms, scores, strict=True)
    ]
    assert answer(rules.weights_say_nothing, task("one_class", *lines)) == word
    assert answer(rules.weights_say_nothing, task("one_class", *lines[:3])) is None


def test_weights_say_nothing_where_tau_is_surely_near_zero():
    # 400 methods, whose distance has nothing to do with that of their weights
    lines = [line(f"m{i}", 1.0 + 37 * i % 101, l2_normalised=0.001 * i) for i in range(400)]
    assert answer(rules.weights_say_nothing, task("one_class", *lines)) == HOLDS


@pytest.mark.parametrize(
    ("one", "every", "word"),
    [((0.2, 0.9), (0.9, 0.2), None), ((0.9,), (0.2,), HOLDS), ((0.2,), (0.9,), FAILS)],
)
def test_all_classes(one: Sequence[float], every: Sequence[float], word: str | None):
    """The original names all of the forget set, Retrain none: the way is 1 less the accuracy."""

    def made(scenario: str, ways: Sequence[float], said: str = "too little"):
        lines = [line(f"m{i}", 1.0, said, fa=1 - ways[i % len(ways)]) for i in range(8)]
        return task(scenario, *lines, fa=0.0)

    check = rules.all_classes_is_harder
    assert answer(check, made("one_class", one), made("all_classes", every)) == (word or OPEN)
    # a damaged network is not counted, nor a step below a tenth
    assert answer(check, made("one_class", one, "damaged"), made("all_classes", every)) == OPEN
    assert answer(check, made("one_class", (0.5,)), made("all_classes", (0.45,))) == OPEN
    assert answer(check, made("one_class", one)) is None


def test_a_whole_class():
    easy, hard = rules.EASY, rules.HARD
    check = rules.whole_class_is_easy
    holds, fails = (
        of_words("class_wise", words) for words in (named(easy, hard), named(hard, easy))
    )
    assert answer(check, holds) == HOLDS and answer(check, fails) == FAILS
    # tuned settings are asked, too; half of the easy ones are not most
    tuned = of_words("class_wise", named(hard, easy), "tuned")
    assert answer(check, holds, tuned) == PARTLY
    half = of_words("class_wise", named((*easy[:4], hard[0]), (*easy[4:], *hard[1:])))
    assert answer(check, half) == FAILS
    assert answer(check, of_words("class_wise", {"delete": "forgot"})) is None


@pytest.mark.parametrize(
    ("worst", "every", "best", "attacks", "word"),
    [
        (0.9, 0.5, 0.1, (0.9, 0.9, 0.1), HOLDS),
        (0.9, 0.5, 0.1, (0.9, 0.1, 0.1), PARTLY),
        (0.1, 0.5, 0.9, (0.9, 0.1, 0.1), FAILS),
        (0.1, 0.5, 0.9, (0.9, 0.9, 0.1), PARTLY),
        (0.5, 0.5, 0.5, (0.1, 0.1, 0.1), OPEN),
    ],
)
def test_the_order_of_retrain(
    worst: float, every: float, best: float, attacks: Sequence[float], word: str
):
    original = {
        name: dict.fromkeys(SEEDS, value)
        for name, value in zip(rules.ATTACKS, attacks, strict=False)
    }
    tasks = [
        replace(task(scenario, fa=value), original=original)
        for scenario, value in (("worst_case", worst), ("all_classes", every), ("best_case", best))
    ]
    assert answer(rules.retrain_orders, *tasks) == word
    assert answer(rules.retrain_orders, *tasks[:2]) is None


def test_label_flips():
    well, keeping = rules.WELL, rules.KEEPING
    check = rules.flips
    assert answer(check, of_words("label_flip", named(well, keeping))) == HOLDS
    damaged = of_words("label_flip", named(well, keeping, "damaged"))
    assert answer(check, damaged) == PARTLY  # what is damaged has not its accuracy
    assert answer(check, of_words("label_flip", named(keeping, well))) == FAILS
    assert answer(check, of_words("backdoor", named(well, keeping))) is None


@pytest.mark.parametrize(
    ("others", "codec", "fcs", "word"),
    [
        ((0.1, "forgot"), (0.9, "damaged"), 0.35, HOLDS),
        ((0.1, "forgot"), (0.9, "did nothing"), 0.1, PARTLY),
        ((0.9, "too little"), (0.9, "damaged"), 0.35, FAILS),
        ((0.1, "damaged"), (0.9, "damaged"), 0.35, FAILS),  # removed, and accuracy with it
    ],
)
def test_backdoors(others: tuple[float, str], codec: tuple[float, str], fcs: float, word: str):
    """The attack succeeds always with the original, and with a tenth by Retrain."""
    lines = [line(name, 1.0, others[1], asr=others[0]) for name in ("scrub", "salun", "ssd")]
    lines += [line("l_codec", 1.0, codec[1], asr=codec[0]), line("fcs", 1.0, asr=fcs)]
    assert answer(rules.backdoors, task("backdoor", *lines, asr=0.1)) == word
    assert answer(rules.backdoors, task("label_flip", *lines, asr=0.1)) is None


@pytest.mark.parametrize(
    ("time", "ta", "word"),
    [(1.0, 0.79, HOLDS), (1.0, 0.89, PARTLY), (0.2, 0.79, PARTLY), (0.2, 0.89, FAILS)],
)
def test_sisa(time: float, ta: float, word: str):
    made = task("one_class", line("sisa", 1.0, ta=ta, rte=time), ta=0.9)
    assert answer(rules.sisa, made) == word
    # a seed without Retrain is left out, and one that is left says nothing
    fewer = replace(made, retrain={"ta": {0: 0.9, 1: 0.9}})
    assert answer(rules.sisa, fewer) == word
    assert answer(rules.sisa, replace(made, retrain={"ta": {0: 0.9}})) is None


def test_gradients():
    check, names = rules.gradients_vanish, rules.BY_GRADIENT
    still = of_words("one_class", named((), names))
    assert answer(check, still) == HOLDS
    assert answer(check, still, of_words("one_class", named(names, ()), "tuned")) == PARTLY
    assert answer(check, of_words("one_class", named(names, ()))) == FAILS
    assert answer(check, of_words("best_case", named(names, ()))) is None


def test_the_side_of_the_original():
    def made(*sides: float, scenario: str = "class_wise"):
        lines = [
            line(name, 1.0, cka_original_forget=side, cka_retrain_forget=0.5)
            for name, side in zip(rules.NINE, sides, strict=False)
        ]
        # a method that is none of the paper's decides nothing
        other = line("delete", 1.0, cka_original_forget=0.1, cka_retrain_forget=0.5)
        return task(scenario, *lines, other)

    check = rules.original_side
    assert answer(check, made(0.9, 0.9, 0.9)) == HOLDS
    assert answer(check, made(0.9, 0.9, 0.1)) == PARTLY
    assert answer(check, made(0.9, 0.1, 0.1)) == FAILS
    assert answer(check, made(0.9, scenario="one_class")) is None


def test_msg_and_ct():
    def made(first: Sequence[str], scenario: str, division: str = "tuned"):
        others = [name for name in rules.NINE[:6] if name not in first]
        names = [*first, *others, *(n for n in ("msg", "ct") if n not in first)]
        lines = [line(name, float(place)) for place, name in enumerate(names, 1)]
        return task(scenario, *lines, division=division)

    check, both = rules.msg_and_ct, ("ct", "msg")
    assert answer(check, made(both, "all_classes")) == HOLDS
    assert answer(check, made(both, "all_classes"), made(("msg",), "label_flip")) == PARTLY
    assert answer(check, made(("msg",), "label_flip")) == FAILS
    # authors' settings are told, and do not decide
    assert answer(check, made((), "one_class", "authors"), made(both, "one_class")) == HOLDS
    assert answer(check, made(both, "one_class", "authors")) is None


def test_claims_without_runs_are_named_and_counted_apart():
    said = "\n".join(findings_claims.section([]))
    assert all(claim.sentence.rstrip(".") in said for claim in findings_claims.CLAIMS)
    assert facts.tells(said, 0, 0, 0, 0, 0)  # decided, and of these each word
    told = {claim.sentence: claim.check for claim in findings_claims.CLAIMS}
    assert told[MUBOX.findings["F5"]] is rules.whole_class_is_easy
