"""docs/findings.md: its statistics by hand, and its sections on small packs made by hand. That the
page is what the script makes is in tests/test_docs.py.
"""

from __future__ import annotations

import math
import zipfile
from dataclasses import replace
from typing import Any

import facts
import findings
import findings_data
import findings_machines
import findings_metrics
import findings_numbers as numbers
import findings_order
import findings_settings
import findings_words as words
import numpy as np
import pytest
from boards import QUICK, fill
from findings_data import Line, Task
from findings_tasks import SEEDS, line, task
from hidden_class_page import FOOLED, SEES, SILENT

from mucore.store import open_store
from mucore.suite import description
from mucore.suite.run import asked, write_pack
from mucore.tuning.study import Study, Trial


def test_of_a_task_that_two_sources_have_the_first_is_taken():
    twice = [replace(task("one_class"), source="a suite"), task("one_class"), task("class_wise")]
    assert [each.source for each in findings_data.one_each(twice)] == ["a suite", "demo"]
    tuned = task("one_class", division="tuned")
    assert len(findings_data.one_each([*twice, tuned])) == 3


def test_a_task_where_nothing_is_to_forget_is_told_by_its_words():
    quiet = [line("ssd", 0.5, "nothing to forget"), line("scrub", 0.5, "nothing to forget")]
    assert task("worst_case", *quiet).idle
    assert task("worst_case", *quiet, line("fisher", 9.0, "damaged")).idle
    assert not task("worst_case", *quiet, line("fisher", 9.0, "too little")).idle
    assert not task("worst_case", line("fisher", 9.0, "damaged")).idle
    hidden = line("salun", 0.5, "cannot tell")
    counts = [
        findings.count(task("worst_case", *lines))
        for lines in (quiet, [*quiet, hidden], [*quiet, line("fcs", 0.5, "forgot")], [])
    ]
    assert counts == ["nothing to forget", "cannot be told", "1", "0"]


def test_means_are_of_the_methods_with_all_seeds():
    short = replace(line("ssd", 0.5), scores={0: 0.5})
    made = task("one_class", line("scrub", 1.0), short)
    assert set(made.ran) == {"scrub", "ssd"} and set(made.methods) == {"scrub"}
    assert findings.seeds_text(made) == "1 to 3"
    gone = findings.lacks([("ssd", 0), ("ssd", 2), ("scrub", 2)], made)
    assert "`ssd`" in gone and "scrub" not in gone and facts.numbers(gone) == ["2"]
    assert not findings.lacks([("scrub", 2)], made) and findings.lacks([("scrub", 2)], None)


def test_how_far_another_retrain_and_the_original_lie_by_hand():
    columns = {"ra": (0.5, 0.5, 0.5), "ta": (0.6, 0.7, 0.8), "fa": (0.1, 0.2, 0.3)}
    columns["mia_confidence"] = (0.5, 0.5, 0.5)
    retrain = {name: dict(enumerate(values)) for name, values in columns.items()}
    made = replace(
        task("one_class"), retrain=retrain, original={**retrain, "fa": dict.fromkeys(SEEDS, 0.9)}
    )
    # units of ta and fa are 0.1 times the root of two; gaps are 0.1, 0.1 and 0.2
    unit = 0.1 * math.sqrt(2)
    assert made.retrain_apart == pytest.approx(2 * (0.4 / 3) / unit / 4)
    assert made.untouched == pytest.approx(0.7 / unit / 4)
    assert task("one_class").untouched is None and task("one_class").retrain_apart is None


def test_data_sets_of_the_demo_without_runs_are_left_out():
    assert findings_data.demo_tasks([("faces-attributes", ("one_class",))]) == []


def test_an_order_and_its_interval():
    x = [1.0, 2.0, 3.0, 4.0]
    assert numbers.tau(x, [1.0, 2.0, 4.0, 3.0]) == pytest.approx(4 / 6)  # one pair of six turned
    same = numbers.tau_interval(x, x, name="test")
    assert same == pytest.approx((1.0, 1.0, 1.0))  # whatever is drawn
    value, low, high = numbers.tau_interval(x, [1.0, 2.0, 4.0, 3.0], name="test")
    assert low < value < high and low >= -1 and high <= 1
    assert (value, low, high) == numbers.tau_interval(x, [1.0, 2.0, 4.0, 3.0], name="test")


def test_seeds_needed_by_hand():
    # mean 2, s = 1: half widths t s / sqrt(n) are 8.98, 2.48 and 1.59 with 2, 3 and 4 seeds
    assert numbers.seeds_needed([1.0, 2.0, 3.0]) == 4
    assert numbers.seeds_needed([1.0, 1.0, 1.0]) == 2
    assert numbers.seeds_needed([1.0, -1.0]) is None
    low, high = numbers.spread_error(5)
    assert (low, high) == pytest.approx((0.60, 2.87), abs=0.005)


def test_an_interval_of_nothing_drawn_is_no_number():
    value, low, high = numbers.tau_interval([1.0, 1.0], [1.0, 2.0], name="test")
    assert math.isnan(value) and math.isnan(low) and math.isnan(high)
    assert numbers.tau_p([1.0, 1.0], [1.0, 2.0]) == 1.0
    assert words.number(value) == "–" and words.number(-0.001) == "0.00"


def test_single_seeds_of_two_tasks_by_hand():
    one = {name: {0: place, 1: place} for place, name in enumerate("abcd", 1)}
    other = {name: {0: place, 2: place} for place, name in enumerate("abdc", 1)}
    assert numbers.seed_by_seed(one, other) == [pytest.approx(4 / 6)]
    assert numbers.seed_taus(one) == [1.0]
    assert numbers.seed_taus({}) == [] == numbers.seed_by_seed(one, {})


def test_agreement_with_a_verdict_by_hand():
    # of six pairs the one that forgot is nearer in four, and one is a tie
    mixed = ({"a": 0.1, "b": 0.3}, {"c": 0.2, "d": 0.3, "e": 0.4})
    sure = ({"a": 0.1, "b": 0.2}, {"c": 0.3, "d": 0.4, "e": 0.5})
    found = numbers.agreements({"mixed": [mixed, mixed], "sure": [sure, None]})
    value, low, high = found["mixed"].mean
    assert value == pytest.approx((3 + 1 + 0.5) / 6) and low < value < high
    assert found["sure"].mean == (1.0, 1.0, 1.0)
    # compared on the task that both have, by the same draws
    value, low, high = found["sure"].less(found["mixed"])
    assert value == pytest.approx(1.5 / 6) and 0 <= low < value < high
    assert found["mixed"].less(found["mixed"]) == (0.0, 0.0, 0.0)
    assert numbers.sign_p(5, 0) == pytest.approx(2 / 32) and numbers.sign_p(0, 0) == 1.0
    assert numbers.t_mean([1.0, 2.0, 3.0]) == pytest.approx((2, 2 - 2.4841, 2 + 2.4841), abs=1e-3)


def test_neighbours_of_equal_spread_need_two_seeds_and_equals_none():
    # differences of neighbours are the same on every seed
    lines = [line("finetune", 1.0), line("scrub", 2.0), line("ssd", 2.0)]
    assert findings_order.neighbours(lines) == [2, None]
    assert findings_order.middle([2, None, None]) == "over 1,000"
    assert findings_order.share([2, 4, None], 3) == pytest.approx(1 / 3)
    cells = cells_of(findings_order.seeds([task("one_class", *lines)])[2])[0]
    # of the three pairs two are told apart
    assert cells[3:] == ["2", "50 %", "50 %", "50 %", "50 %", "over 1,000", "67 %"]


def test_certain_are_differences_that_stay_after_the_correction():
    found = findings_settings.certain(
        {"a": [1.0, 1.0, 1.0], "b": [0.0, 0.0, 0.0], "c": [1.0, -2.0, 2.0]}
    )
    assert found == {"a": 1, "b": 0, "c": 0}


FOUR = ("finetune", "scrub", "ssd", "salun", "delete", "unsir")


def six(word: str, *, scale: float = 1.0, rest: str = "did nothing", **values: Any) -> list[Line]:
    return [
        line(name, scale * (place + 1), word=word if place < 3 else rest, **values)
        for place, name in enumerate(FOUR)
    ]


def cells_of(table: str) -> list[list[str]]:
    return [[each.strip() for each in row.strip("|").split("|")] for row in table.splitlines()[2:]]


def test_the_order_of_two_tasks():
    parts = findings_order.order(
        [task("one_class", *six("forgot")), task("all_classes", *six("forgot", scale=2.0))]
    )
    (cells,) = cells_of(parts[2])
    # three did something, too few for a τ of their own
    assert cells[2:] == ["6", "1.00", "1.00 to 1.00", "– (3)", "3 of 3"]
    none = [findings_order.nothing("two tasks that can be compared")]
    assert findings_order.order([task("one_class", *six("forgot"))])[1:] == none
    # other data and another question at once
    elsewhere = replace(task("all_classes", *six("forgot")), dataset="digits")
    assert findings_order.order([task("one_class", *six("forgot")), elsewhere])[1:] == none
    # other data and the same question
    same = replace(task("one_class", *six("forgot")), dataset="digits")
    assert len(cells_of(findings_order.order([task("one_class", *six("forgot")), same])[2])) == 1
    # nothing to forget in one of the two, and distances that never vary
    quiet = task("worst_case", *six("nothing to forget", rest="nothing to forget"))
    assert findings_order.order([task("one_class", *six("forgot")), quiet])[1:] == none
    level = task("all_classes", *six("forgot", scale=0.0))
    assert findings_order.order([task("one_class", *six("forgot")), level])[1:] == none
    # one seed a task says nothing of other seeds
    alone = [
        replace(
            each, lines=tuple(replace(x, scores={0: x.scores[0]}) for x in each.methods.values())
        )
        for each in (task("one_class", *six("forgot")), task("all_classes", *six("forgot")))
    ]
    assert facts.tells(findings_order.order(alone)[3], 1, 1, 1, "1.00")


def test_metrics_that_decide_or_are_derived_are_no_finding():
    made = []
    for place, each in enumerate(six("forgot")):
        # the one that is third to forget looks no nearer than the first that did not, by `va`
        away = dict(fa=0.1 * place, va=0.1 * (place - (place == 3)), ra=0.0, mia_correctness=place)
        made.append(replace(each, values={n: dict.fromkeys(SEEDS, v) for n, v in away.items()}))
    retrain: dict[str, Any] = dict(fa=0.0, va=0.0, ra=0.0, mia_correctness=0.0)
    one = task("one_class", *made, **retrain)
    found = {each.card.id: each for each in findings_metrics.measured([one])}
    assert set(found) == {"fa", "va", "mia_correctness"}  # `ra` is the same for all
    assert [found[name].decides for name in ("fa", "va", "mia_correctness")] == [1, 0, 1]
    assert found["va"].agreement.mean[0] == pytest.approx(8.5 / 9)
    assert findings_metrics.decided("average_gap_classes", one)
    assert not findings_metrics.decided("mia_m_entropy", one)
    assert "`va`" in findings_metrics.metrics([one])[3]
    only = [
        replace(each, values={n: v for n, v in each.values.items() if n != "va"}) for each in made
    ]
    assert len(findings_metrics.metrics([task("one_class", *only, **retrain)])) == 2


def test_the_baseline_that_cheats_is_no_method_and_has_a_line():
    cheat = line("head_distillation", 0.5, word="forgot", cheats=True, fa=0.0, linear_probe=1.0)
    made = task("class_wise", *six("forgot", fa=1.0), cheat, fa=0.0, linear_probe=0.2)
    assert "head_distillation" not in made.methods and len(made.methods) == 6
    found = findings_metrics.words_of_metrics(made, cheat)
    assert found == {FOOLED: ["fa"], SEES: ["linear_probe"], SILENT: []}
    (cells,) = cells_of(findings_metrics.cheater([made])[2])
    assert cells == [made.title, "demo", "0.60", "6 of 6", "1", "1", "–"]


def test_settings_are_compared_on_the_seeds_that_both_have():
    before = task("one_class", *six("did nothing", scale=2.0))
    after = task("one_class", *six("forgot"), division="tuned")
    (cells,) = cells_of(findings_settings.settings([before, after])[2])
    # every one is nearer by its place, on each seed alike
    assert cells[1:5] == ["6", "0", "6 (p = 0.031)", "6 and 0"]
    assert cells[-2:] == ["0", "3"]


def test_what_lies_further_may_have_forgotten():
    before = task("one_class", *six("did nothing"))
    after = task("one_class", *six("forgot", scale=2.0), division="tuned")
    (found,) = findings_settings.both([before, after])
    assert len(found.further) == 6 and found.further_and_forgot == 3 and found.forgot == (0, 3)


def test_searches_without_a_setting_are_counted():
    def study(dataset: str, *, still: bool) -> Study:
        task = {"dataset": dataset, "scenario": "one_class"}
        trials = [
            Trial(seed=seed, values={"lr": lr}, score=lr, work=0.1, seconds=1.0, still=still)
            for seed, count in ((100, 24), (101, 1), (102, 1))
            for lr in range(count)
        ]
        return Study(task, "scrub", "1", 100, 1 / 3, False, tuple(trials))

    studies = [study(findings_data.IMAGES, still=True), study(findings_data.IMAGES, still=False)]
    studies += [study("digits", still=True)]
    assert findings_settings.ended(studies, task("one_class")) == (1, 1)
    assert findings_settings.ended(studies, task("backdoor")) == (0, 0)


def test_precision_is_read_from_the_page_of_benchmarks():
    text = (
        "## Revision 2 of recipes\n\n| A | b | 0.10 ± 1.0 | 0.20 ± 0.10 |\n"
        "| B | c | −0.30 ± 0.20 | 0.00 ± 0.00 |\n\n## More\n| C | d | 9.0 ± 0.1 | 9.0 ± 0.1 |\n"
    )
    lines, found = findings_machines.precisions(text)
    assert lines == 2 and found == [(0.1, 1.0), (0.2, 0.1), (-0.3, 0.2), (0.0, 0.0)]
    said = findings_machines.machines(text)[2]
    # of three that can move two do, by 0.2 and 0.3; the widest interval is 1
    assert facts.numbers(said)[:7] == ["1", "3", "1", "2", "0.2", "0.3", "1"]
    assert findings_machines.machines("## Another page\n")[1:] == [
        findings_machines.nothing("the table of precisions in docs/benchmarks.md")
    ]


def test_how_far_another_machine_lies_by_hand():
    """Retrain is equal there; the method's two seeds, 0.2 apart here, moved by 0.1 and by 0."""

    def made(scenario: str, *values: float) -> Task:
        of_seeds = {"fa": dict(enumerate(values))}
        one = replace(line("scrub", 1.0, "forgot"), scores={0: 1.0, 1: 1.1}, values=of_seeds)
        return replace(task(scenario, one), retrain={"fa": {0: 0.5, 1: 0.6, 2: 0.7}})

    here, there = made("one_class", 0.4, 0.6), made("one_class", 0.5, 0.6)
    moved = findings_machines.Moved.between(here, there)
    assert len(moved.differences) == 5 and moved.equal == 4
    assert moved.differences["fa", "scrub", 0] == pytest.approx(0.1)
    # three Retrains of s = 0.1: t(0.975, 2) = 4.303, times the root of two
    assert moved.bands["fa"] == pytest.approx(4.303 * math.sqrt(2) * 0.1, rel=1e-3)
    assert moved.within == moved.repeated == 5
    # of one other seed nothing is known, so Retrain's band is all that is allowed
    assert moved.allowed["fa", "scrub", 0] == moved.bands["fa"]
    # two seeds of Retrain lie 0.4/3 apart on average, those of the method 0.2
    assert moved.seeds == pytest.approx((3 * 0.4 / 3 + 2 * 0.2) / 5)
    assert moved.share == pytest.approx(0.1 / 5 / moved.seeds)
    assert moved.words == {"scrub": ("forgot", "forgot")}
    text = "## Revision 2 of recipes\n\n| A | b | 0.1 ± 1.0 | 0.2 ± 0.1 |\n"
    said = findings_machines.machines(text, [here], [("A GPU", there)])
    (cells,) = cells_of(said[3])
    assert cells[0] == "A GPU" and cells[2:4] == ["`resnet9-small`", "5"]
    assert cells[-1] == "1 of 1"
    elsewhere = made("backdoor", 0.5, 0.6)
    assert findings_machines.machines(
        text, [here], [("A GPU", elsewhere)]
    ) == findings_machines.machines(text)


def test_verdicts_of_two_machines_are_asked_again_on_the_seeds_that_both_have():
    """Seed 1 alone is there on both; by it the method forgot here and is damaged there."""

    def made(ra: float, *seeds: int) -> Task:
        numbers = {"tfa": 0.0, "fa": 0.0, "ra": ra, "tra": 0.9}
        values = {n: dict.fromkeys(seeds, v) for n, v in numbers.items()}
        one = replace(
            line("scrub", 1.0, "too much"), scores=dict.fromkeys(seeds, 1.0), values=values
        )
        return task("class_wise", one, tfa=0.0, fa=0.0, ra=0.9, tra=0.9)

    found = findings_machines.words_of(made(0.9, 0, 1), made(0.5, 1))
    assert found == {"scrub": ("forgot", "damaged")}
    # where both have the same seeds their own words stand
    assert findings_machines.words_of(made(0.9, 1), made(0.5, 1)) == {
        "scrub": ("too much", "too much")
    }
    # whether an attack only guessed is not known
    here, there = (replace(made(0.9, *seeds), scenario="one_class") for seeds in ((0, 1), (1,)))
    assert findings_machines.words_of(here, there) == {}


def test_a_page_without_runs_answers_nothing():
    made = findings.write([], [], [])
    assert made.count("Not answered yet") >= 5
    for name in description.names():
        assert f"`{name}`" in made


def test_a_pack_becomes_a_file_and_the_file_the_same_tasks(tmp_path):
    home = tmp_path / "home"
    fill(home)
    suite = description.load(QUICK)
    runs = asked(suite, "authors", ["scrub", "finetune", "ssd"])
    with open_store(home) as store:
        path, _ = write_pack(store, tmp_path / "pack.zip", suite, "authors", runs)
    assert zipfile.is_zipfile(path)
    content = findings_data.summary(path)
    written = findings_data.write(content, tmp_path / "findings")
    assert findings_data.write(content, tmp_path / "again").read_bytes() == written.read_bytes()
    tasks = findings_data.pack_tasks(tmp_path / "findings")
    assert [each.scenario for each in tasks] == [each.scenario for each in suite.tasks]
    first = tasks[0]
    assert set(first.methods) == {"scrub", "finetune", "ssd"}
    assert first.methods["scrub"].qualified and not first.methods["finetune"].qualified
    assert first.retrain["fa"][1] == pytest.approx(0.504)
    assert all(math.isfinite(each.score) for each in first.methods.values())
    (about,) = findings_data.summaries(tmp_path / "findings")
    assert (about["suite"], about["hash"], about["tasks"]) == (QUICK, suite.hash, 2)
    assert len(about["digest"]) == 64
    assert np.mean([each.score for each in tasks[1].methods.values()]) > 0
    elsewhere = findings_data.write(content, tmp_path / "machines", machine="h200")
    assert elsewhere.name == f"{QUICK}-authors-h200.json.gz"
    assert [each for _, each in findings_data.machine_tasks(tmp_path / "machines")] == tasks
