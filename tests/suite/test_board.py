"""The board: what may be called best, what stands where, and that its pages need nothing else."""

from dataclasses import replace
from typing import Any

import facts
import pytest
from builders import make_result
from facts import tells

from dashboard.frames.board import overall_sentence
from mucore.suite import board, description, ranks, scores, site
from mucore.suite.tables import Line, Table
from mucore.tuning.plan import SLACK
from mucore.verdicts import Verdict

SUITE = description.load("mucore-bench-1-quick")
TASK = SUITE.tasks[0]


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
    return Line(
        division="tuned",
        task=TASK,
        method=method,
        pack="p.zip",
        runs=runs,
        scores=dict(enumerate(scores)),
        **given,
    )


def table(*lines):
    best, alike = ranks.best_of([each for each in lines if each.group == "forgot"])
    return Table(
        division="tuned",
        task=TASK,
        metrics=("ra",),
        lines=lines,
        retrain=line("retrain", (0.0,)),
        original=line("original", (5.0,)),
        band={},
        floor=0.8,
        best=best,
        alike=alike,
    )


def test_best_is_said_only_where_the_paired_difference_excludes_zero():
    near, far = (1.0, 1.1, 0.9, 1.05, 0.95), (2.0, 2.2, 1.9, 2.1, 1.8)
    assert ranks.best_of([line("scrub", near), line("ssd", far)]) == ("scrub", ())
    # the same mean, paired or not: 1.0 and 1.04
    close = (1.2, 0.9, 1.1, 0.9, 1.1)
    assert ranks.best_of([line("scrub", near), line("ssd", close)]) == (None, ("scrub", "ssd"))
    assert ranks.best_of([line("scrub", near)]) == ("scrub", ())
    assert ranks.best_of([]) == (None, ())
    # one shared seed tells nothing, however far apart
    assert ranks.best_of([line("scrub", (1.0,)), line("ssd", (9.0,))]) == (None, ("scrub", "ssd"))
    # p is 0.049: enough beside one other method, and not beside two (Holm)
    other = (1.3, 1.2, 1.3, 1.1, 1.05)
    assert ranks.best_of([line("scrub", near), line("ssd", other)]) == ("scrub", ())
    two = [line("scrub", near), line("ssd", other), line("finetune", other)]
    assert ranks.best_of(two) == (None, ("scrub", "ssd", "finetune"))


def test_a_paired_p_by_hand():
    # differences 1, 2, 3: mean 2, s/sqrt(n) = 1/sqrt(3), t = 3.4641, 2 degrees of freedom
    one, other = {0: 1.0, 1: 2.0, 2: 3.0}, {0: 0.0, 1: 0.0, 2: 0.0}
    assert scores.paired_p(one, other) == pytest.approx(0.0742, abs=1e-4)
    assert scores.paired_p(one, one) == 1.0
    assert scores.paired_p({0: 1.0, 1: 2.0}, {0: 0.0, 1: 1.0}) == 0.0  # always the same distance


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


def test_no_method_is_best_for_seeds_that_another_lacks():
    # lower on average, and higher on both seeds that the other has
    uneven = line("ssd", (10.0, 10.1, 0.0, 0.0, 0.0)), line("scrub", (5.0, 5.11))
    assert table(*uneven).best is None and table(*uneven).alike == ("ssd", "scrub")
    assert table(line("ssd", (1.0, 1.1, 0.9)), line("scrub", (4.0, 4.11))).best == "ssd"


def test_a_board_without_a_method_is_one_that_nobody_ran_it_for():
    lines = [
        line("ssd", (1.0, 1.1, 0.9)),
        line("scrub", (4.0, 4.1, 4.2)),
        line("salun", (6.0, 6.1, 6.2)),
        line("fisher", (9.0, 9.1, 9.3), word="damaged"),
    ]
    tables = (table(*lines), table(*lines))
    whole = board._division("tuned", tables)
    assert board.without(whole, ()) == whole
    rest = board.without(whole, ["ssd", "nobody"])
    assert [each.best for each in rest.tables] == ["scrub", "scrub"]
    assert rest.forgot() == {"scrub": 2, "salun": 2, "fisher": 0}
    assert rest.ranking is not None
    assert rest.ranking.ranks == {"scrub": 1.0, "salun": 2.0, "fisher": 3.0}
    none = board.without(whole, ["ssd", "scrub", "salun", "fisher"])
    assert none.ranking is None and not any(each.lines or each.best for each in none.tables)


def test_a_method_of_two_packs_is_counted_once_a_table_and_is_not_ranked():
    rest = [line(name, (3.0 + place,) * 3) for place, name in enumerate(("salun", "ssd", "ct"))]
    twice = [line("scrub", (1.0,) * 3), replace(line("scrub", (2.0,) * 3), pack="q.zip")]
    # as many scores as tables, and both of one table
    whole = board._division("tuned", (table(*twice, *rest), table(*rest)))
    assert whole.forgot() == {"scrub": 1, "salun": 2, "ssd": 2, "ct": 2}
    assert whole.ranking is not None
    assert whole.ranking.ranks == {"salun": 1.0, "ssd": 2.0, "ct": 3.0}
    assert whole.doubled("scrub") == [TASK] and whole.doubled("ssd") == []
    assert [task for task, _ in whole.unscored("scrub")] == [TASK]
    # it did not run in the other one, so it is not among those that could forget in both
    assert whole.everywhere == ("salun", "ssd", "ct")
    assert facts.numbers(overall_sentence(whole)) == ["3", "3"]
    both = board._division("tuned", (table(*twice, *rest), table(*twice, *rest)))
    assert both.unscored("scrub") == [] and "packs" in site.unranked(both, "scrub")
    assert "4 of 4" in site.headline(both.tables[0])


def test_a_task_that_cannot_say_who_forgot_does_not_count_against_anybody():
    told = table(line("ssd", (1.0,) * 3), line("scrub", (4.0,) * 3, word="too little"))
    dark = table(
        line("ssd", (1.0,) * 3, word="cannot tell"), line("scrub", (4.0,) * 3, word="damaged")
    )
    assert (told.telling, dark.telling) == (True, False)
    # damage is seen anywhere, and a task that saw nothing else has spoken
    assert table(line("ssd", (1.0,) * 3, word="damaged")).telling
    both = board._division("tuned", (told, dark))
    rows = {row["method"]: (row["forgot"], row["of"]) for row in site.overall(both)}
    assert both.telling == (told,) and rows == {"ssd": (1, 1), "scrub": (0, 1)}
    assert tells(overall_sentence(both), "1 of 2 methods")
    apart = (table(line("ssd", (1.0,) * 3)), table(line("scrub", (1.0,) * 3)))
    assert facts.numbers(overall_sentence(board._division("tuned", apart))) == ["0"]
    alone = board._division("tuned", (dark,))
    assert {row["of"] for row in site.overall(alone)} == {0}
    assert tells(overall_sentence(alone), "No task")


def test_a_line_of_a_single_seed_is_no_methods_measure():
    full = {"scrub": 1.0, "ssd": 2.0, "salun": 3.0}
    lines = [line(name, [start + 0.01 * seed for seed in range(5)]) for name, start in full.items()]
    lucky = line("fisher", (0.5,))
    alone, beside = table(*lines), table(lucky, *lines)
    # on the only seed that both have scrub is farther, and one seed tells nothing
    assert alone.best == "scrub" and beside.best is None and beside.alike[0] == "scrub"
    whole = [line("fisher", (9.0,) * 5), *lines]
    found = board._division("tuned", (beside, replace(table(*whole), task=SUITE.tasks[1])))
    assert found.ranking is not None and set(found.ranking.ranks) == set(full)
    assert found.blocks == 10 and found.sparse("fisher") == [TASK] and found.sparse("ssd") == []
    assert site.unranked(found, "fisher") != "" and site.unranked(found, "scrub") == ""
    # while everybody has one seed, one is what there is
    assert table(line("scrub", (1.0,)), line("ssd", (2.0,))).alike == ("scrub", "ssd")


def test_ranks_and_counts_are_of_tasks_that_say_who_forgot():
    def told(task, *methods, word="forgot"):
        lines = [line(m, (1.0 + place,) * 5, word=word) for place, m in enumerate(methods)]
        return replace(table(*lines), task=task)

    first, second = told(SUITE.tasks[0], "scrub", "ssd", "ct"), told(SUITE.tasks[1], "scrub", "ssd")
    dark = told(SUITE.tasks[1], "ct", "ssd", "scrub", word="cannot tell")
    third = told(SUITE.tasks[1], "scrub", "ssd", "ct")
    found = board._division("tuned", (first, third, dark))
    assert found.ranking is not None and found.ranking.blocks == 2
    assert found.ranking.ranks == {"scrub": 1.0, "ssd": 2.0, "ct": 3.0}
    # a task that a method did not run in is none that it could have forgotten in
    rows = {row["method"]: row for row in site.overall(board._division("tuned", (first, second)))}
    assert {name: row["of"] for name, row in rows.items()} == {"scrub": 2, "ssd": 2, "ct": 1}
    # nor is a mean over fewer tasks one beside those over all
    assert (rows["scrub"]["score"], rows["ssd"]["score"], rows["ct"]["score"]) == (1.0, 2.0, None)


def test_what_forgot_by_indication_is_said_beside_what_forgot():
    unsure = Verdict(word="forgot", metric="", sentence="", shown=False, seeds=3)
    kept = replace(unsure, features="still know it", shown=True)
    lines = [
        line("ssd", (1.0,) * 3, verdict=unsure),
        replace(line("ssd", (1.1,) * 3), pack="q.zip"),  # another pack shows it
        line("scrub", (2.0,) * 3, verdict=unsure),
        line("salun", (3.0,) * 3, verdict=kept),
    ]
    found = table(*lines)
    assert found.unsure == {"scrub"}
    assert facts.numbers(site.headline(found))[:5] == ["3", "3", "2", "1", "1"]
    assert tells(site.headline(found), "2 shown", "1 by indication")
    both = board._division("tuned", (found, table(*lines[1:3])))
    assert [both.unsure(name) for name in ("ssd", "scrub", "salun")] == [0, 2, 0]
    # two that are shown in both or in one come before the one that is indicated in both
    order = [(row["method"], row["shown"], row["indicated"]) for row in site.overall(both)]
    assert order == [("ssd", 2, 0), ("salun", 1, 0), ("scrub", 0, 2)]
    assert facts.numbers(overall_sentence(both)) == ["2", "2"]


def test_the_baseline_that_cheats_stands_apart_whatever_its_numbers():
    cheat = Verdict(word="forgot", metric="", sentence="", shown=True, cheats=True)
    lines = [line("finetune", (0.1,) * 3, verdict=cheat), line("ssd", (1.0,) * 3)]
    order = sorted(lines, key=lambda each: each.place)
    assert [each.group for each in order] == ["forgot", "baseline"]
    found = table(*order)
    assert found.best == "ssd" and "1 of 1" in site.headline(found)
    others = [line(name, (2.0,) * 3) for name in ("scrub", "salun")]
    tables = [table(*order, *others), table(*order, *others)]
    ranking = ranks.ranking_of(tables)
    assert ranking is not None and set(ranking.ranks) == {"ssd", "scrub", "salun"}


def test_a_line_is_over_the_cap_where_a_search_would_have_refused_its_work():
    most = SLACK * SUITE.cap
    works = {"msg": 0.348, "scrub": 0.34, "ssd": most + 0.001}
    found = {
        name: board._marked(line(name, (1.0,), work=it), SUITE, {}) for name, it in works.items()
    }
    assert [name for name, each in found.items() if each.marks] == ["ssd"]
    assert works["scrub"] > SUITE.cap and most == pytest.approx(0.35)


def test_every_two_ranked_methods_are_tested_over_the_seeds_of_all_tasks():
    other = SUITE.tasks[1]
    rising = {"scrub": 1.0, "ssd": 2.0, "finetune": 3.5}
    first, second = (
        table(
            *(
                replace(line(method, [start + 0.01 * seed * start for seed in range(5)]), task=task)
                for method, start in rising.items()
            ),
            line("head_distillation", (0.1,) * 5, cheats=True),
        )
        for task in (TASK, other)
    )
    tables = (first, replace(second, task=other))
    ranking = ranks.ranking_of(tables)
    assert ranking is not None and set(ranking.ranks) == set(rising)
    pairs, blocks = ranks.pairs_of(tables, ranking)
    # ten differences of one sign: p is 2 / 2^10 before the correction for three pairs, and the two
    # tasks hold every difference twice
    assert blocks == 10 and {(p.first, p.second) for p in pairs} == {
        ("scrub", "ssd"),
        ("scrub", "finetune"),
        ("ssd", "finetune"),
    }
    assert [pair.p for pair in pairs] == pytest.approx([2 / 2**10] * 3)
    assert all(pair.p_holm == pytest.approx(3 * 2 / 2**10) for pair in pairs)
    made = board.Division(name="tuned", tables=tables, ranking=ranking, pairs=pairs, blocks=blocks)
    assert site.differing(made) == 3
    assert ranks.pairs_of(tables, None) == ((), 0)
