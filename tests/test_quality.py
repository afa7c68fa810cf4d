"""The forgetting-quality experiment from plan to numbers: ordinary runs, computed once, and
sentences where it makes no sense.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from builders import delete_result

import mucore.api as mu
from mucore import cli, quality
from mucore.errors import BadValue, MucoreError
from mucore.metrics import forgetting_quality as fq
from mucore.runner.grid import Grid, MethodChoice, ScenarioChoice
from mucore.runs import RunSpec
from mucore.store import open_store

MODELS = 4
RECIPE = {"epochs": 1}


def grid(**changes: Any) -> Grid:
    content: dict[str, Any] = {
        "dataset": "digits",
        "model": "mlp",
        "preset": "quick",
        "recipe": RECIPE,
        "scenarios": [ScenarioChoice(id="one_class")],
        "methods": [MethodChoice(id="finetune")],
        "mia_samples": 20,
    }
    return Grid(**{**content, **changes})


def compute(home: Path, **changes: Any) -> pd.DataFrame:
    content: dict[str, Any] = {
        "dataset": "digits",
        "model": "mlp",
        "preset": "quick",
        "recipe": RECIPE,
        "scenario": "one_class",
        "methods": ["finetune"],
        "models": MODELS,
        "mia_samples": 20,
        "device": "cpu",
        "home": home,
    }
    return mu.forgetting_quality(**{**content, **changes})


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> tuple[Path, pd.DataFrame]:
    home = tmp_path_factory.mktemp("quality") / "home"
    return home, compute(home)


@pytest.fixture
def home(made, tmp_path) -> Path:
    """A copy, for tests that change it."""
    shutil.copytree(made[0], tmp_path / "home")
    return tmp_path / "home"


@pytest.mark.slow
def test_numbers_are_those_of_the_stored_predictions(made):
    home, frame = made
    (row,) = frame.to_dict("records")
    with open_store(home) as store:
        results = store.results()

        def stack(method: str) -> np.ndarray:
            rows = []
            for result in (
                each for each in results if each.spec["method"] == method and each.spec["scenario"]
            ):
                split = store.artifacts.get_outputs(result.outputs or "")["forget"]
                p = np.exp(split.logits.astype(np.float64))
                p /= p.sum(axis=1, keepdims=True)
                own = p[np.arange(len(p)), split.labels]
                rows.append(np.log(own) - np.log(1 - own))
            return np.array(rows)

        u, r = stack("finetune"), stack("retrain")
    assert u.shape == r.shape == (MODELS, results[-1].forget_count)
    assert row["forgetting_quality"] == pytest.approx(
        fq.forgetting_quality(fq.epsilons(unlearned=u, retrained=r))
    )
    assert row["retrain_quality"] == pytest.approx(
        fq.forgetting_quality(fq.epsilons(unlearned=r[:2], retrained=r[2:]))
    )
    ta = {
        m: np.mean(
            [x.metrics["ta"].value for x in results if x.spec["method"] == m and x.spec["scenario"]]
        )
        for m in ("finetune", "retrain")
    }
    assert row["utility_ta"] == pytest.approx(ta["finetune"] / ta["retrain"])
    assert (row["method"], row["models"], row["reverted"]) == ("finetune", MODELS, 0)
    assert 0 <= row["forgetting_quality"] <= 1 and 0.5 < row["utility_ra"] < 2


def test_models_are_independent(made):
    home, _ = made
    with open_store(home) as store:
        results = store.results(scenario="one_class")
    seeds = {
        name: [
            (r.spec["training_seed"], r.spec["unlearning_seed"])
            for r in results
            if r.spec["method"] == name
        ]
        for name in ("retrain", "finetune")
    }
    assert seeds == {
        "retrain": [(n, 0) for n in range(MODELS)],
        "finetune": [(0, n) for n in range(MODELS)],
    }
    assert len({r.weights for r in results}) == 2 * MODELS
    assert len({r.forget_hash for r in results}) == 1


def test_numbers_outlive_the_predictions(home):
    with open_store(home) as store:
        store.gc("numbers", young_seconds=0)
        experiment = quality.plan_experiment(grid(), store, models=MODELS)
        assert quality.find(experiment, store)[0].assessment.models == MODELS
        for path in (home / "quality").iterdir():
            path.unlink()
        assert quality.find(experiment, store, stored_only=True) == []
        with pytest.raises(BadValue, match="4 of 4 (Fine-tune|Retrain) runs no longer have"):
            quality.find(experiment, store)


def test_a_damaged_summary_is_computed_again(home):
    with open_store(home) as store:
        experiment = quality.plan_experiment(grid(), store, models=MODELS)
        before = quality.find(experiment, store)
        for path in (home / "quality").iterdir():
            path.write_text('{"models": 4}')
        assert quality.find(experiment, store) == before


def test_other_forget_sets_and_missing_references_are_refused(home):
    with open_store(home) as store:
        experiment = quality.plan_experiment(grid(), store, models=MODELS)
        result = store.get_result(experiment.rows[0].keys[1])
        assert result is not None
        store.put_result(replace(result, forget_hash="0" * 16))
        with pytest.raises(BadValue, match="2 different forget sets"):
            quality.find(experiment, store)
        delete_result(store, result.key)
        assert quality.find(experiment, store) == []  # the method is not complete
        delete_result(store, experiment.retrained[0])
        with pytest.raises(MucoreError, match="1 of 4 runs have no result"):
            quality.find(experiment, store)


def test_an_original_for_each_model(made):
    with open_store(made[0]) as store:
        methods = [MethodChoice(id="original"), MethodChoice(id="finetune")]
        experiment = quality.plan_experiment(
            grid(methods=methods), store, models=MODELS, originals="each"
        )
    untouched, finetune = experiment.rows
    by_key: dict[str, RunSpec] = {spec.key: spec for spec in experiment.plan.specs}
    assert [(by_key[key].training_seed, by_key[key].unlearning_seed) for key in finetune.keys] == [
        (n, n) for n in range(MODELS)
    ]
    assert [(by_key[key].method, by_key[key].training_seed) for key in untouched.keys] == [
        ("original", n) for n in range(MODELS)
    ]
    assert len(by_key) == 4 * MODELS  # original, Retrain, the original under the scenario, finetune
    assert {spec.key for spec in experiment.plan.to_run} == {*untouched.keys, *finetune.keys[1:]}
    order = [spec.key for spec in experiment.plan.specs]
    assert all(
        order.index(need.key) < order.index(spec.key)
        for spec in experiment.plan.specs
        for need in spec.needs()
    )


@pytest.mark.slow
def test_with_an_original_from_a_file_no_other_is_trained_and_its_losses_may_choose(made, tmp_path):
    with open_store(made[0]) as store:
        (original,) = [
            result
            for result in store.results(method="original")
            if result.spec["training_seed"] == 0
        ]
        weights = store.artifacts.storage.local(original.weights or "")
    frame = compute(tmp_path, original=weights, scenario="worst_case")
    assert frame["models"].tolist() == [MODELS]
    with open_store(tmp_path) as store:
        originals, rest = store.results(method="original"), store.results(scenario="worst_case")
    assert {result.cost["seconds"] for result in originals} == {None}
    assert (
        len({result.weights for result in originals})
        == len({result.forget_hash for result in rest})
        == 1
    )
    assert len({result.weights for result in rest}) == 2 * MODELS


TWO = [ScenarioChoice(id="one_class"), ScenarioChoice(id="all_classes")]


@pytest.mark.parametrize(
    ("changes", "models", "originals", "sentence"),
    [
        ({}, 3, "one", "4 models of each kind at least, but got 3"),
        ({"scenarios": [ScenarioChoice(id="worst_case")]}, 4, "one", "by the original"),
        ({"scenarios": TWO}, 4, "one", "under one scenario .* but got 2"),
        ({"methods": [MethodChoice(id="retrain")]}, 4, "one", "Name one other method"),
        ({"methods": [MethodChoice(id="original")]}, 4, "one", "but original is one"),
        ({"original": "x.pt"}, 4, "each", "an original from a file is one"),
    ],
)
def test_what_makes_no_experiment_gets_a_sentence(tmp_path, changes, models, originals, sentence):
    with open_store(tmp_path) as store:
        with pytest.raises(BadValue, match=sentence):
            quality.plan_experiment(grid(**changes), store, models=models, originals=originals)


FLAGS = (
    "--dataset digits --model mlp --preset quick --scenario one_class --methods finetune "
    "--mia-samples 20 --set recipe.epochs=1"
).split()


def test_the_command_prints_the_same_numbers(made, monkeypatch, capsys):
    home, frame = made
    monkeypatch.setenv("MUCORE_HOME", str(home))
    assert cli.main(["quality", *FLAGS, "--models", "4", "--json"]) == 0
    out = capsys.readouterr()
    printed = json.loads(out.out)
    assert printed["runs"] == {"total": 12, "cached": 12}
    (method,) = printed["methods"]
    assert method["forgetting_quality"] == frame["forgetting_quality"][0]
    assert len(method["keys"]) == MODELS
    assert "12 of them in the store, 0 to run" in out.err
    assert cli.main(["quality", *FLAGS, "--models", "4"]) == 0
    out = capsys.readouterr()
    assert "finetune" in out.out and "rough estimate below 64" in out.err


def test_a_method_that_fails_is_left_out_and_said(home, monkeypatch, capsys):
    from mucore.runner import execute

    def broken(*_):
        raise MucoreError("The method broke.")

    monkeypatch.setattr(execute, "unlearn", broken)
    monkeypatch.setenv("MUCORE_HOME", str(home))
    flags = ["finetune,delete" if flag == "finetune" else flag for flag in FLAGS]
    assert cli.main(["quality", *flags, "--models", "4", "--json"]) == 1
    out = capsys.readouterr()
    assert [method["method"] for method in json.loads(out.out)["methods"]] == ["finetune"]
    assert "The method broke." in out.err
