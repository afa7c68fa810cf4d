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

from dashboard import frames
from dashboard.charts import dots, histograms, roc
from dashboard.frames import attacks
from dashboard.frames import membership as mf
from dashboard.frames.membership import Scored
from mucore import catalog
from mucore.errors import BadValue
from mucore.metrics import mia
from mucore.metrics.sanity import GUESS
from mucore.outputs import Outputs, softmax
from mucore.store import open_store
from mucore.verdicts import Verdict

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
    assert mf.natural("confidence", places) == pytest.approx(shares, abs=1e-12)
    entropies = mf.stretch("entropy", -np.array([1.0, 0.01, 0.0]))
    assert entropies.tolist() == [0.0, 2.0, 17.0]
    assert mf.natural("m_entropy", entropies) == pytest.approx([1.0, 0.01, 0.0], abs=1e-12)
    assert mf.natural("prob", mf.stretch("prob", np.array([-0.3]))).tolist() == [-0.3]


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


@pytest.mark.parametrize("attack", mia.ATTACKS)
def test_a_runs_curve_is_what_the_store_says_of_it(attack):
    """Split sizes, evaluation seed and order of samples are those of `mucore.metrics.measure`,
    however the file is sorted.
    """
    outputs, result = make_outputs(seed=5, samples=40), make_result()
    forget, test, retain = (
        (softmax(outputs[name].logits), outputs[name].labels) for name in mf.SPLITS
    )
    found = mia.run_attack(
        attack,
        forget=forget,
        members=retain,
        nonmembers=test,
        cap=result.spec["mia_samples"],
        evaluation_seed=0,
    )
    scored = mf.score_run(attack, shuffled(outputs), result)
    curve = roc.curve("x", scored)
    assert found.auc is not None and curve.auc == pytest.approx(100 * found.auc)
    assert curve.at == {}  # forty test samples tell of no such rate
    assert len(scored.negatives) == (20 if attack == "prob" else 40)


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


def test_roc_figure_marks_low_rates_and_the_references():
    run = scored([3.5, 2.0, 0.2], test=[0.0, 0.5, 1.5, 3.0] * 25)
    others = {"Retrain": scored([0.0, 0.0]), "Original": scored([4.0, 4.0])}
    curves = [roc.curve(name, each) for name, each in ({"SCRUB": run} | others).items()]
    first = curves[0]
    assert first.false[0] == first.true[0] == 0 and first.false[-1] == first.true[-1] == 100
    # only 3.5 is above every test score but one in a hundred
    assert first.at == {1.0: pytest.approx(100 / 3)}
    assert curves[2].auc == 100.0
    figure = roc.draw(curves, family="teacher", dark=False)
    names = [trace.name for trace in figure.data if trace.name]
    assert [name.split(",")[0] for name in names] == ["Guess", "Original", "Retrain", "SCRUB"]
    assert "33.3 % at 1 %" in roc.alt_text(curves)
    assert set(roc.curve("x", scored([4.0], test=[0.0] * 1000)).at) == {0.1, 1.0}


def test_histogram_shares_by_hand():
    sets = {"Forget": np.array([0.0, 0.0, 1.0]), "Test": np.array([0.0, 9.0])}
    bins = histograms.bins({"SCRUB": sets}, np.array([-0.5, 0.5, 1.5]))
    assert bins["share"].tolist() == pytest.approx([200 / 3, 100 / 3, 50, 50])
    figure = histograms.draw(bins, axis="x", up="%", dark=False, cuts={0.5: "seen"})
    assert [trace.name for trace in figure.data] == ["Forget", "Test"]
    assert list(figure.data[0].x) == [0.0, 1.0] and figure.layout.shapes[0].x0 == 0.5
    assert "most of Forget in SCRUB from -0.50 to 0.50" in histograms.alt_text(bins, "x")


# --- five attacks side by side
# --------------------------------------------------------------------------------------------------


# approximate methods of the catalogue
TWENTY = tuple(card.id for card in catalog.methods() if card.family not in ("reference", "exact"))[
    :20
]


def rows_of(
    values: dict[str, tuple[float, ...]], guessing: tuple[tuple[str, str], ...] = ()
) -> list[frames.Row]:
    """One run a method with its five efficacies, all of which forgot; the attacks that guess, by
    method.
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
        for attack, value in zip(mia.ATTACKS, found, strict=True):
            error = GUESS if (method, attack) in guessing else None
            numbers.append((f"{method}-0", f"mia_{attack}", value, None, error))
    table = pd.DataFrame(numbers, columns=["key", "metric", "value", "gap", "error"])
    forgot = Verdict(word="forgot", metric="fa", sentence="", shown=True)
    return [
        replace(row, verdict=None if row.method == "retrain" else forgot)
        for row in attacks.rows(pd.DataFrame(lines), table, mf.METRICS, {})
    ]


def five_of(*guessing: tuple[str, str]) -> list[frames.Row]:
    numbers = {
        "original": (0.0,) * 5,
        "retrain": (0.1,) * 5,
        "scrub": (0.1, 0.1, 0.2, 0.1, 0.1),
        "bad_teacher": (0.1, 1.0, 1.0, 0.1, 0.1),
    }
    return rows_of(numbers, guessing)


def test_the_answer_is_of_the_attack_on_which_verdicts_rest():
    assert facts.numbers(mf.sentence(five_of())) == ["0.0", "10.0"]
    blind = five_of(("retrain", "confidence"))
    retrain = next(row for row in blind if row.method == "retrain")
    cell = retrain.cells["mia_confidence"]
    assert (cell.value, cell.gap, cell.reason) == (None, None, GUESS)
    assert mf.attacked(retrain) and mf.sentence(blind) == ""


def test_the_first_dozen_is_shown_between_the_references():
    many = rows_of({name: (0.1,) * 5 for name in ("original", "retrain", *TWENTY)})
    shown = attacks.first(many)
    assert len(shown) == attacks.NEAREST + 2 and len(many) == len(TWENTY) + 2
    assert [shown[0].method, shown[-1].method] == ["original", "retrain"]


def test_marks_guesses_and_printed_numbers_by_value():
    rows = five_of(("scrub", "prob"))
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
    assert [trace["name"] for trace in histogram["data"]] == ["Forget", "Test", "Retain"]
    names = {str(trace.get("name")).split(",")[0] for trace in curve["data"]}
    assert {"Retrain", "Original", "SalUn", "Guess"} <= names
    for dots_of in (wide, narrow):
        shapes = dots_of["layout"]["shapes"]
        assert len([shape for shape in shapes if shape["type"] == "line"]) == 5
        assert len([shape for shape in shapes if shape.get("name") == "noise"]) == 5
    assert any("Image" in frame.value.columns and len(frame.value) == 8 for frame in at.dataframe)
    # the drawer of the run in the address
    assert "python -m mucore run" in "\n".join(one.value for one in at.code)


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
