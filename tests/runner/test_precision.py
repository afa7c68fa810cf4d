"""No comparison mixes precisions: another precision is another recipe with its own references, and
`auto` is decided once.
"""

from __future__ import annotations

import pytest
from launching import digits, small_grid

from mucore.runner import device_data
from mucore.runner.execute import execute
from mucore.runner.plan import make_plan
from mucore.runner.session import Session
from mucore.runs import make_recipe
from mucore.statistics import label_runs
from mucore.verdicts.lines import judge


def spec(precision: str, method: str = "finetune", **changes):
    return digits(method, recipe=recipe(precision), **changes)


def recipe(precision: str):
    return make_recipe("quick", {"epochs": 1, "precision": precision})


@pytest.mark.slow
def test_another_precision_is_another_setting_with_references_of_its_own(store):
    session = Session(store, "cpu")
    results = {name: execute(spec(name), session) for name in ("fp32", "bf16")}
    for name, result in results.items():
        assert result.precision == name
        for reference in spec(name).needs():
            found = store.get_result(reference.key)
            assert found is not None and found.precision == name
        # the gap is to the Retrain of the same precision
        retrain = store.get_result(spec(name).retrained().key)
        assert retrain is not None
        ta, other = result.metrics["ta"].value, retrain.metrics["ta"].value
        assert ta is not None and other is not None
        assert result.metrics["ta"].gap == pytest.approx(ta - other)
        assert result.metrics["rte"].value is not None
    runs = label_runs(store.summaries())
    assert runs.groupby("setting")["precision"].nunique().tolist() == [1, 1]
    lines = [line for line in judge(store.results()) if line.method == "finetune"]
    assert [len(line.keys) for line in lines] == [1, 1]


def test_stored_runs_of_one_precision_are_no_results_of_another(store):
    execute(spec("fp32"), Session(store, "cpu"))
    for precision, cached in (("fp32", 3), ("bf16", 0), ("auto", 0)):
        grid = small_grid(recipe={"epochs": 1, "precision": precision})
        assert len(make_plan(grid, store).cached) == cached


@pytest.mark.slow
def test_auto_is_decided_by_the_first_that_is_trained(store, monkeypatch):
    """Two machines, one of which multiplies bf16, work on one store."""
    chosen, first, second = "fp32", "fp32", "bf16"
    resolve = device_data.resolve_precision
    monkeypatch.setattr(
        device_data,
        "resolve_precision",
        lambda name, device: chosen if name == "auto" else resolve(name, device),
    )
    assert execute(spec("auto", "retrain"), Session(store, "cpu")).precision == first
    chosen = second
    other = Session(store, "cpu")
    # the same seed, and one of which nothing is stored
    runs = [execute(spec("auto", training_seed=seed), other) for seed in (0, 1)]
    assert {result.precision for result in store.results()} == {first}
    assert all(run.metrics["rte"].value is not None for run in runs)
    # another recipe is decided anew
    shorter = spec("auto").model_copy(
        update={"recipe": make_recipe("quick", {"epochs": 0, "precision": "auto"})}
    )
    assert other.run(shorter, 0).precision == second
