"""Trade-offs: the page on stores of every size, and its scores, front, ranks and agreement against
hand-computed numbers.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import partial

import pandas as pd
import pytest
from builders import make_result
from facts import tells
from pages import as_retrain, figures, fill, links, open_page, words_on

from dashboard.charts import trade_offs
from dashboard.frames import Estimate, Row
from dashboard.frames import tradeoffs as tradeoffs_frames
from dashboard.frames.tradeoffs import Scored
from mucore.store import open_store
from mucore.verdicts import Verdict, Word

opened = partial(open_page, "tradeoffs")
GOALS = ["ta", "fa", "mia_confidence", "rte"]
# TA gap, FA gap and confidence-MIA gap in points, RTE: b is nowhere worse than c; a, b and d trade
SCORES = {
    "a": (1.0, 10.0, 5.0, 0.1),
    "b": (2.0, 5.0, 5.0, 0.2),
    "c": (2.0, 6.0, 5.0, 0.2),
    "d": (9.0, 0.0, 9.0, 0.05),
}


def verdict(word: Word, *, shown: bool = True) -> Verdict:
    return Verdict(word=word, metric="fa", sentence="", shown=shown)


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
    assert tells(tradeoffs_frames.front_sentence(found), "A, B, D")
    frame = tradeoffs_frames.contest_frame(found)
    assert list(frame["Method"]) == ["A", "B", "D", "C", "Z"]
    assert list(frame["Verdict"]) == ["forgot"] * 4 + ["did nothing"] and frame[
        "Beaten by"
    ].tolist()[3:] == ["B", "does not compete"]
    assert frame["Distance (points)"].tolist() == ["0.0", "10.0", "30.0", "20.0", "90.0"]
    every = tradeoffs_frames.contest([*rows, idle], GOALS, everyone=True)
    assert {each.title for each in every.front} == {"D", "Z"} and every.beaten_by["b"] == ("z",)


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


def test_the_table_of_the_front_opens_on_the_noise(rows):
    noisy = replace(rows[0], noise={"ta": 0.5, "fa": 2.0})
    frame = tradeoffs_frames.contest_frame(tradeoffs_frames.contest([noisy, *rows[1:]], GOALS))
    first = frame.iloc[0]
    assert first["Method"] == "Retrain, 95 % band" and first["Seeds"] == 1
    assert (first["TA gap (points)"], first["FA gap (points)"]) == ("0.5", "2.0")
    assert first["MIA Conf gap (points)"] == first["RTE"] == ""
    assert len(frame) == 5


def test_a_limit_leaves_out_what_is_beyond_it_and_never_moves_the_front(rows):
    found = tradeoffs_frames.contest(rows, GOALS, {"fa": 6.0})
    assert found.over == ("A",) and found.beaten_by == {"b": (), "c": ("b",), "d": ()}
    assert tradeoffs_frames.contest(rows, GOALS, {"fa": 5.5}).over == ("A", "C")
    dear = tradeoffs_frames.contest(rows, GOALS, {}, {"fa": 5.5})
    # B is left out and still dominates C
    assert dear.over == ("B", "D") and dear.beaten_by == {"a": (), "c": ("b",)}
    assert list(tradeoffs_frames.contest_frame(dear)["Beaten by"]) == ["none", "B"]


# --- figures


def test_the_front_has_names_and_what_lies_outside_is_an_arrow(rows):
    far = row("y", (40.0, 60.0, 5.0, 3.0), word="damaged", distance=0.9)
    found = tradeoffs_frames.contest([*rows, far], GOALS)
    info = trade_offs.trade_offs_info(
        found, tradeoffs_frames.measure("fa"), tradeoffs_frames.measure("ta")
    )
    assert {(dot.title, dot.x, dot.y, dot.fate) for dot in info.dots} == {
        ("A", 10.0, 1.0, "forgot"),
        ("B", 5.0, 2.0, "forgot"),
        ("C", 6.0, 2.0, "forgot"),
        ("D", 0.0, 9.0, "forgot"),
        ("Y", 60.0, 40.0, "damaged"),
    }
    assert (info.retrain, info.original) == ((0.0, 0.0), (50.0, 0.5))
    assert info.front == ("key-a", "key-b", "key-d")
    # the front and the nearest three of five: 0 to 10 and 0 to 9, with 8 % of room
    figure = trade_offs.draw(info, dark=False)
    assert figure.layout.xaxis.range == pytest.approx((-0.4, 10.8))
    assert figure.layout.yaxis.range == pytest.approx((-0.36, 9.72))
    marks = {trace.name: trace for trace in figure.data}
    outside = marks["damaged"].marker
    assert (outside.symbol, outside.angle) == (("arrow",), (45.0,))
    assert (marks["damaged"].x, marks["damaged"].y) == ((10.8,), (9.72,))
    assert set(marks["forgot"].marker.symbol) == {"circle"}
    assert "Original" not in marks
    texts = [annotation.text for annotation in figure.layout.annotations]
    assert {"A", "B", "D", "Retrain"} <= {*texts} and "C" not in texts
    every = trade_offs.draw(info, dark=False, near=False)
    assert every.layout.xaxis.range[1] > 60 and "Original" in {t.name for t in every.data}
    cost = trade_offs.trade_offs_info(
        found, tradeoffs_frames.measure("rte"), tradeoffs_frames.measure("ta")
    )
    low, high = trade_offs.draw(cost, dark=True).layout.xaxis.range
    assert (low, high) == pytest.approx((math.log10(0.05 / 1.6), math.log10(0.2 * 1.6)))


# --- the page


def test_the_front_is_named_drawn_and_listed(home):
    fill(home, "full")
    with open_store(home) as store:
        as_retrain(store, "salun", "finetune")
    at = opened(scenario="one_class")
    frame = at.dataframe[0].value
    assert frame["Method"].tolist()[0] == "Retrain, 95 % band"
    frame = frame[1:]
    assert set(frame["Method"]) == {"Fine-tune", "Gradient ascent", "SalUn"}
    assert list(frame["Beaten by"] != "does not compete") == [
        word.startswith("forgot") for word in frame["Verdict"]
    ]
    assert len(at.get("plotly_chart")) == 1
    names = {trace.get("name") for trace in figures(at)[0]["data"]}
    assert "Retrain" in names and names & {"forgot", "forgot, indicated"}


def test_the_address_chooses_axes_goals_and_limits(home):
    fill(home, "full")
    tight = opened(scenario="one_class", max_forgetting="0.5")
    assert "Launch" in links(tight) and not tight.get("plotly_chart")
    assert tells(words_on(tight), "Outside a range", "Fine-tune, SalUn, Gradient ascent")
    loose = opened(scenario="one_class", x="rte", y="ra", privacy="none", max_forgetting="50")
    texts = [annotation["text"] for annotation in figures(loose)[0]["layout"]["annotations"]]
    assert any(text.startswith("RTE") for text in texts)
    assert any(text.startswith("RA gap") for text in texts)
    assert "MIA Conf gap (points)" not in loose.dataframe[0].value.columns


def test_ranks_agreement_and_tests_of_a_full_store(home):
    fill(home, "full")
    statistics_of = partial(open_page, "results", tab="statistics")
    ranks = statistics_of(view="ranks", metric="fa")
    texts = [annotation["text"] for annotation in figures(ranks)[0]["layout"]["annotations"]]
    assert any("SalUn" in text for text in texts) and any(
        text.startswith("critical difference") for text in texts
    )
    in_pairs = statistics_of(view="ranks", metric="fa", bars="wilcoxon")
    assert not in_pairs.exception
    texts = [annotation["text"] for annotation in figures(in_pairs)[0]["layout"]["annotations"]]
    assert not any(text.startswith("critical difference") for text in texts)
    agree = statistics_of(view="agreement", metrics=["ta", "fa", "rte"])
    assert figures(agree)[0]["layout"]["xaxis"]["ticktext"] == ["TA", "FA", "RTE"]
    tests = statistics_of(view="tests", metric="fa")
    assert len(tests.dataframe[0].value) == 3
