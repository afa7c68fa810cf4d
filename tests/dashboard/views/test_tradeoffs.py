"""Trade-offs: the page on stores of every size, and its scores, front, ranks and agreement against
hand-computed numbers.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from builders import full_results, make_result, make_spec_row
from facts import numbers, tells
from pages import figures, fill, links, open_page, words_on

from dashboard import theme
from dashboard.charts import goal_lines, pareto
from dashboard.frames import Estimate, Row
from dashboard.frames import tradeoffs as tradeoffs_frames
from dashboard.frames.tradeoffs import Scored
from dashboard.papers.tables import Published
from mucore import catalog
from mucore.statistics import statistics
from mucore.statistics.significance import average_ranks
from mucore.store import open_store
from mucore.verdicts import Verdict, Word

opened = partial(open_page, "tradeoffs")
VIEWS = ["front", "requests", "ranks", "agreement", "tests"]
GOALS = ["ta", "fa", "mia_confidence", "rte"]
# TA gap, FA gap and confidence-MIA gap in points, RTE: b is nowhere worse than c; a, b and d trade
SCORES = {
    "a": (1.0, 10.0, 5.0, 0.1),
    "b": (2.0, 5.0, 5.0, 0.2),
    "c": (2.0, 6.0, 5.0, 0.2),
    "d": (9.0, 0.0, 9.0, 0.05),
}


def verdict(word: Word, *, provisional: bool = False) -> Verdict:
    return Verdict(word=word, metric="fa", sentence="", provisional=provisional)


def row(
    name: str,
    scores: tuple[float | None, ...],
    *,
    word: Word = "forgot",
    distance: float = 0.1,
    status: str = "ok",
    reference: bool = False,
) -> Scored:
    line = Row(
        id=name,
        method=name,
        title=name.capitalize() if reference else name.upper(),
        family="reference" if reference else "teacher",
        preset="authors",
        parameters={},
        keys=(f"key-{name}",),
        training_seeds=(0,),
        unsound={status: 1} if status != "ok" else {},
        cells={},
        verdict=None if reference else verdict(word),
        distance=Estimate(distance, None, 1),
    )
    return Scored(line=line, scores=dict(zip(GOALS, scores, strict=True)))


@pytest.fixture
def rows() -> list[Scored]:
    return [
        row("retrain", (0.0, 0.0, 0.0, 1.0), reference=True),
        row("original", (0.5, 50.0, 40.0, None), reference=True),
        *(
            row(name, scores, distance=place / 10)
            for place, (name, scores) in enumerate(SCORES.items())
        ),
        row("e", (0.0, 0.0, 0.0, 0.01), status="diverged"),
        row("f", (0.0, 0.0, None, 0.01)),
    ]


# --- scores and the front


def test_scores_are_mean_absolute_gaps_of_training_seeds_in_the_screens_units():
    store = []
    for seed, (retrain, original, mine) in enumerate([(0.5, 0.9, 0.6), (0.5, 0.7, 0.3)]):
        store.append(
            make_result(method="retrain", training_seed=seed, metrics={"fa": retrain, "rte": 1.0})
        )
        store.append(make_result(method="original", training_seed=seed, metrics={"fa": original}))
        store.append(
            make_result(
                method="salun",
                training_seed=seed,
                metrics={"fa": mine, "rte": 0.1 + 0.2 * seed},
                gaps={"fa": mine - 0.5},
            )
        )
    summaries, values = frames_of(store)
    found = {
        each.title: each for each in tradeoffs_frames.scored(summaries, values, ["fa", "rte", "ta"])
    }
    # |+10| and |−20|
    assert found["SalUn"].scores == {
        "fa": pytest.approx(15.0),
        "rte": pytest.approx(0.2),
        "ta": None,
    }
    # 40 and 20 points above Retrain, though stored without a gap
    assert found["Original"].scores["fa"] == pytest.approx(30.0)
    assert found["Retrain"].scores["fa"] == 0.0 and found["Retrain"].line.reference
    assert found["SalUn"].seeds == 2 and not found["SalUn"].line.unsound


def frames_of(results) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Summaries and values as the store would give them."""
    summaries = pd.DataFrame(
        [
            {
                "key": r.key,
                "method": r.spec["method"],
                "method_preset": r.spec["method_preset"],
                "parameters": json.dumps(r.spec["parameters"]),
                "status": r.status,
                **{
                    name: r.spec[name]
                    for name in ("training_seed", "unlearning_seed", "evaluation_seed")
                },
            }
            for r in results
        ]
    )
    values = [
        (r.key, name, m.value, m.gap, m.error) for r in results for name, m in r.metrics.items()
    ]
    return summaries, pd.DataFrame(values, columns=["key", "metric", "value", "gap", "error"])


def test_who_beats_whom(rows):
    found = tradeoffs_frames.contest(rows, GOALS)
    assert found.beaten_by == {"a": (), "b": (), "c": ("b",), "d": ()}
    assert [each.title for each in found.front] == ["A", "B", "D"] and found.place(
        found.entrants[2]
    ) == "forgot; beaten by B"
    assert found.incomplete == ("F",) and found.unsound == ("E (diverged)",) and found.over == ()
    rough = tradeoffs_frames.contest(
        [*rows, row("g", (0.0, 0.0, 0.0, 0.0), status="unsolved")], GOALS
    )
    assert rough.beaten_by == found.beaten_by and rough.unsound == (*found.unsound, "G (unsolved)")
    equal = tradeoffs_frames.contest([row("x", SCORES["a"]), row("y", SCORES["a"])], GOALS)
    assert equal.beaten_by == {"x": (), "y": ()}  # equal in everything: neither is better


def test_what_did_nothing_competes_only_where_a_reader_lets_it(rows):
    """Z keeps everything and costs nothing: it would beat B and C, and nothing would beat it."""
    idle = row("z", (0.0, 5.0, 5.0, 0.001), word="did nothing", distance=0.9)
    found = tradeoffs_frames.contest([*rows, idle], GOALS)
    assert found.competing == {"a", "b", "c", "d"} and [each.title for each in found.aside] == ["Z"]
    assert [each.title for each in found.front] == ["A", "B", "D"]
    assert found.place(idle) == "did nothing: does not compete"
    sentence = tradeoffs_frames.front_sentence(found)
    assert (
        "4 methods that forgot" in sentence
        and "these 3: A, B, D." in sentence
        and "Z" not in sentence
    )
    frame = tradeoffs_frames.contest_frame(found)
    assert list(frame["Method"]) == ["A", "B", "D", "C", "Z"]
    assert list(frame["Verdict"]) == ["forgot"] * 4 + ["did nothing"] and frame[
        "Beaten by"
    ].tolist()[3:] == ["B", "does not compete"]
    assert frame["Distance (points)"].tolist() == ["0.0", "10.0", "30.0", "20.0", "90.0"]
    points = {
        point.title: point
        for point in pareto.pareto_info(
            found, tradeoffs_frames.measure("fa"), tradeoffs_frames.measure("ta")
        ).points
    }
    assert points["Z"].competes is False and points["Z"].front is False and points["C"].competes
    every = tradeoffs_frames.contest([*rows, idle], GOALS, everyone=True)
    assert {each.title for each in every.front} == {"D", "Z"} and every.beaten_by["b"] == ("z",)
    said = tradeoffs_frames.front_sentence(every)
    assert tells(said, "5 methods", "these 2", "1 did nothing")


def test_a_baseline_that_cheats_competes_nowhere(rows):
    cheat = row("g", (0.0, 0.0, 0.0, 0.01))  # better than all others in everything
    said = replace(verdict("forgot"), cheats=True)
    cheat = replace(cheat, line=replace(cheat.line, verdict=said, family="baseline"))
    for everyone in (False, True):
        found = tradeoffs_frames.contest([*rows, cheat], GOALS, everyone=everyone)
        assert cheat.row not in found.competing and cheat in found.aside
        assert all(cheat.row not in beaters for beaters in found.beaten_by.values())
    frame = tradeoffs_frames.contest_frame(found).set_index("Method")
    assert frame.loc["G", "Verdict"] == "forgot (cheats)"
    info = pareto.pareto_info(found, tradeoffs_frames.measure("fa"), tradeoffs_frames.measure("ta"))
    marks = [t for t in pareto.draw(info, dark=False).data if t.name == "Baseline that cheats"]
    assert marks and all(
        symbol.endswith("-open") for trace in marks for symbol in np.ravel(trace.marker.symbol)
    )


def test_the_table_of_the_front_opens_on_the_noise(rows):
    noisy = replace(rows[0], noise={"ta": 0.5, "fa": 2.0})
    frame = tradeoffs_frames.contest_frame(tradeoffs_frames.contest([noisy, *rows[1:]], GOALS))
    first = frame.iloc[0]
    assert first["Method"] == "Retrain, other seeds" and first["Seeds"] == 1
    assert (first["TA gap (points)"], first["FA gap (points)"]) == ("0.5", "2.0")
    assert first["MIA Conf gap (points)"] == first["RTE"] == ""
    assert len(frame) == 5


def test_the_sentence_of_a_front_that_is_empty_or_lone():
    words: list[Word] = ["did nothing", "damaged", "too much"]
    none = tradeoffs_frames.contest([row(word, SCORES["a"], word=word) for word in words], GOALS)
    assert none.front == () and tradeoffs_frames.front_sentence(none).startswith(
        "No method qualifies here."
    )
    beyond = tradeoffs_frames.contest(
        [row("a", SCORES["a"]), row("z", SCORES["b"], word="damaged")], GOALS, {"fa": 6.0}
    )
    assert "lie outside the ranges below" in tradeoffs_frames.front_sentence(beyond)
    alone = tradeoffs_frames.contest(
        [row("a", SCORES["a"]), row("z", SCORES["b"], word="damaged")], GOALS
    )
    assert tradeoffs_frames.front_sentence(alone).startswith("Only A forgot")
    best = tradeoffs_frames.contest([row("b", SCORES["b"]), row("c", SCORES["c"])], GOALS)
    said = tradeoffs_frames.front_sentence(best)
    assert [each.title for each in best.front] == ["B"]
    assert tells(said, "2 methods that forgot", "B beats every other") and "C" not in said
    both = tradeoffs_frames.contest([row("a", SCORES["a"]), row("b", SCORES["b"])], GOALS)
    assert [each.title for each in both.front] == ["A", "B"]
    said = tradeoffs_frames.front_sentence(both)
    assert tells(said, "2 methods that forgot", "none", "A, B")
    # forgot, too, so that none may be said to be all of them
    unknown = row("c", (None, 0.0, 0.0, 0.0))
    for others in ([row("a", SCORES["a"])], [row("a", SCORES["a"]), row("b", SCORES["b"])]):
        lacking = tradeoffs_frames.contest([*others, unknown], GOALS)
        assert len(lacking.competing) == len(
            others
        ) and "can be compared here" in tradeoffs_frames.front_sentence(lacking)


def test_a_front_says_whose_features_still_know(rows):
    """B has the best output of all, and what it should have forgotten can be read from within."""

    def knowing(each):
        judged = replace(each.line.verdict, features="still know it")
        return replace(each, line=replace(each.line, verdict=judged))

    a, b, *others = rows[2:]
    said = tradeoffs_frames.front_sentence(
        tradeoffs_frames.contest([a, knowing(b), *others], GOALS)
    )
    assert tells(said, "these 3", "A, B, D", "The features of B still know")
    lone = tradeoffs_frames.front_sentence(tradeoffs_frames.contest([knowing(b)], GOALS))
    assert tells(lone, "Only B", "Its features still know")
    idle = row("z", SCORES["b"], word="did nothing")
    alone = tradeoffs_frames.front_sentence(tradeoffs_frames.contest([idle], GOALS, everyone=True))
    assert tells(alone, "Only Z", "But it did nothing")


def test_a_limit_leaves_out_what_is_beyond_it_and_never_moves_the_front(rows):
    found = tradeoffs_frames.contest(rows, GOALS, {"fa": 6.0})
    assert found.over == ("A",) and found.beaten_by == {"b": (), "c": ("b",), "d": ()}
    assert tradeoffs_frames.contest(rows, GOALS, {"fa": 5.5}).over == ("A", "C")
    dear = tradeoffs_frames.contest(rows, GOALS, {}, {"fa": 5.5})
    # B is left out and still dominates C
    assert dear.over == ("B", "D") and dear.beaten_by == {"a": (), "c": ("b",)}
    assert list(tradeoffs_frames.contest_frame(dear)["Beaten by"]) == ["none", "B"]


def test_the_lines_leave_with_their_numbers_and_references(rows):
    frame = tradeoffs_frames.lines_frame(tradeoffs_frames.contest(rows, GOALS)).set_index("Method")
    assert frame.loc["C", "FA gap (points)"] == 6.0 and frame["Beaten"].to_dict()["C"] == "yes"
    assert (
        frame.loc["Retrain", "Beaten"] == ""
        and frame.loc["A", "Beaten"] == "no"
        and frame.loc["A", "Verdict"] == "forgot"
    )


def test_fewer_goals_make_another_front(rows):
    found = tradeoffs_frames.contest(rows, ["ta", "fa"])
    # with no privacy goal it is complete, and ideal in both
    assert "F" in [each.title for each in found.front]
    assert found.beaten_by["a"] == ("f",)


def test_the_fronts_table_names_who_beats_whom(rows):
    frame = tradeoffs_frames.contest_frame(tradeoffs_frames.contest(rows, GOALS))
    assert list(frame["Method"]) == ["A", "B", "D", "C"]
    assert list(frame["Beaten by"]) == ["none", "none", "none", "B"]
    assert list(frame.columns[4:8]) == [
        "TA gap (points)",
        "FA gap (points)",
        "MIA Conf gap (points)",
        "RTE",
    ]
    assert frame.loc[2, "TA gap (points)"] == "9.0" and frame.loc[2, "RTE"] == "0.050"


def test_measures_say_unit_and_direction():
    forgetting = tradeoffs_frames.measure("fa").axis
    assert tells(forgetting, "FA gap to Retrain", "either way", "points", "less is better")
    assert tradeoffs_frames.measure("rte").axis == "RTE (log): less is better"
    assert tradeoffs_frames.measure("agl").axis == "AGL, %: more is better"
    assert tradeoffs_frames.measure("peak_memory_bytes").text(12.0) == "12"
    for metrics in tradeoffs_frames.GOALS.values():
        for name in metrics:
            how = tradeoffs_frames.measure(name)
            assert not how.high and tradeoffs_frames.LIMITS[how.unit][-1] == tradeoffs_frames.ANY


def test_the_papers_places_are_absolute_gaps():
    paper = Published(
        {("salun", "fa"): 0.4, ("salun", "rte"): 0.3, ("retrain", "rte"): 1.0},
        {("salun", "fa"): -0.02},
        "caption",
    )
    x, y = tradeoffs_frames.measure("fa"), tradeoffs_frames.measure("rte")
    assert tradeoffs_frames.paper_places(paper, x, y) == [("SalUn", pytest.approx(2.0), 0.3)]
    assert tradeoffs_frames.paper_places(paper, x, tradeoffs_frames.measure("ta")) == []


# --- figures


def test_pareto_info_and_figure(rows):
    found = tradeoffs_frames.contest(rows, GOALS)
    x, y = tradeoffs_frames.measure("fa"), tradeoffs_frames.measure("ta")
    info = pareto.pareto_info(found, x, y, "rte", [("Paper's", 3.0, 4.0)])
    assert {(p.title, p.x, p.y, p.front) for p in info.points} == {
        ("A", 10.0, 1.0, True),
        ("B", 5.0, 2.0, True),
        ("C", 6.0, 2.0, False),
        ("D", 0.0, 9.0, True),
    }
    assert {p.title: p.share for p in info.points} == {
        "A": pytest.approx(0.5),
        "B": 1.0,
        "C": 1.0,
        "D": pytest.approx(0.25),
    }
    assert info.references == (("Retrain", 0.0, 0.0), ("Original", 50.0, 0.5))
    # 0 to 10 and 0 to 9, and 8 % on either side
    assert info.window == (pytest.approx((-0.8, 10.8)), pytest.approx((-0.72, 9.72)))
    assert info.outside == (("Original", x, 50.0),)
    assert info.front == ("A", "B", "D")
    figure = pareto.draw(info, dark=False, selected="key-c")
    assert figure.layout.xaxis.title.text == x.axis and figure.layout.xaxis.type == "linear"
    (marks,) = [
        trace
        for trace in figure.data
        if trace.customdata is not None and trace.name == catalog.FAMILIES["teacher"]
    ]
    drawn = {each[1]: place for place, each in enumerate(marks.customdata)}
    sizes = [marks.marker.size[drawn[name]] for name in "ABD"]
    # the area follows cost, down to a size
    assert sizes == [pytest.approx(pareto.LARGEST / 2**0.5), pareto.LARGEST, pareto.SMALLEST]
    # the small ones in front
    assert list(marks.marker.size) == sorted(marks.marker.size, reverse=True)
    assert {name: marks.marker.symbol[place] for name, place in drawn.items()} == {
        **dict.fromkeys("ABD", "circle"),
        "C": "circle-open",  # B beats it
    }
    assert [trace.customdata for trace in figure.data if trace.name == "Paper"] == [("Paper's",)]
    # selected, and so named
    assert "C" in {annotation.text for annotation in figure.layout.annotations}
    assert "A, B, D" in pareto.alt_text(info)


def test_a_mark_that_does_not_compete_is_grey_and_open(rows):
    found = tradeoffs_frames.contest([*rows, row("z", (0.0, 5.0, 5.0, 0.1), word="damaged")], GOALS)
    figure = pareto.draw(
        pareto.pareto_info(found, tradeoffs_frames.measure("fa"), tradeoffs_frames.measure("ta")),
        dark=False,
    )
    (marks,) = [trace for trace in figure.data if trace.customdata is not None]
    drawn = {each[1]: place for place, each in enumerate(marks.customdata)}
    assert (
        marks.marker.color[drawn["Z"]]
        == theme.ground(False).muted
        != marks.marker.color[drawn["C"]]
    )
    assert (
        marks.marker.symbol[drawn["Z"]] == "circle-open"
        and marks.customdata[drawn["Z"]][2] == "damaged: does not compete"
    )


def test_lines_run_from_best_to_worst_with_cost_in_powers(rows):
    info = goal_lines.goal_lines_info(tradeoffs_frames.contest(rows, GOALS))
    heights = {line.title: line.heights for line in info.lines}
    # Original has no RTE and so no line
    assert info.ends == ((0.0, 9.0), (0.0, 10.0), (0.0, 9.0), (0.05, 1.0))
    assert heights["A"] == pytest.approx((1 / 9, 1.0, 5 / 9, math.log(2) / math.log(20)))
    assert heights["D"] == pytest.approx((1.0, 0.0, 1.0, 0.0))
    assert [line.title for line in info.references] == ["Retrain"] and info.references[
        0
    ].heights == (0.0, 0.0, 0.0, 1.0)
    figure = goal_lines.draw(info, dark=True)
    assert len(figure.data) == 5 and {"A", "B", "D", "Retrain"} <= {
        a.text for a in figure.layout.annotations
    }
    assert "C" not in {a.text for a in figure.layout.annotations}
    assert "A, B, D" in goal_lines.alt_text(info)
    # by the sum of heights, the lowest first
    assert [line.title for line in info.named()] == ["B", "A", "D"]
    assert info.named("key-c")[0].title == "C"


def test_names_beside_the_lines_keep_apart():
    moved = goal_lines._apart([0.0, 0.01, 0.02, 0.9], gap=0.1)
    assert moved == pytest.approx([0.0, 0.1, 0.2, 0.9])
    top = goal_lines._apart([1.0, 1.0, 1.0], gap=0.1)
    assert sorted(top) == pytest.approx([0.84, 0.94, 1.04])
    assert goal_lines._apart([]) == []


def test_no_method_wins_that_cannot_be_told_from_the_next_or_never_forgot():
    """Ranks 1, 2 and 3 in every block: CD is 3.314 / 2 ** 0.5 * sqrt(3 * 4 / (6 * blocks)), 1.05
    for ten blocks and 0.74 for twenty.
    """

    def said(blocks: int, forgot: int) -> str:
        scores = {
            name: [float(place)] * blocks for place, name in enumerate(["salun", "ssd", "scrub"])
        }
        ranking = average_ranks(scores)
        assert ranking.alike == (("ssd",) if blocks == 10 else ())
        return tradeoffs_frames.ranks_sentence(
            "fa", ranking, {"salun": forgot, "ssd": 1, "scrub": 1}
        )

    assert tells(said(10, 9), "forget accuracy", "no winner", 1, "other 2 methods")
    won = said(20, 9)
    assert tells(won, "forget accuracy", "SalUn", "first", "3 methods", "20 scenarios", 9)
    assert "no winner" not in won and numbers(won) == ["3", "20", "9"]
    assert "there is no winner" in said(20, 0) and said(20, 0).endswith("forgot in none of them.")
    tied = average_ranks({"salun": [0.0, 1.0], "ssd": [1.0, 0.0], "scrub": [0.5, 0.5]})
    assert "chance alone" in tradeoffs_frames.ranks_sentence(
        "ta", tied, dict.fromkeys(tied.ranks, 2)
    )


# --- ranks, agreement and tests in words


def test_the_largest_disagreement_in_words():
    tau = pd.DataFrame([[1.0, -0.6], [-0.6, 1.0]], index=["ta", "fa"], columns=["ta", "fa"])
    rows = pd.DataFrame([("one", "ta", "fa", -0.7, 0.1, 5), ("two", "ta", "fa", -0.5, 0.1, 7)])
    rows.columns = ["setting", "first", "second", "tau", "p", "methods"]
    basis = ("5 to 7 methods", "2 forget sets")
    said = tradeoffs_frames.disagreement_text(tau, rows)
    assert tells(said, "TA and FA", "opposite", "−0.60", *basis)
    said = tradeoffs_frames.disagreement_text(tau.abs(), rows)
    assert tells(said, "No two", "TA and FA", "least", "0.60", *basis) and "−" not in said
    assert tradeoffs_frames.extremes(tau.mask(tau < 0)) is None
    assert tradeoffs_frames.disagreement_text(tau.mask(tau < 0), rows) == ""
    costs = tau.rename(index={"fa": "rte"}, columns={"fa": "rte"})
    assert tradeoffs_frames.extremes(costs) is None


def test_pairs_stand_with_the_better_method_first():
    results = []
    for seed in range(3):
        results.append(make_result(method="retrain", training_seed=seed, metrics={"fa": 0.5}))
        for method, gap in (("salun", 0.01), ("finetune", -0.2), ("ssd", 0.01)):
            results.append(
                make_result(
                    method=method, training_seed=seed, metrics={"fa": 0.5 + gap}, gaps={"fa": gap}
                )
            )
    summaries, values = frames_of(results)
    first = results[0].spec
    summaries = summaries.assign(
        hashes="",
        dataset="digits",
        model="mlp",
        recipe="{}",
        scenario="one_class",
        scenario_parameters=json.dumps(first["scenario_parameters"]),
    )
    found = statistics(summaries, values, metric="fa", agreement=["fa"])
    frame = tradeoffs_frames.pairs_frame(found, {"salun": 1, "finetune": 0, "ssd": 1})
    assert set(zip(frame["Better"], frame["Better forgot in"], strict=True)) >= {
        ("SalUn", "1 of 1")
    }
    pairs = {
        (a, b): (d, p, said)
        for a, b, d, p, said in frame[
            ["Better", "Worse", frame.columns[3], "p", "Differ"]
        ].itertuples(index=False)
    }
    assert tells(frame.columns[3], "Median", "FA gap", "points")
    # three seeds: p = 2 / 2³
    assert pairs["SalUn", "Fine-tune"] == (pytest.approx(19.0), pytest.approx(0.25), "not shown")
    (same,) = [value for names, value in pairs.items() if set(names) == {"SalUn", "SSD"}]
    assert same == (0.0, 1.0, "equal")
    assert set(frame["Blocks"]) == {3}


def test_lines_of_the_statistics_get_titles():
    assert (
        tradeoffs_frames.line_title("salun (tuned)") == "SalUn (tuned)"
        and tradeoffs_frames.line_family("salun (tuned)") == "sparsity"
    )
    assert tradeoffs_frames.line_title("no_such_method") == "no_such_method"


# --- the page


@pytest.mark.parametrize("amount", ["empty", "one", "full"])
@pytest.mark.parametrize("view", VIEWS)
def test_page_opens(home, view, amount):
    fill(home, amount)
    at = opened(view=view)
    assert not at.exception and not at.error
    assert at.title[0].value.endswith("?")
    if amount != "full":
        assert not at.get("plotly_chart")
        assert any(link.proto.label.startswith("Launch") for link in at.get("page_link"))


def test_the_front_is_named_drawn_and_listed(home):
    fill(home, "full")
    at = opened(scenario="one_class")
    assert tells(words_on(at), "2 methods that forgot") and tells(words_on(at), "2 seeds")
    frame = at.dataframe[0].value
    assert frame["Method"].tolist()[0] == "Retrain, other seeds"
    frame = frame[1:]
    assert set(frame["Method"]) == {"Fine-tune", "Gradient ascent", "SalUn"}
    assert list(frame["Beaten by"] != "does not compete") == [
        word.startswith("forgot") for word in frame["Verdict"]
    ]
    assert [box.label for box in at.expander if "Numbers" in box.label] == [
        "Numbers: the scatter",
        "Numbers: every goal at once",
    ]
    assert (
        figures(at)[0]["layout"]["xaxis"]["title"]["text"].startswith("FA gap")
        and len(at.get("plotly_chart")) == 2
    )
    assert {"Retrain", "Original"} <= {trace.get("name") for trace in figures(at)[0]["data"]}


def test_a_switch_lets_every_line_compete(home):
    fill(home, "full")
    at = opened(scenario="one_class")
    at.toggle[0].set_value(True).run()
    assert at.query_params["compete"] == "1"
    frame = at.dataframe[0].value
    front = [
        name for name, by in zip(frame["Method"], frame["Beaten by"], strict=True) if by == "none"
    ]
    assert front and "does not compete" not in set(frame["Beaten by"])
    assert "But of these" in words_on(at) or len(front) == 1


def test_the_address_chooses_axes_goals_and_limits(home):
    fill(home, "full")
    tight = opened(scenario="one_class", max_forgetting="0.5")
    assert "Launch" in links(tight) and not tight.get("plotly_chart")
    assert tells(words_on(tight), "No method", "left")
    assert tells(words_on(tight), "Outside a range", "Fine-tune, SalUn, Gradient ascent")
    loose = opened(
        scenario="one_class", x="rte", y="ra", privacy="none", max_forgetting="50", paper="1"
    )
    axes = figures(loose)[0]["layout"]
    assert axes["xaxis"]["type"] == "log" and axes["yaxis"]["title"]["text"].startswith("RA gap")
    assert "MIA Conf gap (points)" not in loose.dataframe[0].value.columns
    assert "MUBox Table 1" in words_on(loose) and "Paper" in {
        trace.get("name") for trace in figures(loose)[0]["data"]
    }


def test_one_goal_is_no_trade_off(home):
    fill(home, "full")
    at = opened(scenario="one_class", utility="none", privacy="none", cost="none")
    assert "two goals at least" in words_on(at) and not at.get("plotly_chart")
    (link,) = [one for one in at.get("page_link") if one.proto.label == "Launch"]
    assert (
        "dataset=digits&model=mlp" in link.proto.query_string
        and "scenarios=one_class" in link.proto.query_string
    )


def test_a_foreign_address_falls_back(home):
    fill(home, "full")
    for view in ("nowhere", *VIEWS):
        at = opened(
            view=view,
            x="q",
            y="q",
            metric="q",
            metrics=["q"],
            utility="rte",
            max_cost="7",
            run="gone",
            scenario="q",
            set="q",
            comparison="9",
        )
        assert not at.exception and not at.error


def test_a_run_in_the_address_opens_its_drawer(home):
    fill(home, "full")
    key = make_spec_row(method="salun").key
    at = opened(scenario="one_class", run=key)
    assert any(
        "SalUn, training seed 0" in one.value for one in at.subheader
    ) and "--methods salun" in words_on(at)
    next(button for button in at.button if button.label == "Close").click().run()
    assert "run" not in at.query_params


def test_a_slider_moves_the_address(home):
    fill(home, "full")
    at = opened()
    at.select_slider[3].set_range("0", "1").run()
    assert at.query_params["max_cost"] == "1" and "min_cost" not in at.query_params
    at.select_slider[3].set_range("0.5", "1").run()
    assert at.query_params["min_cost"] == "0.5" and at.select_slider[3].value == ("0.5", "1")
    at.query_params["max_cost"] = "any"  # a link moved the address
    at.run()
    assert at.select_slider[3].value == ("0.5", "any")
    # ends that cross mean nothing
    assert opened(min_cost="1", max_cost="0.1").select_slider[3].value == ("0", "any")


def test_ranks_need_several_scenarios(home):
    store = open_store(home)
    for result in full_results(scenarios=("one_class",), seeds=(0,)):
        store.put_result(result)
    store.close()
    at = opened(view="ranks")
    assert tells(words_on(at), "three methods", "two scenarios") and not at.get("plotly_chart")
    tests = opened(view="tests")
    assert "No paired test" in words_on(tests)


def test_ranks_agreement_and_tests_of_a_full_store(home):
    fill(home, "full")
    ranks = opened(view="ranks", metric="fa")
    assert "there is no winner" in words_on(ranks) and "over 2 forget sets" in words_on(ranks)
    texts = [annotation["text"] for annotation in figures(ranks)[0]["layout"]["annotations"]]
    assert any("SalUn" in text for text in texts) and any(
        text.startswith("critical difference") for text in texts
    )
    in_pairs = opened(view="ranks", metric="fa", bars="wilcoxon")
    assert not in_pairs.exception and "0 of 3" in words_on(in_pairs)  # too few blocks for any
    texts = [annotation["text"] for annotation in figures(in_pairs)[0]["layout"]["annotations"]]
    assert not any(text.startswith("critical difference") for text in texts)
    agree = opened(view="agreement", metrics=["ta", "fa", "rte"])
    assert figures(agree)[0]["layout"]["xaxis"]["ticktext"] == ["TA", "FA", "RTE"]
    assert "rank methods" in words_on(agree)
    tests = opened(view="tests", metric="fa")
    assert len(tests.dataframe[0].value) == 3 and "of 3" in words_on(tests)


@pytest.mark.parametrize("view", VIEWS)
def test_the_demo_fills_every_view(demo_home, view):
    at = opened(view=view)
    assert not at.exception and not at.error
    assert at.get("plotly_chart") or view == "tests"
    assert at.dataframe


def test_a_default_that_nobody_chose_follows_what_there_is(home):
    """Seven methods in one scenario and more in another: the filter shows all of each, and the
    address stays silent.
    """
    store = open_store(home)
    for result in [
        *full_results(scenarios=("one_class",), seeds=(0,)),
        *full_results(
            scenarios=("class_wise",),
            methods=("finetune", "salun", "ssd", "scrub", "gradient_ascent"),
            seeds=(0,),
        ),
    ]:
        store.put_result(result)
    store.close()
    at = opened(scenario="one_class")
    assert len(at.dataframe[0].value) == 3
    next(box for box in at.selectbox if box.label == "Scenario").select("class_wise").run()
    assert "methods" not in at.query_params
    assert len(at.dataframe[0].value) == 5


@pytest.mark.parametrize("view", ["front", "ranks", "agreement", "tests"])
def test_without_a_method_the_page_says_where_to_tick_one(home, view):
    fill(home, "full")
    at = opened(view=view, methods="")
    assert not at.exception and not at.error
    assert "Tick one under Methods" in words_on(at)
