"""The board: what stands where, what is ranked, and what is said of it."""

from dataclasses import replace
from typing import Any

import facts
import pytest
from builders import make_result
from facts import tells

from dashboard.frames.board import overall_sentence
from mucore.suite import board, description, frames
from mucore.suite.board import Division, Line, Table
from mucore.suite.pack import TunedSetting
from mucore.tuning.plan import SLACK
from mucore.verdicts import Verdict

SUITE = description.load("mucore-bench-1-quick")
TASK = SUITE.tasks[0]
UNSURE = Verdict(word="forgot", metric="", sentence="", shown=False, seeds=3)


def line(method, scores=(), word="forgot", work=0.1, cheats=False, **fields: Any):
    runs = {
        seed: make_result(
            method=method,
            scenario="class_wise" if cheats else "one_class",
            training_seed=seed,
            metrics={"rte_work": work},
        )
        for seed in range(len(scores))
    }
    said = Verdict(word=word, metric="", sentence="", shown=True, seeds=len(scores), cheats=cheats)
    given: dict[str, Any] = {"verdict": said} | fields
    return Line(method=method, runs=runs, scores=dict(enumerate(scores)), **given)


def table(*lines, task=TASK):
    return Table(
        task=task,
        metrics=("ra",),
        lines=lines,
        retrain=line("retrain", (0.0,)),
        original=line("original", (5.0,)),
        band={},
        floor=0.8,
    )


def division(*tables):
    return Division(name="tuned", tables=tables)


def overall(*tables):
    return frames.overall(division(*tables)).set_index("Method")


def test_what_forgot_stands_first_then_by_distance_and_cost():
    lines = [
        line("salun", (0.1,) * 3, word="did nothing"),  # nearest, and did nothing
        line("ssd", (3.0,) * 3),
        line("scrub", (1.0,) * 3, work=0.3),
        line("finetune", (1.0,) * 3, work=0.1),
        line("fisher", (0.5,) * 3, word="damaged"),
        line("fcs", (0.2,) * 3, sound=False),
        line("gkt", verdict=None, reason="No search has found a setting."),
        line("delete", (0.3,) * 3, word="too much"),
    ]
    order = sorted(lines, key=lambda each: each.place)
    assert [each.method for each in order] == [
        *("finetune", "scrub", "ssd", "fcs", "delete", "salun", "fisher", "gkt")
    ]
    assert [each.group for each in order][3:] == [
        *("unsound", "off", "nothing", "damaged", "missing")
    ]


def test_a_board_without_a_method_is_one_that_nobody_ran_it_for():
    lines = [
        line("ssd", (1.0, 1.1, 0.9)),
        line("scrub", (4.0, 4.1, 4.2)),
        line("salun", (6.0, 6.1, 6.2)),
        line("fisher", (9.0, 9.1, 9.3), word="damaged"),
    ]
    whole = division(table(*lines), table(*lines))
    assert board.without(whole, ()) == whole
    rest = board.without(whole, ["ssd", "nobody"])
    assert rest.forgot() == {"scrub": 2, "salun": 2, "fisher": 0}
    assert rest.ranking is not None
    assert rest.ranking.ranks == {"scrub": 1.0, "salun": 2.0, "fisher": 3.0}
    none = board.without(whole, ["ssd", "scrub", "salun", "fisher"])
    assert none.ranking is None and frames.overall(none).empty


def test_a_task_that_cannot_say_who_forgot_does_not_count_against_anybody():
    told = table(line("ssd", (1.0,) * 3), line("scrub", (4.0,) * 3, word="too little"))
    dark = table(
        line("ssd", (1.0,) * 3, word="cannot tell"), line("scrub", (4.0,) * 3, word="damaged")
    )
    assert (told.telling, dark.telling) == (True, False)
    # damage is seen anywhere, and a task that saw nothing else has spoken
    assert table(line("ssd", (1.0,) * 3, word="damaged")).telling
    both = division(told, dark)
    assert both.telling == (told,)
    assert overall(told, dark)["Shown in"].to_dict() == {"SSD": "1 of 1", "SCRUB": "0 of 1"}
    assert tells(overall_sentence(both), "1 of 2 methods")
    apart = division(table(line("ssd", (1.0,) * 3)), table(line("scrub", (1.0,) * 3)))
    assert facts.numbers(overall_sentence(apart)) == ["0"]
    assert set(overall(dark)["Shown in"]) == {"0 of 0"}
    assert tells(overall_sentence(division(dark)), "No task")


def test_a_line_of_a_single_seed_is_no_methods_measure():
    full = {"scrub": 1.0, "ssd": 2.0, "salun": 3.0}
    lines = [line(name, [start + 0.01 * seed for seed in range(5)]) for name, start in full.items()]
    beside = table(line("fisher", (0.5,)), *lines)
    found = division(beside, table(line("fisher", (9.0,) * 5), *lines, task=SUITE.tasks[1]))
    assert found.ranking is not None and set(found.ranking.ranks) == set(full)
    # while everybody has one seed, one is what there is
    assert table(line("scrub", (1.0,)), line("ssd", (2.0,))).compared == {"scrub": 1.0, "ssd": 2.0}


def test_ranks_and_counts_are_of_tasks_that_say_who_forgot():
    def told(task, *methods, word="forgot"):
        lines = [line(m, (1.0 + place,) * 5, word=word) for place, m in enumerate(methods)]
        return table(*lines, task=task)

    first, second = told(SUITE.tasks[0], "scrub", "ssd", "ct"), told(SUITE.tasks[1], "scrub", "ssd")
    dark = told(SUITE.tasks[1], "ct", "ssd", "scrub", word="cannot tell")
    third = told(SUITE.tasks[1], "scrub", "ssd", "ct")
    found = division(first, third, dark)
    assert found.ranking is not None and found.ranking.blocks == 2
    assert found.ranking.ranks == {"scrub": 1.0, "ssd": 2.0, "ct": 3.0}
    # a task that a method did not run in is none that it could have forgotten in
    rows = frames.overall(division(first, second))
    assert rows["Shown in"].tolist() == ["2 of 2", "2 of 2", "1 of 1"]
    # nor is a mean over fewer tasks one beside those over all
    assert rows["Distance, spreads"].tolist()[:2] == [1.0, 2.0]
    assert rows["Distance, spreads"].isna().tolist() == [False, False, True]


def test_what_forgot_by_indication_comes_after_what_is_shown():
    kept = replace(UNSURE, features="still know it", shown=True)
    lines = [
        line("ssd", (1.0,) * 3),
        line("scrub", (2.0,) * 3, verdict=UNSURE),
        line("salun", (3.0,) * 3, verdict=kept),
    ]
    rows = frames.overall(division(table(*lines), table(*lines[:2])))
    assert rows[["Method", "Shown in", "Indicated in"]].to_numpy().tolist() == [
        ["SSD", "2 of 2", "0"],
        ["SalUn", "1 of 1", "0"],
        ["SCRUB", "0 of 2", "2"],
    ]
    first = frames.overall(division(table(*lines)), first=["scrub"])
    assert first["Method"].tolist() == ["SCRUB", "SSD", "SalUn"]
    words = frames.of_task(table(*lines)).set_index("Method")["Verdict"]
    assert (words["SCRUB"], words["SalUn"]) == ("forgot?", "forgot on outputs")


def test_the_baseline_that_cheats_stands_apart_whatever_its_numbers():
    cheat = Verdict(word="forgot", metric="", sentence="", shown=True, cheats=True)
    lines = [line("finetune", (0.1,) * 3, verdict=cheat), line("ssd", (1.0,) * 3)]
    order = sorted(lines, key=lambda each: each.place)
    assert [each.group for each in order] == ["forgot", "baseline"]
    others = [line(name, (2.0,) * 3) for name in ("scrub", "salun")]
    found = division(table(*order, *others), table(*order, *others))
    assert found.ranking is not None and set(found.ranking.ranks) == {"ssd", "scrub", "salun"}
    rows = frames.overall(found)
    assert rows["Shown in"].tolist() == ["2 of 2"] * 3 + ["cheats"]


def test_a_line_is_marked_where_its_means_were_others():
    most = SLACK * SUITE.cap
    assert most == pytest.approx(0.35)

    def marks(work=0.1, **search):
        usual: dict[str, Any] = {"values": {}, "trials": 24, "cap": 1 / 3}
        setting = TunedSetting(**usual | search)
        return len([*board._marks(SUITE, line("ssd", (1.0,), work=work), setting)])

    assert [marks(0.348), marks(most + 0.001), marks(trials=100), marks(cap=0.5)] == [0, 1, 1, 1]
    assert marks(0.6, cap=1.0, open=True) == 2
