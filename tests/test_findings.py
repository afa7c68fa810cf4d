"""docs/findings.md: its statistics by hand, and its tables on small tasks made by hand. That the
page is what the script makes is in tests/test_docs.py.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace

import findings
import pytest
from builders import make_result, make_spec_row
from demo_results import Line, Task, task_of

from mucore.store.records import Result

SEEDS = (0, 1, 2)
SIX = ("finetune", "scrub", "ssd", "salun", "delete", "unsir")


def runs(method: str, values: Mapping[str, float]) -> dict[int, Result]:
    return {
        seed: make_result(make_spec_row(method=method, training_seed=seed), metrics=values)
        for seed in SEEDS
    }


def line(method: str, score: float, word: str = "too little", **values: float) -> Line:
    """Of three seeds, on which its distance differs by 0.1."""
    return Line(
        method=method,
        word=word,
        said=word,
        qualified=word == "forgot",
        shown=True,
        cheats=False,
        runs=runs(method, values),
        scores={seed: score + 0.1 * seed for seed in SEEDS},
    )


def task(scenario: str, *lines: Line, settings: str = "authors", **retrain: float) -> Task:
    return Task(
        dataset="digits",
        scenario=scenario,
        settings=settings,
        lines=lines,
        retrain=runs("retrain", retrain),
        original={},
    )


def six(word: str, *, scale: float = 1.0, rest: str = "did nothing") -> list[Line]:
    """Three that ended so, and three others further off."""
    return [
        line(name, scale * (place + 1), word if place < 3 else rest)
        for place, name in enumerate(SIX)
    ]


def test_seeds_needed_by_hand():
    # mean 2, s = 1: half widths t s / sqrt(n) are 8.98, 2.48 and 1.59 with 2, 3 and 4 seeds
    assert findings.seeds_needed([1.0, 2.0, 3.0]) == 4
    assert findings.seeds_needed([1.0, 1.0, 1.0]) == 2
    assert findings.seeds_needed([1.0, -1.0]) == math.inf


def test_an_order_agreement_and_words_of_numbers_by_hand():
    x = [1.0, 2.0, 3.0, 4.0]
    assert findings.tau(x, [1.0, 2.0, 4.0, 3.0])[0] == pytest.approx(4 / 6)  # one pair of six
    # of six pairs the one that forgot is nearer in four, and one is a tie
    assert findings.agreement([0.1, 0.3], [0.2, 0.3, 0.4]) == pytest.approx(4.5 / 6)
    numbers = [findings.number(it) for it in (None, math.nan, -0.001, -0.5)]
    assert numbers == "– – 0.00 −0.50".split()


def test_certain_are_differences_that_stay_after_the_correction():
    pairs = {"a": [1.0, 1.0, 1.0], "b": [0.0, 0.0, 0.0], "c": [1.0, -2.0, 2.0], "d": [-1.0, -1.0]}
    assert findings.compared(pairs) == ["4", "2 (p 1.000)", "1 and 1"]


def test_neighbours_of_equal_spread_need_two_seeds_and_equals_none():
    # differences of neighbours are the same on every seed
    lines = [line("finetune", 1.0), line("scrub", 2.0), line("ssd", 2.0)]
    assert findings.needed(itertools.pairwise(lines)) == [2, math.inf]
    (cells,) = findings.seeds([task("one_class", *lines)])
    # of the three pairs two are told apart
    assert cells[3:] == ["2", "50 %", "50 %", "50 %", "50 %", "over 1,000", "67 %"]


def test_the_order_of_two_tasks():
    one, other = task("one_class", *six("forgot")), task("all_classes", *six("forgot", scale=2.0))
    (cells,) = findings.order([one, other])
    assert [cells[2], cells[3], cells[5]] == ["6", "1.00", "3 of 3"]
    # other data and another question at once; other data alone; nothing to forget; no order
    assert [*findings.order([one, replace(other, dataset="faces")])] == []
    assert len([*findings.order([one, replace(one, dataset="faces")])]) == 1
    quiet = task("worst_case", *six("nothing to forget", rest="nothing to forget"))
    level = task("all_classes", *six("forgot", scale=0.0))
    assert [*findings.order([one, quiet])] == [] == [*findings.order([one, level])]


def test_metrics_that_decide_or_are_derived_are_no_finding():
    lines = []
    for place, each in enumerate(six("forgot")):
        # the first that did not forget looks no further off than the last that did, by `va`
        away = {"fa": 0.1 * place, "va": 0.1 * (place - (place == 3)), "ra": 0.0}
        lines.append(
            replace(each, runs=runs(each.method, {**away, "mia_correctness": 0.1 * place}))
        )
    one = task("one_class", *lines, fa=0.0, va=0.0, ra=0.0, mia_correctness=0.0)
    found = {cells[1]: cells[2:] for cells in findings.metrics([one])}
    assert set(found) == {"`fa`", "`va`", "`mia_correctness`"}  # `ra` is the same for all
    assert found["`fa`"] == ("1.00", "1.00", "1", "1") and found["`mia_correctness`"][-1] == "1"
    assert found["`va`"][0] == f"{8.5 / 9:.2f}" and found["`va`"][-1] == "–"


def test_settings_are_compared_on_the_seeds_that_both_have():
    before = task("one_class", *six("did nothing", scale=2.0))
    after = task("one_class", *six("forgot"), settings="tuned")
    (cells,) = findings.settings([before, after])
    # every one is nearer by its place, on each seed alike
    assert cells[1:4] == ["6", "6 (p 0.031)", "6 and 0"]
    assert cells[4:] == ["7.1", "3.6", "0", "3"]


def test_of_two_settings_of_a_method_the_one_with_more_seeds_counts():
    def result(method: str, seed: int, fa: float, lr: float = 0.1) -> Result:
        spec = make_spec_row(method=method, training_seed=seed)
        spec = spec.model_copy(update={"parameters": {**spec.parameters, "lr": lr}})
        numbers = {"fa": fa, "ta": 0.9, "ra": 1.0, "mia_confidence": 0.5}
        return make_result(spec, metrics=numbers, gaps=dict.fromkeys(numbers, 0.0))

    results = [result("retrain", seed, 0.8 + 0.01 * seed) for seed in SEEDS]
    results += [result("original", seed, 1.0) for seed in SEEDS]
    results += [result("finetune", seed, 0.9) for seed in SEEDS]
    results += [result("finetune", 0, 0.8, lr=0.5)]
    made = task_of(results, dataset="digits", scenario="one_class", settings="authors")
    assert sorted(made.methods["finetune"].scores) == [0, 1, 2]
    # only fa moves: gaps of 0.1, 0.09 and 0.08, in units of √2 times 0.01, over four numbers
    unit = 0.01 * math.sqrt(2)
    assert made.methods["finetune"].score == pytest.approx(0.09 / unit / 4)
