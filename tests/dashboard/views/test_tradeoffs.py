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
from pages import as_retrain, figures, fill, open_page

from dashboard.charts import trade_offs
from dashboard.frames import Estimate, Row, metric_rows
from dashboard.frames import tradeoffs as tradeoffs_frames
from dashboard.frames.tradeoffs import Front
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
    name: str, *, said: Verdict, distance: float = 0.1, status: str = "ok", reference: bool = False
) -> Row:
    return Row(
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
        verdict=None if reference else said,
        distance=Estimate(distance, None, 1),
    )


FORGOT = verdict("forgot")
REFERENCES = [row(name, said=FORGOT, reference=True) for name in ("retrain", "original")]
ROWS = [
    *REFERENCES,
    *(row(name, said=FORGOT, distance=place / 10) for place, name in enumerate(SCORES)),
    row("e", said=FORGOT, status="diverged"),
    row("f", said=FORGOT),
]
SCORED = pd.DataFrame.from_dict(
    {
        "retrain": (0.0, 0.0, 0.0, 1.0),
        "original": (0.5, 50.0, 40.0, math.nan),
        **SCORES,
        "e": (0.0, 0.0, 0.0, 0.01),
        "f": (0.0, 0.0, math.nan, 0.01),
    },
    orient="index",
    columns=GOALS,
)


def contest(other: Row | None = None, *scores: float) -> tuple[Front, pd.DataFrame]:
    """The front of `ROWS` and one `other`, and all scores."""
    scored = SCORED.copy()
    if other is not None:
        scored.loc[other.id] = scores
    rows = [*ROWS, *([other] if other is not None else [])]
    return tradeoffs_frames.front(rows, scored, GOALS), scored


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
    rows = metric_rows(summaries, values, ())
    found = tradeoffs_frames.scores(rows, summaries, values, ["fa", "rte", "ta"])
    found.index = [each.title for each in rows]
    # |+10| and |−20|
    assert found.loc["SalUn", ["fa", "rte"]].tolist() == pytest.approx([15.0, 0.2])
    assert found["ta"].isna().all()
    # 40 and 20 points above Retrain, though stored without a gap
    assert found.loc[["Original", "Retrain"], "fa"].tolist() == pytest.approx([30.0, 0.0])


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


def test_who_beats_whom():
    found, _ = contest()
    assert found.beaten == {"a": [], "b": [], "c": ["B"], "d": []}
    assert [each.title for each in found.leaders] == ["A", "B", "D"]
    assert [*found.left_out.values()] == [["F"], [], ["E (diverged)"]]
    equal = SCORED.rename(index={"b": "x", "c": "y"}).assign(**dict.fromkeys(GOALS, 1.0))
    two = [row(name, said=FORGOT) for name in "xy"]
    # equal in everything: neither is better
    assert tradeoffs_frames.front(two, equal, GOALS).beaten == {"x": [], "y": []}


@pytest.mark.parametrize(
    "said", [verdict("did nothing"), replace(verdict("forgot"), cheats=True)], ids=["idle", "cheat"]
)
def test_what_does_nothing_or_cheats_does_not_compete(said):
    """Z keeps everything and costs nothing: it would beat B and C, and nothing would beat it."""
    found, scored = contest(row("z", said=said, distance=0.9), 0.0, 5.0, 5.0, 0.001)
    assert set(found.beaten) == {"a", "b", "c", "d"}
    assert tells(tradeoffs_frames.front_sentence(found), "A, B, D")
    frame = tradeoffs_frames.front_frame(found, scored)
    assert list(frame["Method"]) == ["A", "B", "D", "C", "Z"]
    assert frame["Beaten by"].tolist()[3:] == ["B", "does not compete"]
    assert frame["Distance (points)"].tolist() == ["0.0", "10.0", "30.0", "20.0", "90.0"]
    assert frame["FA gap (points)"].tolist() == ["10.0", "5.0", "0.0", "6.0", "5.0"]


# --- figures


def test_the_front_has_names_and_what_lies_outside_is_an_arrow():
    found, scored = contest(row("y", said=verdict("damaged"), distance=0.9), 40.0, 60.0, 5.0, 3.0)
    fa, ta, rte = (tradeoffs_frames.measure(name) for name in ("fa", "ta", "rte"))
    # the front and the nearest three of five: 0 to 10 and 0 to 9, with 8 % of room
    figure = trade_offs.draw(found, fa, ta, scored, REFERENCES, dark=False)
    assert figure.layout.xaxis.range == pytest.approx((-0.4, 10.8))
    assert figure.layout.yaxis.range == pytest.approx((-0.36, 9.72))
    marks = {trace.name: trace for trace in figure.data}
    outside = marks["damaged"].marker
    assert (outside.symbol, outside.angle) == (("arrow",), (45.0,))
    assert (marks["damaged"].x, marks["damaged"].y) == ((10.8,), (9.72,))
    forgot = marks["forgot"]
    assert set(zip(forgot.x, forgot.y, strict=True)) == {(10, 1), (5, 2), (6, 2), (0, 9)}
    assert set(forgot.marker.symbol) == {"circle"}
    assert (marks["Retrain"].x, marks["Retrain"].y) == ((0.0,), (0.0,))
    assert "Original" not in marks
    texts = [annotation.text for annotation in figure.layout.annotations]
    assert {"A", "B", "D", "Retrain"} <= {*texts} and "C" not in texts
    every = trade_offs.draw(found, fa, ta, scored, REFERENCES, dark=False, near=False)
    assert every.layout.xaxis.range[1] > 60 and "Original" in {t.name for t in every.data}
    cost = trade_offs.draw(found, rte, ta, scored, REFERENCES, dark=True)
    ends = math.log10(0.05 / 1.6), math.log10(0.2 * 1.6)
    assert cost.layout.xaxis.range == pytest.approx(ends)


# --- the page


def test_the_front_is_named_drawn_and_listed(home):
    fill(home, "full")
    with open_store(home) as store:
        as_retrain(store, "salun", "finetune")
    at = opened(scenario="one_class")
    frame = at.dataframe[0].value
    assert set(frame["Method"]) == {"Fine-tune", "Gradient ascent", "SalUn"}
    assert list(frame["Beaten by"] != "does not compete") == [
        word.startswith("forgot") for word in frame["Verdict"]
    ]
    assert len(at.get("plotly_chart")) == 1
    names = {trace.get("name") for trace in figures(at)[0]["data"]}
    assert "Retrain" in names and names & {"forgot", "forgot, indicated"}


def test_the_address_chooses_axes_and_goals(home):
    fill(home, "full")
    at = opened(scenario="one_class", x="rte", y="ra", privacy="none")
    texts = [annotation["text"] for annotation in figures(at)[0]["layout"]["annotations"]]
    assert any(text.startswith("RTE") for text in texts)
    assert any(text.startswith("RA gap") for text in texts)
    assert "MIA Conf gap (points)" not in at.dataframe[0].value.columns


def test_ranks_agreement_and_tests_of_a_full_store(home):
    fill(home, "full")
    statistics_of = partial(open_page, "results", tab="statistics")
    ranks = statistics_of(view="ranks", metric="fa")
    drawn = figures(ranks)[0]
    assert "SalUn" in drawn["data"][0]["y"] and drawn["layout"]["shapes"]
    agree = statistics_of(view="agreement", metrics=["ta", "fa", "rte"])
    assert figures(agree)[0]["layout"]["xaxis"]["ticktext"] == ["TA", "FA", "RTE"]
    tests = statistics_of(view="tests", metric="fa")
    assert len(tests.dataframe[0].value) == 3
