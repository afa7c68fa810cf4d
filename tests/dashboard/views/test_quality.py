"""Forgetting quality: which experiments a store holds, what the page says of them, and what it
computes when asked to.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from builders import make_cost, make_spec_row
from experiments import outputs, put_experiment
from facts import tells
from pages import figures, open_page, words_on
from streamlit.testing.v1 import AppTest

from dashboard.frames import Estimate, Row
from dashboard.frames import quality as quality_frames
from dashboard.sections.quality import one_method
from mucore import catalog
from mucore.metrics.forgetting_quality import best_rule, epsilons, forgetting_quality
from mucore.metrics.quality_experiment import Models, assess
from mucore.quality import Finding
from mucore.store import open_store
from mucore.verdicts import Verdict, Word

opened = partial(open_page, "quality")


def filled(
    home: Path, *, methods: dict[str, float] | None = None, seconds: float = 2.0, kept: bool = True
) -> None:
    store = open_store(home)
    put_experiment(
        store, methods=methods or {"finetune": 0.5, "salun": 8.0}, seconds=seconds, kept=kept
    )
    store.close()


def methods_of(at: AppTest) -> pd.DataFrame:
    """The table of the methods."""
    return next(one.value for one in at.dataframe if "Score" in one.value)


# -- the page


def test_numbers_are_computed_on_request_and_then_shown(home):
    filled(home)
    at = opened()
    assert not at.exception and not at.error
    assert "have not been computed yet" in words_on(at) and not figures(at)
    at = at.button(key="compute").click().run()
    assert not at.exception and not at.error
    text = words_on(at)
    assert "have not been computed yet" not in text
    assert tells(text, "5 models", f"{math.log(4):.1f}")
    assert len(figures(at)) == 4  # the dots twice, side by side and stacked
    table = methods_of(at)
    assert list(table["Method"]) == ["Fine-tune", "SalUn"]
    u, r = confidences(range(5, 10), 0.5), confidences(range(5), 0.0)
    assert table["F"][0] == f"{forgetting_quality(epsilons(unlearned=u, retrained=r)):.3f}"
    halves = forgetting_quality(epsilons(unlearned=r[:2], retrained=r[2:4]))
    assert table["Retrain, 2 models"][0] == f"{halves:.3f}"
    assert len(list((home / "quality").glob("*.json"))) == 2


def confidences(seeds: range, shift: float) -> np.ndarray:
    return np.stack(
        [outputs(seed, shift=shift)["forget"].logits[:, 0].astype(np.float64) for seed in seeds]
    )


# -- which experiments there are


def runs(*kinds: tuple[str, int, int]) -> pd.DataFrame:
    """Summaries of (method, training seed, unlearning seed)."""
    made = [
        {
            "key": f"{method}-{t}-{u}",
            "method": method,
            "parameters": "{}",
            "training_seed": t,
            "unlearning_seed": u,
            "finished": pd.Timestamp("2026-01-01"),
            "dataset": "digits",
            "hashes": "",
            "model": "mlp",
            "recipe": "{}",
            "scenario": "one_class",
            "scenario_parameters": "{}",
            "forget_hash": "f",
            "evaluation_seed": 0,
        }
        for method, t, u in kinds
    ]
    return pd.DataFrame(made)


def test_an_experiment_is_found_from_its_runs_alone():
    kinds = (
        [("retrain", n, 0) for n in range(6)]
        + [("finetune", 0, n) for n in range(6)]
        + [("ssd", 0, n) for n in range(4)]
    )
    few = [("salun", 0, n) for n in range(3)] + [("scrub", n, 0) for n in range(6)]
    found = quality_frames.experiments(runs(*kinds, *few))
    assert [
        (one.models, one.originals, [method.method for method in one.methods]) for one in found
    ] == [(6, "one", ["finetune"]), (4, "one", ["finetune", "ssd"])]
    assert found[0].retrained == tuple(f"retrain-{n}-0" for n in range(6))
    assert found[1].methods[0].keys == tuple(f"finetune-0-{n}" for n in range(4))
    assert set(quality_frames.in_experiments(runs(*kinds, *few))["method"]) == {
        "retrain",
        "finetune",
        "ssd",
    }


def test_no_more_models_than_retrains_and_no_gaps():
    kinds = [("retrain", n, 0) for n in (0, 1, 2, 3, 5)] + [("finetune", 0, n) for n in range(9)]
    assert [one.models for one in quality_frames.experiments(runs(*kinds))] == [4]
    assert quality_frames.experiments(runs(*kinds[1:])) == ()
    assert quality_frames.experiments(runs(*[("retrain", n, 0) for n in range(9)])) == ()


def test_an_original_for_each_is_another_experiment():
    kinds = [("retrain", n, 0) for n in range(5)] + [("finetune", n, n) for n in range(5)]
    found = quality_frames.experiments(runs(*kinds))
    assert [(one.models, one.originals, one.seed) for one in found] == [(5, "each", 0)]
    assert found[0].methods[0].keys == tuple(f"finetune-{n}-{n}" for n in range(5))


@pytest.mark.parametrize("column", ["forget_hash", "hashes"])
def test_forget_sets_and_originals_are_not_mixed(column):
    kinds = runs(*[("retrain", n, 0) for n in range(4)], *[("finetune", 0, n) for n in range(4)])
    assert len(quality_frames.experiments(kinds)) == 1
    kinds.loc[kinds["method"] == "finetune", column] = "original=g"
    assert quality_frames.experiments(kinds) == ()


# -- what the page says on top


def scored(
    method: str, *, half: float | None, word: Word = "cannot tell", family: str = ""
) -> quality_frames.Scored:
    """Of 8 models of each kind, with F of half as many, and of Retrain's halves."""
    models = Models(
        confidences=np.random.default_rng(0).normal(size=(8, 3)),
        ra=[0.9] * 8,
        ta=[0.8] * 8,
        costs=[make_cost(seconds=1.0)] * 8,
    )
    found = replace(
        assess(unlearned=models, retrained=models),
        half_quality=half,
        retrain_quality=0.1,
        forgetting_quality=half,
        competition_score=0.02,
    )
    spec = make_spec_row(method=method)
    row = Row(
        id=method,
        method=method,
        title=catalog.method(method).title,
        family=family,
        preset="authors",
        parameters={},
        keys=(method,),
        training_seeds=(0,),
        unsound={},
        cells={},
        verdict=Verdict(word=word, metric="", sentence="", shown=True),
        distance=Estimate(0.031, None, 1),
    )
    return row, Finding(spec=spec, assessment=found, reverted=0, keys=(method,))


def test_the_answer_is_the_highest_f_beside_that_of_retrains_halves():
    original = scored("original", half=0.5, family="reference")
    lines = [scored("finetune", half=0.02), scored("scrub", half=0.04), original]
    said = quality_frames.headline(lines)
    assert tells(said, "SCRUB", "0.040", "0.100") and "Original" not in said
    assert quality_frames.headline([original]) == ""
    assert quality_frames.headline([scored("ssd", half=None)]) == ""


@pytest.mark.parametrize(
    ("word", "counts"),
    [("cannot tell", True), ("forgot", True), ("damaged", False), ("did nothing", False)],
)
def test_no_f_outweighs_a_verdict(word, counts):
    lines = [scored("finetune", half=0.02), scored("scrub", half=0.1, word=word)]
    said = quality_frames.headline(lines)
    assert ("SCRUB" in said) is counts and tells(said, "0.100" if counts else "0.020")


def test_the_table_has_verdict_and_distance_behind_the_method():
    table = quality_frames.table([scored("scrub", half=0.1, word="damaged")])
    assert list(table.columns[:3]) == ["Method", "Verdict", "Distance"]
    assert table[["Verdict", "Distance", "F"]].to_numpy().tolist() == [["damaged", "3.1", "0.100"]]


# -- words and figures


def test_samples_are_ordered_by_how_easily_they_tell():
    ids = np.array([3, 5, 8])
    u = np.array([[0.0, 10, 0], [1, 11, 2], [2, 12, 4], [3, 13, 6]])
    r = np.array([[0.5, 0, 1], [1.5, 1, 3], [2.5, 2, 5], [3.5, 3, 7]])
    found = quality_frames.samples((ids, u), (ids, r))
    assert found.by_epsilon[0] == 1 and found.epsilons[1] == 50.0
    hidden = replace(found, epsilons=np.array([np.nan, 1.0, 2.0]))
    assert hidden.by_epsilon == [2, 1, 0]


def test_samples_by_epsilon_in_bins_of_half_a_nat_and_the_thresholds_of_a_rule():
    counts = (2, 1, *[0] * 11, 1)
    bins = quality_frames.epsilon_bins("SalUn", counts)
    assert bins["share"].tolist() == list(counts) and bins["low"].iloc[-1] == 6.5
    assert one_method.ticks(bins)[-1] == (6.75, "6.5+")
    rule = best_rule(unlearned=np.array([1.0, 3, 4, 5]), retrained=np.array([-1.0, 0, 0.5, 3.5]))
    assert one_method.cuts(rule) == {2.0: "FNR 25 %, FPR 25 %"} and one_method.cuts(None) == {}
