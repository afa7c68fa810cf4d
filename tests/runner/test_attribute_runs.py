"""A data set with several yes-or-no labels an image, from a file to the table: plan, runs, store,
pages.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from builders import attributes_file
from pages import open_page, words_on

from dashboard import data, frames
from mucore import datasets
from mucore.errors import Refused
from mucore.export import records
from mucore.runner.execute import execute
from mucore.runner.grid import Grid, MethodChoice, ScenarioChoice, expand
from mucore.runner.session import Session
from mucore.runs import RunSpec, make_recipe, make_spec
from mucore.store import Store, open_store
from mucore.store.records import Result
from mucore.userfiles import datasets as userdata

RECIPE = {"epochs": 8, "batch_size": 32}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"npz:{attributes_file(tmp_path_factory.mktemp('data') / 'faces.npz')}"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Generator[Store]:
    store = open_store(tmp_path_factory.mktemp("home"))
    yield store
    store.close()


@pytest.fixture(scope="module")
def session(store: Store) -> Session:
    return Session(store, "cpu")


def spec(dataset: str, method: str, scenario: str = "all_classes", **changes: Any) -> RunSpec:
    values: dict[str, Any] = {
        "scenario_parameters": {"budget": 0.1} if scenario == "all_classes" else None
    } | changes
    return make_spec(
        dataset=dataset,
        data_hash=userdata.data_hash(dataset),
        model="mlp",
        recipe=make_recipe("quick", RECIPE),
        scenario=scenario,
        method=method,
        **values,
    )


def value(result: Result, metric: str) -> float:
    found = result.metrics[metric].value
    assert found is not None, result.metrics[metric].error
    return found


def test_a_comparison_runs_from_the_file_to_the_stored_result(dataset: str, session: Session):
    result = execute(spec(dataset, "finetune"), session)
    retrain = session.store.get_result(spec(dataset, "retrain").key)
    original = session.store.get_result(spec(dataset, "original").original().key)
    assert retrain is not None and original is not None and result.status == "ok"
    splits = datasets.load(dataset)
    assert (
        splits.task == "attributes"
        and splits.train.labels.shape == (360, 3)
        and result.forget_count == 36
    )
    # learned: far above the majority's share, on images it has not seen
    majority = max(
        splits.test.labels.double().mean(0).max().item(),
        1 - splits.test.labels.double().mean(0).min().item(),
    )
    assert value(original, "ta") > 0.85 > majority
    assert value(retrain, "ra") > 0.9 and value(result, "ta") == pytest.approx(
        value(retrain, "ta") + (result.metrics["ta"].gap or 0.0)
    )
    # the stored counts and the stored predictions say the same
    assert result.outputs is not None
    outputs = session.store.artifacts.get_outputs(result.outputs)
    for name, split in outputs.items():
        assert split.task == "attributes" and split.labels.shape == split.logits.shape == (
            len(split),
            3,
        )
        assert np.asarray(result.confusion[name]).shape == (3, 2, 2) and split.total == len(split)
        np.testing.assert_array_equal(split.confusion, result.confusion[name])
        right = ((split.logits > 0) == split.labels).mean()
        assert right == pytest.approx(
            np.trace(split.confusion, axis1=1, axis2=2).sum() / split.confusion.sum()
        )
    assert value(result, "fa") == pytest.approx(
        ((outputs["forget"].logits > 0) == outputs["forget"].labels).mean()
    )
    np.testing.assert_array_equal(
        np.sort(outputs["test"].labels, axis=0), np.sort(splits.test.labels.numpy(), axis=0)
    )
    for attack in ("correctness", "confidence", "entropy", "m_entropy", "prob"):
        assert 0 <= value(result, f"mia_{attack}") <= 1


def test_a_class_has_counts_of_two_classes_where_an_attribute_has_them_alone(
    dataset: str, session: Session
):
    result = execute(spec(dataset, "finetune"), session)
    told = records.describe(result)["per_class"]["test"]
    counts = np.asarray(result.confusion["test"])
    assert told == pytest.approx([np.trace(each) / each.sum() for each in counts])
    assert records.per_class_accuracy([[[3, 1], [0, 4]], [[0, 0], [0, 0]]]) == [7 / 8, None]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["scrub", "ssd", "sisa"])
def test_methods_of_every_kind_run(dataset: str, session: Session, method: str):
    parameters = {"shards": 2, "slices": 1} if method == "sisa" else None
    result = execute(spec(dataset, method, parameters=parameters), session)
    assert result.status == "ok" and value(result, "ra") > 0.7
    if method == "sisa":  # an ensemble comes back from its weights as it was
        assert any("its own original" in note for note in result.notes)
        again = execute(spec(dataset, method, parameters=parameters, evaluation_seed=1), session)
        assert (
            again.confusion == result.confusion and again.cost["seconds"] == result.cost["seconds"]
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    "scenario, chosen, count",
    [("worst_case", {"budget": 0.1}, 36), ("identities", {"count": 3}, 3 * 6)],
)
def test_scenarios_of_samples_and_persons_run(
    dataset: str, session: Session, scenario: str, chosen: dict[str, Any], count: int
):
    result = execute(spec(dataset, "retrain", scenario, scenario_parameters=chosen), session)
    assert result.forget_count == count
    if scenario == "worst_case":  # by the loss of the original: the best fitted are all right
        before = execute(spec(dataset, "original", scenario, scenario_parameters=chosen), session)
        assert value(before, "fa") == 1


# -- what is refused, and when


def test_a_plan_names_what_does_not_serve_the_file_and_keeps_the_rest(dataset: str):
    choices = [MethodChoice(id=name) for name in ("finetune", "duck", "gkt", "delete")]
    specs, refused = expand(
        Grid(
            dataset=dataset,
            model="mlp",
            preset="quick",
            scenarios=[ScenarioChoice(id="all_classes")],
            methods=choices,
        )
    )
    assert {one.method for one in specs if one.scenario} == {"original", "retrain", "finetune"}
    assert {one.method: "attributes" in one.reason for one in refused} == {
        "duck": True,
        "gkt": True,
        "delete": True,
    }
    with pytest.raises(Refused, match="class_wise goes by the class"):
        expand(
            Grid(
                dataset=dataset,
                model="mlp",
                preset="quick",
                scenarios=[ScenarioChoice(id="class_wise")],
                methods=choices,
            )
        )


def test_the_task_of_a_file_is_known_from_its_header(dataset: str, tmp_path: Path):
    assert userdata.task_of(dataset) == "attributes"
    assert (
        userdata.task_of("digits") == "classes" and userdata.task_of("npz:nowhere.npz") == "classes"
    )
    np.savez(tmp_path / "plain.npz", y_train=np.zeros(4, np.int64))
    (tmp_path / "broken.npz").write_bytes(b"PK not a zip file")
    for name in ("plain", "broken"):
        assert userdata.task_of(f"npz:{tmp_path / name}.npz") == "classes"


# -- on the pages


@pytest.fixture
def home(
    store: Store, session: Session, dataset: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Generator[Path]:
    execute(spec(dataset, "finetune"), session)
    monkeypatch.setenv("MUCORE_HOME", str(store.home))
    monkeypatch.setattr(data, "DEMO", tmp_path / "no-demo")
    yield store.home
    st.cache_data.clear()
    st.cache_resource.clear()


def test_the_results_page_shows_such_a_run_and_its_drawer(home: Path, dataset: str, store: Store):
    key = spec(dataset, "finetune").key
    (parameters,) = store.summaries(keys=[key])["parameters"]
    at = open_page("results", scenario="all_classes", row=frames.row_id("finetune", parameters))
    assert not at.exception and not at.error
    assert key in words_on(at)
    charts = [json.loads(each.proto.spec) for each in at.get("plotly_chart") if each.proto.spec]
    shown = [
        trace["x"] for chart in charts for trace in chart["data"] if trace.get("name") == "This run"
    ]
    assert ["0: no", "0: yes", "1: no", "1: yes", "2: no", "2: yes"] in [list(x) for x in shown]
