"""Membership of Attacks: its numbers by hand, its figures by structure, the tab on stores."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from pathlib import Path

import facts
import numpy as np
import pandas as pd
import pytest
from builders import full_results, make_outputs, make_result
from pages import figures, open_page
from streamlit.testing.v1 import AppTest

from dashboard import frames
from dashboard.charts import dots, roc, score_histogram
from dashboard.frames import membership as mf
from dashboard.frames.membership import Scored
from mucore import catalog
from mucore.errors import BadValue
from mucore.metrics import membership
from mucore.metrics.sanity import GUESS
from mucore.outputs import Outputs, softmax
from mucore.store import open_store
from mucore.verdicts import Verdict, Word

opened = partial(open_page, "membership")
# as mucore.metrics.sanity writes it
BLIND = (
    "These membership attacks cannot tell members from non-members here, so their efficacy is "
    "not evidence: confidence, prob."
)


def keep(home: Path) -> None:
    """Runs with predictions."""
    with open_store(home) as store:
        for number, result in enumerate(full_results(scenarios=("one_class",))):
            kept = (
                store.artifacts.put_outputs(make_outputs(seed=number))
                if result.spec["scenario"]
                else None
            )
            notes = (BLIND,) if result.spec["method"] == "finetune" else ()
            store.put_result(replace(result, outputs=kept, notes=notes))


def run_key(home: Path, method: str, seed: int = 0) -> str:
    store = open_store(home)
    found = store.summaries(method=method, training_seed=seed, scenario="one_class")
    store.close()
    return str(found["key"].iloc[0])


# --- numbers by hand
# --------------------------------------------------------------------------------------------------


def scored(
    forget: list[float],
    *,
    retain: list[float] | None = None,
    test: list[float] | None = None,
    attack: str = "confidence",
) -> Scored:
    retain, test = retain or [1.0, 2.0], test or [0.0, 0.5, 1.5, 3.0]
    arrays = {"forget": np.array(forget), "retain": np.array(retain), "test": np.array(test)}
    ids = {
        name: np.arange(len(each)) + 10 * place for place, (name, each) in enumerate(arrays.items())
    }
    return Scored(attack, arrays, ids, np.arange(len(forget)) % 3, arrays["test"], 1.0, False)


def test_stretched_scores_keep_their_order_and_read_back():
    shares = np.array([0.0, 1e-6, 0.25, 0.5, 0.9, 1 - 1e-9, 1.0])
    places = mf.stretch("confidence", shares)
    assert (np.diff(places) > 0).all()
    assert places[3] == 0.0 and places[2] == pytest.approx(math.log(1 / 3))
    assert mf.natural("confidence", places[2]) == "25 %"
    assert mf.natural("confidence", places[5]) == "1 − 10⁻⁹"
    assert mf.natural("confidence", float(np.log(0.9998 / 0.0002))) == "99.98 %"
    assert mf.natural("confidence", float(mf.stretch("confidence", shares[1:2])[0])) == "0.0001 %"
    assert mf.natural("confidence", float(np.log(5e-8))) == "5 × 10⁻⁸"
    entropies = mf.stretch("entropy", -np.array([1.0, 0.01, 0.0]))
    assert entropies.tolist() == [0.0, 2.0, 17.0]
    assert (
        mf.natural("entropy", 2.0) == "0.01 nats"
        and mf.natural("m_entropy", 5.0) == "1.0 × 10⁻⁵ nats"
    )
    assert (
        mf.stretch("prob", np.array([-0.3])).tolist() == [-0.3]
        and mf.natural("prob", -0.3) == "−0.30"
    )
    assert [mf.natural("correctness", each) for each in (0.0, 0.75, 1.0)] == [
        "wrong",
        "0.75",
        "right",
    ]


def test_counts_by_hand():
    run = scored([3.0, 0.0, 2.0, 1.0])
    counts = mf.count(run, 1.0)  # a tie is seen, as in the metric
    assert (counts.forget_seen, counts.forget_unseen, counts.test_seen, counts.test_unseen) == (
        3,
        1,
        2,
        2,
    )
    assert (counts.tpr, counts.fpr) == (0.75, 0.5)
    assert counts.forget_unseen / 4 == membership.share_called_unseen(scores=run.forget - 1.0)
    assert score_histogram.score_histogram_info(run, threshold=1.0, span=(-1.0, 4.0)).seen == 75.0


def test_vulnerable_ranks_by_lead_over_retrain():
    """Leads over Retrain: 0, 2, and unknown for the third sample, which comes last."""
    run, other = scored([1.0, 3.0, 9.0]), scored([1.0, 1.0])
    frame = mf.vulnerable(run, retrain=other, original=None)
    assert frame["id"].tolist() == [1, 0, 2]
    assert frame["lead"].tolist()[:2] == [2.0, 0.0] and frame["retrain"].isna().tolist() == [
        False,
        False,
        True,
    ]
    assert frame["original"].isna().all()


@pytest.mark.parametrize("attack", membership.ATTACKS)
def test_a_runs_curve_is_what_the_store_says_of_it(attack):
    """Split sizes, evaluation seed and order of samples are those of `mucore.metrics.measure`,
    however the file is sorted.
    """
    outputs, result = make_outputs(seed=5, samples=40), make_result()
    forget, retain, test = (
        (softmax(outputs[name].logits), outputs[name].labels) for name in mf.SPLITS
    )
    found = membership.run_attack(
        attack,
        forget=forget,
        members=retain,
        nonmembers=test,
        split=membership.split_attack_data(
            members=40, nonmembers=40, cap=result.spec["mia_samples"], evaluation_seed=0
        ),
    )
    info = roc.roc_info(
        mf.score_run(attack, shuffled(outputs), result), title="x", threshold=0.0, references={}
    )
    assert found.auc is not None and info.run.auc == pytest.approx(100 * found.auc)
    assert info.run.at == {}  # forty test samples tell of no such rate
    assert info.negatives == (20 if attack == "prob" else 40)


def shuffled(outputs: Outputs) -> Outputs:
    order = np.random.default_rng(0).permutation(40)
    return Outputs(
        {
            name: replace(
                s, logits=s.logits[order], labels=s.labels[order], ids=s.ids[order], features=None
            )
            for name, s in outputs.items()
        }
    )


def test_a_run_without_a_split_says_which():
    with pytest.raises(BadValue, match="predictions on the test set"):
        mf.score_run("entropy", make_outputs(splits=("forget", "retain")), make_result())


def test_roc_figure_marks_low_rates_the_threshold_and_the_references():
    run = scored([3.5, 2.0, 0.2], test=[0.0, 0.5, 1.5, 3.0] * 25)
    references = {"Retrain": scored([0.0, 0.0]), "Original": scored([4.0, 4.0])}
    whose = {"title": "SCRUB", "threshold": 1.0, "references": references}
    info = roc.roc_info(run, **whose)
    assert info.operating == (50.0, pytest.approx(200 / 3))
    assert (
        info.run.false[0] == info.run.true[0] == 0
        and info.run.false[-1] == info.run.true[-1] == 100
    )
    # only 3.5 is above every test score but one in a hundred
    assert info.run.at == {0.01: pytest.approx(100 / 3)}
    assert info.references[1].auc == 100.0
    figure = roc.draw(info, family="teacher", dark=False)
    assert {trace.name for trace in figure.data} >= {"Retrain", "Original", "SCRUB"}
    assert "33.3 % at 1 %" in roc.alt_text(info)
    assert set(roc.roc_info(scored([4.0], test=[0.0] * 1000), **whose).run.at) == {0.001, 0.01}


def test_histogram_shares_by_hand():
    run = scored([0.0, 0.0, 1.0], retain=[1.0], test=[0.0, 1.0], attack="correctness")
    info = score_histogram.score_histogram_info(run, threshold=0.5, span=(-0.05, 1.05))
    assert info.edges == (-0.5, 0.5, 1.5)
    assert info.forget == (pytest.approx(200 / 3), pytest.approx(100 / 3))
    assert (info.retain, info.test, info.seen) == (
        (0.0, 100.0),
        (50.0, 50.0),
        pytest.approx(100 / 3),
    )
    figure = score_histogram.draw(info, dark=False)
    assert [trace.name for trace in figure.data] == ["Forget", "Retain", "Test"]
    assert figure.layout.shapes[0].x0 == 0.5 and figure.layout.xaxis.ticktext == ("wrong", "right")
    many = score_histogram.score_histogram_info(scored([0.1, 0.2]), threshold=0.1, span=(-1.0, 4.0))
    assert len(many.forget) == score_histogram.BINS and sum(many.forget) == pytest.approx(100)
    assert "33.3 %" in score_histogram.alt_text(info)


# --- five attacks side by side
# --------------------------------------------------------------------------------------------------


def table(
    values: dict[str, tuple[float, ...]],
    gaps: dict[str, tuple[float, ...]] | None = None,
    words: dict[str, Word] | None = None,
    guessing: tuple[tuple[str, str], ...] = (),
) -> frames.ResultsTable:
    """One run a method with its five efficacies; gaps of methods against Retrain; verdicts,
    "forgot" where `words` has none; the attacks that guess, by method.
    """
    lines, numbers = [], []
    for method, found in values.items():
        lines.append(
            {
                "key": f"{method}-0",
                "method": method,
                "method_preset": "authors",
                "parameters": "{}",
                "training_seed": 0,
                "unlearning_seed": 0,
                "evaluation_seed": 0,
                "status": "ok",
            }
        )
        for place, (attack, value) in enumerate(zip(membership.ATTACKS, found, strict=True)):
            numbers.append(
                (
                    f"{method}-0",
                    f"mia_{attack}",
                    value,
                    (gaps or {}).get(method, (None,) * 5)[place],
                    GUESS if (method, attack) in guessing else None,
                )
            )
    made = frames.results_table(
        pd.DataFrame(lines),
        pd.DataFrame(numbers, columns=["key", "metric", "value", "gap", "error"]),
        view="value",
    )
    return replace(
        made,
        rows=tuple(
            row if row.method == "retrain" else replace(row, verdict=verdict(row, words or {}))
            for row in made.rows
        ),
    )


def verdict(row: frames.Row, words: dict[str, Word]) -> Verdict:
    return Verdict(word=words.get(row.method, "forgot"), metric="fa", sentence="", shown=True)


# approximate methods of the catalogue
TWENTY = tuple(card.id for card in catalog.methods() if card.family not in ("reference", "exact"))[
    :20
]


def five_of(*guessing: tuple[str, str]) -> frames.ResultsTable:
    return table(
        {
            "original": (0.0,) * 5,
            "retrain": (0.1,) * 5,
            "scrub": (0.1, 0.1, 0.2, 0.1, 0.1),
            "bad_teacher": (0.1, 1.0, 1.0, 0.1, 0.1),
        },
        {"scrub": (0.0, 0.0, 0.1, 0.0, 0.0), "bad_teacher": (0.0, 0.9, 0.9, 0.0, 0.0)},
        guessing=guessing,
    )


def test_the_answer_is_of_the_attack_on_which_verdicts_rest():
    assert facts.numbers(mf.sentence(five_of())) == ["0.0", "10.0"]
    blind = five_of(("retrain", "confidence"))
    retrain = next(row for row in blind.rows if row.method == "retrain")
    cell = retrain.cells["mia_confidence"]
    assert (cell.value, cell.gap, cell.reason) == (None, None, GUESS)
    assert mf.sentence(blind) == ""


def test_the_first_dozen_is_shown_between_the_references():
    many = table({name: (0.1,) * 5 for name in ("original", "retrain", *TWENTY)})
    shown = mf.rows_shown(many, everyone=False)
    assert len(shown) == mf.NEAREST + 2
    assert [shown[0].method, shown[-1].method] == ["original", "retrain"]
    assert len(mf.rows_shown(many, everyone=True)) == len(TWENTY) + 2


def test_marks_guesses_and_printed_numbers_by_value():
    rows = five_of(("scrub", "prob")).rows
    scrub = next(row for row in rows if row.method == "scrub")
    entropy, guess = dots.mark_of(scrub, "mia_entropy", 100, 0.42), dots.mark_of(scrub, "mia_prob")
    assert entropy is not None and (entropy.value, entropy.tick) == pytest.approx((20.0, 42.0))
    assert guess == dots.Mark(None)
    line = dots.line_of(scrub, [entropy, guess])
    assert (line.fate, line.shown) == ("forgot", True)
    panels = [
        dots.Panel(name=name, title=name, span=(0.0, 100.0), base=10.0) for name in ("a", "b")
    ]
    assert panels[0].text(-0.04) == "0.0" and panels[0].text(None) == "–"
    reference = dots.Line(key="", title="Retrain", marks=(dots.Mark(10.0), dots.Mark(10.0)))
    for stacked in (False, True):
        figure = dots.draw([line, reference], panels, axis="", dark=False, stacked=stacked)
        seen = {
            trace.name: trace for trace in figure.data if trace.name and trace.mode == "markers"
        }
        assert list(seen["a"].x) == pytest.approx([20.0, 10.0]) and list(seen["b"].x) == [0.0, 10.0]
        assert list(seen["a"].marker.symbol) == ["circle", "star"]
        assert seen["b"].marker.symbol[0] == "x-thin-open"  # the guess
        said = [trace.text for trace in figure.data if trace.mode == "markers+text"]
        assert [list(each) for each in said] == [["20.0", "10.0"], ["–", "10.0"]]
        assert [shape.x0 for shape in figure.layout.shapes] == [10.0, 10.0]
    assert "20.0 (SCRUB)" in dots.alt_text([line, reference], panels, "")


# --- the page
# --------------------------------------------------------------------------------------------------


def test_kept_predictions_show_curve_histogram_and_exposed_samples(home):
    keep(home)
    at = opened(run=run_key(home, "salun"))
    wide, narrow, histogram, curve = figures(at)[:4]
    assert [trace["name"] for trace in histogram["data"]] == ["Forget", "Retain", "Test"]
    assert {"Retrain", "Original", "SalUn", "Threshold"} <= {
        trace.get("name") for trace in curve["data"]
    }
    for dots_of in (wide, narrow):
        shapes = dots_of["layout"]["shapes"]
        assert len([shape for shape in shapes if shape["type"] == "line"]) == 5
        assert len([shape for shape in shapes if shape.get("name") == "noise"]) == 5
    assert any("Image" in frame.value.columns and len(frame.value) == 8 for frame in at.dataframe)
    heads = [set(frame.value.columns) for frame in at.dataframe]
    for columns in (
        {"From", "Forget (%)"},
        {"Model", "FPR (%)", "TPR (%)"},
        {"Model", "TPR, %", "FPR, %"},
        {"Sample", "Here above Retrain"},
    ):
        assert any(columns <= each for each in heads)
    # the drawer of the run in the address
    assert "python -m mucore run" in "\n".join(one.value for one in at.code)


def test_the_threshold_moves_counts_line_and_address(home):
    keep(home)
    at = opened(run=run_key(home, "salun"), attack="correctness", threshold="correctness:-0.50")
    assert at.select_slider[0].value == "correctness:-0.50"
    assert figures(at)[2]["layout"]["shapes"][0]["x0"] == -0.5 and seen_of(at) == "12 of 12"
    at.select_slider[0].set_value("correctness:1.50").run()
    assert at.query_params["threshold"] == "correctness:1.50" and seen_of(at) == "0 of 12"


def seen_of(at: AppTest) -> str:
    """How many forgotten samples of the run the threshold calls seen."""
    head = "Forgotten, called seen"
    return next(one.value[head][0] for one in at.dataframe if head in one.value)


@pytest.mark.slow
def test_a_click_on_a_dot_chooses_run_and_attack(home):
    keep(home)
    at = opened()
    row = table_row(home, "salun")
    at.session_state["attacks"] = {
        "selection": {
            "points": [{"customdata": [row, "prob", ""]}],
            "point_indices": [0],
            "box": [],
            "lasso": [],
        }
    }
    at.run()
    assert at.query_params["run"] == run_key(home, "salun") and at.query_params["attack"] == "prob"


def table_row(home: Path, method: str) -> str:
    store = open_store(home)
    text = store.summaries(method=method, scenario="one_class")["parameters"].iloc[0]
    store.close()
    return frames.row_id(method, text)
