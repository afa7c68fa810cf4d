"""docs/findings.md: its statistics by hand, and its sections on small packs made by hand. That the
page is what the script makes is in tests/test_docs.py.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import findings
import findings_claims
import findings_data
import findings_numbers as numbers
import numpy as np
import pytest
from boards import QUICK, fill
from findings_data import Line, Task
from hidden_class_page import FOOLED, SEES, SILENT

from mucore.store import open_store
from mucore.suite import description
from mucore.suite.run import asked, write_pack

SEEDS = (0, 1, 2)


def line(
    method: str, score: float, word: str = "too little", cheats: bool = False, **values: Any
) -> Line:
    """Of three seeds, on which its distance differs by 0.1."""
    return Line(
        method=method,
        word=word,
        qualified=word == "forgot" and not cheats,
        cheats=cheats,
        scores={seed: score + 0.1 * seed for seed in SEEDS},
        values={name: dict.fromkeys(SEEDS, value) for name, value in values.items()},
    )


def task(scenario: str, *lines: Line, division: str = "authors", **references: Any) -> Task:
    made: Mapping[str, Mapping[int, float]] = {
        name: dict.fromkeys(SEEDS, value) for name, value in references.items()
    }
    return Task(
        source="demo",
        division=division,
        dataset=findings_data.DEMO["dataset"],
        scenario=scenario,
        lines=lines,
        retrain=made,
        original={name: dict.fromkeys(SEEDS, 1.0) for name in made},
    )


def test_of_a_task_that_two_sources_have_the_first_is_taken():
    twice = [replace(task("one_class"), source="a suite"), task("one_class"), task("class_wise")]
    assert [each.source for each in findings_data.one_each(twice)] == ["a suite", "demo"]
    tuned = task("one_class", division="tuned")
    assert len(findings_data.one_each([*twice, tuned])) == 3


def test_a_task_where_nothing_is_to_forget_is_told_by_its_words():
    quiet = [line("ssd", 0.5, "nothing to forget"), line("scrub", 0.5, "nothing to forget")]
    assert findings.idle(task("worst_case", *quiet))
    assert findings.idle(task("worst_case", *quiet, line("fisher", 9.0, "damaged")))
    assert not findings.idle(task("worst_case", *quiet, line("fisher", 9.0, "too little")))
    assert not findings.idle(task("worst_case", line("fisher", 9.0, "damaged")))
    hidden = line("salun", 0.5, "cannot tell")
    counts = [
        findings._count(task("worst_case", *lines))
        for lines in (quiet, [*quiet, hidden], [*quiet, line("fcs", 0.5, "forgot")], [])
    ]
    assert counts == ["nothing to forget", "cannot be told", "1", "0"]


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


def test_agreement_with_a_verdict_by_hand():
    # of six pairs the one that forgot is nearer in four, and one is a tie
    assert numbers.auc([0.1, 0.3], [0.2, 0.3, 0.4]) == pytest.approx((3 + 1 + 0.5) / 6)
    value, low, high = numbers.mean_auc([([0.1, 0.2], [0.3, 0.4])] * 2, name="test")
    assert (value, low, high) == (1.0, 1.0, 1.0)
    assert numbers.sign_p(5, 0) == pytest.approx(2 / 32) and numbers.sign_p(0, 0) == 1.0
    assert numbers.t_mean([1.0, 2.0, 3.0]) == pytest.approx((2, 2 - 2.4841, 2 + 2.4841), abs=1e-3)


def test_neighbours_of_equal_spread_need_two_seeds_and_equals_none():
    # differences of neighbours are the same on every seed
    lines = [line("finetune", 1.0), line("scrub", 2.0), line("ssd", 2.0)]
    assert findings.neighbours(lines) == [2, None]
    assert findings.middle([2, None, None]) == "over 1,000"
    assert findings.share([2, 4, None], 3) == "33 %"


def test_certain_are_differences_that_stay_after_the_correction():
    found = findings.certain({"a": [1.0, 1.0, 1.0], "b": [0.0, 0.0, 0.0], "c": [1.0, -2.0, 2.0]})
    assert found == {"a": 1, "b": 0, "c": 0}


FOUR = ("finetune", "scrub", "ssd", "salun", "delete", "unsir")


def six(word: str, *, scale: float = 1.0, **values: Any) -> list[Line]:
    return [
        line(name, scale * (place + 1), word=word if place < 3 else "did nothing", **values)
        for place, name in enumerate(FOUR)
    ]


def test_the_order_of_two_tasks():
    parts = findings.order(
        [task("one_class", *six("forgot")), task("all_classes", *six("forgot", scale=2.0))]
    )
    (row,) = parts[2].splitlines()[2:]
    cells = [each.strip() for each in row.strip("|").split("|")]
    assert cells[2:] == ["6", "1.00", "1.00 to 1.00", "3 of 3"]
    assert "Not answered yet" in findings.order([task("one_class", *six("forgot"))])[1]
    # other data and another question at once
    elsewhere = replace(task("all_classes", *six("forgot")), source="another")
    found = findings.order([task("one_class", *six("forgot")), elsewhere])
    assert found[1:] == [findings.nothing("two tasks that can be compared")]


def test_the_baseline_that_cheats_is_no_method_and_has_a_line():
    cheat = line("head_distillation", 0.5, word="forgot", cheats=True, fa=0.0, linear_probe=1.0)
    made = task("class_wise", *six("forgot", fa=1.0), cheat, fa=0.0, linear_probe=0.2)
    assert "head_distillation" not in made.methods and len(made.methods) == 6
    found = findings.words_of_metrics(made, cheat)
    assert found == {FOOLED: ["fa"], SEES: ["linear_probe"], SILENT: []}
    (row,) = findings.cheater([made])[2].splitlines()[2:]
    cells = [each.strip() for each in row.strip("|").split("|")]
    assert cells == ["class_wise, fashion-mnist-10k", "demo", "0.60", "6 of 6", "1", "1", "–"]


def test_settings_are_compared_on_the_seeds_that_both_have():
    before = task("one_class", *six("did nothing", scale=2.0))
    after = task("one_class", *six("forgot"), division="tuned")
    rows = findings.settings([before, after])[2].splitlines()[2:]
    cells = [each.strip() for each in rows[0].strip("|").split("|")]
    # every one is nearer by its place, on each seed alike
    assert cells[2:5] == ["6", "6 (p = 0.031)", "6 and 0"]
    assert cells[-2:] == ["0", "3"]


def test_claims_follow_their_rules():
    authors = task("class_wise", *six("did nothing"), fa=0.0)
    told = dict((claim.sentence, claim.check([authors])) for claim in findings_claims.CLAIMS)
    easy = told[findings_claims.MUBOX.findings["F5"]]
    assert easy is not None and easy[0] == "in part" and "0 of 6" in easy[1]
    assert told[findings_claims.MUBOX.findings["F6"]] is None  # for want of the other tasks
    said = "\n".join(findings_claims.section([authors]))
    assert "for want of runs" in said


def test_precision_is_read_from_the_page_of_benchmarks():
    text = (
        "## Revision 2 of recipes\n\n| A | b | 0.10 ± 1.0 | 0.20 ± 0.10 |\n"
        "| B | c | −0.30 ± 0.20 | 0.00 ± 0.00 |\n\n## More\n| C | d | 9.0 ± 0.1 | 9.0 ± 0.1 |\n"
    )
    said = findings.machines(text)[1]
    assert "2 of 4 differences" in said and "2 lines" in said
    assert findings.machines("## Another page\n")[1:] == [
        findings.nothing("the table of precisions in docs/benchmarks.md")
    ]


def test_how_far_another_machine_lies_by_hand():
    """Retrain is equal there; the method's two seeds, 0.2 apart here, moved by 0.1 and by 0."""

    def made(scenario: str, *values: float) -> Task:
        of_seeds = {"fa": dict(enumerate(values))}
        one = replace(line("scrub", 1.0, "forgot"), scores={0: 1.0, 1: 1.1}, values=of_seeds)
        return replace(task(scenario, one), retrain={"fa": {0: 0.5, 1: 0.6, 2: 0.7}})

    here, there = made("one_class", 0.4, 0.6), made("one_class", 0.5, 0.6)
    moved = findings.Moved.between(here, there)
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
    assert moved.words == [("forgot", "forgot")]
    text = "## Revision 2 of recipes\n\n| A | b | 0.1 ± 1.0 | 0.2 ± 0.1 |\n"
    said = findings.machines(text, [here], [("A GPU", there)])
    assert "| A GPU | one_class, " in said[3] and "1 of 1" in said[3]
    elsewhere = made("backdoor", 0.5, 0.6)
    assert findings.machines(text, [here], [("A GPU", elsewhere)]) == findings.machines(text)


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
