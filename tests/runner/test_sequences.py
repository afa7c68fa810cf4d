"""Requests one after another: what each step starts from, what it may still see, what it is
compared with.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from torch import nn
from toy import fingerprint

from dashboard.text.labels import command_line
from mucore import methods
from mucore.cli import GridOptions, build_grid
from mucore.errors import BadValue, MucoreError, Refused
from mucore.runner.execute import execute
from mucore.runner.grid import Grid, MethodChoice, ScenarioChoice, expand
from mucore.runner.session import Session
from mucore.runs import RunSpec, make_recipe, make_spec

RECIPE = make_recipe("quick", {"epochs": 2})


@pytest.fixture
def session(store):
    return Session(store, "cpu")


def step(
    scenario: str, after: RunSpec | None = None, method: str = "finetune", **values
) -> RunSpec:
    common: dict[str, Any] = {
        "dataset": "digits",
        "model": "mlp",
        "recipe": RECIPE,
        "mia_samples": 100,
    }
    return make_spec(
        **common, scenario=scenario, scenario_parameters=values, method=method, after=after
    )


def grid(*requests: tuple[str, dict], names=("finetune", "ssd"), **changes: Any) -> Grid:
    settings: dict[str, Any] = {"sequence": True, **changes}
    return Grid(
        dataset="digits",
        model="mlp",
        preset="quick",
        scenarios=[ScenarioChoice(id=name, parameters=values) for name, values in requests],
        methods=[MethodChoice(id=name) for name in names],
        **settings,
    )


ONE, TWO = ("class_wise", {"class_ids": [0]}), ("class_wise", {"class_ids": [1]})


# -- keys and plans


def test_the_requests_before_are_part_of_the_key():
    first, other = step("class_wise", class_ids=[0]), step("class_wise", class_ids=[5])
    keys = {
        step("one_class", after, class_id=1).key
        for after in (None, first, other, step("class_wise", method="ssd", class_ids=[0]))
    }
    assert len(keys) == 4
    assert "after" not in first.canonical()
    second = step("one_class", first, class_id=1)
    assert RunSpec.model_validate_json(second.model_dump_json()).key == second.key
    assert [each.scenario for each in second.requests] == ["class_wise", "one_class"]


def test_references_depend_on_the_requests_and_not_on_the_method():
    first = {name: step("class_wise", method=name, class_ids=[0]) for name in ("finetune", "ssd")}
    second = [step("one_class", after, method=name, class_id=1) for name, after in first.items()]
    retrains, rows, originals = (
        {getattr(each, name)().key for each in second}
        for name in ("retrained", "untouched", "original")
    )
    assert len(retrains) == len(rows) == len(originals) == 1
    assert retrains != {step("one_class", class_id=1).retrained().key} and originals == {
        first["ssd"].original().key
    }
    assert second[0].untouched().model_key == second[0].original().model_key
    assert step("one_class", first["ssd"], method="retrain", class_id=1).key in retrains
    assert step("one_class", first["ssd"], method="original", class_id=1).key in rows
    assert {need.key for need in second[0].needs()} == {
        *originals,
        *retrains,
        first["finetune"].key,
        first["finetune"].retrained().key,  # which that one needs
    }


def test_whoever_needs_a_record_of_training_serves_the_first_request_only():
    specs, refused = expand(grid(ONE, TWO, ("one_class", {}), names=["amnesiac", "finetune"]))
    assert [len(spec.requests) for spec in specs if spec.method == "amnesiac"] == [1]
    reasons = {(each.method, each.scenario): each.reason for each in refused}
    assert (
        "needs a record of the original's training (running_sum)"
        in reasons["amnesiac", "class_wise"]
    )
    assert (
        "does not get to request 3, one_class: it refused one before"
        in reasons["amnesiac", "one_class"]
    )
    with pytest.raises(Refused, match="serves the first request of a sequence only"):
        step("one_class", step("one_class", method="sisa"), method="sisa")


def test_what_cannot_be_a_sequence_gets_a_sentence():
    first = step("class_wise", class_ids=[0])
    with pytest.raises(BadValue, match="poisons the training data .* cannot be in a sequence"):
        step("label_flip", first)


def test_the_command_line_says_each_further_request_with_then():
    asked: dict[str, Any] = {
        "dataset": "digits",
        "model": "mlp",
        "methods": ["finetune"],
        "preset": "quick",
    }
    options = GridOptions(
        **asked,
        scenario=["class_wise"],
        changes=["scenario.class_ids=0"],
        then=["class_wise class_ids=1", "one_class class_id=2 budget=0.5"],
    )
    found = build_grid(options)
    assert found.sequence
    specs, _ = expand(found)
    last = specs[-1]
    assert [each.scenario_parameters for each in last.requests] == [
        {"class_ids": [0]},
        {"class_ids": [1]},
        {"class_id": 2, "budget": 0.5, "seed": 0},
    ]
    line = command_line(last.model_dump(mode="json"))
    assert (
        "--then 'class_wise class_ids=1'" in line
        and "--then 'one_class class_id=2 budget=0.5'" in line
    )
    for then, sentence in (
        (["one_class class_id"], "--then must look like"),
        (["one_class klass=3"], "one_class has no parameter 'klass'"),
        (["one_clas"], "Did you mean one_class"),
    ):
        with pytest.raises(MucoreError, match=sentence):
            expand(build_grid(GridOptions(**asked, scenario=["class_wise"], then=then)))
    with pytest.raises(BadValue, match="starts with one scenario"):
        build_grid(GridOptions(**asked, scenario=["class_wise,one_class"], then=["all_classes"]))


# -- runs


@pytest.fixture
def watched(monkeypatch) -> list[dict]:
    """Every method is fine-tuning, and tells what it was given."""
    seen: list[dict] = []
    method = methods.load("finetune")

    def watch(model: nn.Module, data, run, **parameters):
        before = fingerprint(model)
        after = method(model, data, run, **parameters)
        sets = {"forget": set(data.forget.ids.tolist()), "retain": set(data.retain.ids.tolist())}
        others = {
            each.item() for each in data.other_labels(data.forget.labels).nonzero()[:, 1].unique()
        }
        told = {
            "classes": data.forgotten_classes,
            "others": others,
            "validation": set(data.validation.labels.tolist()),
        }
        seen.append({**sets, **told, "before": before, "after": fingerprint(after)})
        return after

    monkeypatch.setattr(methods, "load", lambda *name: watch)
    return seen


def test_each_request_starts_from_the_result_before_and_sees_nothing_forgotten(session, watched):
    first = step("class_wise", class_ids=[0])
    second = step("class_wise", first, class_ids=[1])
    third = step("all_classes", second, budget=50)
    result = execute(third, session)  # makes what it needs
    splits = session.splits(third)
    labels = splits.train.labels
    zeros, ones = (set(splits.train.ids[labels == number].tolist()) for number in (0, 1))
    assert [seen["classes"] for seen in watched] == [(0,), (0, 1), ()]
    assert [watched[0]["forget"], watched[1]["forget"]] == [zeros, ones] and len(
        watched[2]["forget"]
    ) == 50
    ten = set(range(10))
    assert [seen["validation"] for seen in watched] == [ten, ten - {0}, ten - {0, 1}]
    assert [seen["others"] for seen in watched] == [ten - {0}, ten - {0, 1}, ten - {0, 1}]
    everything = set(splits.train.ids.tolist())
    assert watched[1]["retain"] == everything - zeros - ones
    assert watched[2]["retain"] == everything - zeros - ones - watched[2]["forget"] and not watched[
        2
    ]["forget"] & (zeros | ones)
    assert watched[0]["before"] == fingerprint(
        session.original(first)[0].train().requires_grad_(True)
    )
    assert (
        watched[1]["before"] == watched[0]["after"] and watched[2]["before"] == watched[1]["after"]
    )
    assert result.forget_count == 50 and result.retain_count == len(watched[2]["retain"])


@pytest.mark.slow
def test_retrain_leaves_out_all_that_was_asked_for_so_far(session):
    second = step("class_wise", step("class_wise", class_ids=[0]), class_ids=[1])
    result = execute(second, session)
    retrained = session.store.get_result(second.retrained().key)
    count = int((session.splits(second).train.labels > 1).sum())
    assert retrained.retain_count == count
    assert {name: reads for name, reads in retrained.cost["reads"].items() if reads} == {
        "retain/backward": RECIPE.epochs * count
    }
    confusion = np.array(retrained.confusion["test"])
    assert confusion[:, :2].sum() == 0  # a network that met neither class names neither
    # both classes are the forgotten ones of the test set
    assert retrained.metrics["tfa"].value == 0
    kept = confusion[2:]
    assert retrained.metrics["tra"].value == pytest.approx(np.trace(kept[:, 2:]) / kept.sum())
    assert result.metrics["tfa"].gap == result.metrics["tfa"].value
    texts = session.store.summaries().set_index("key")["scenario_parameters"]
    assert texts[second.key] == '{"after":["class_wise class_ids=[0]"],"class_ids":[1]}'
    assert texts[second.requests[0].key] == '{"class_ids":[0]}'


@pytest.mark.slow
def test_a_sequence_can_go_on_when_the_weights_before_were_cleared_away(session):
    first = step("class_wise", class_ids=[0])
    second = step("one_class", first, class_id=1)
    execute(first, session)
    made = session.store.artifacts.get_arrays(session.store.get_model(first.model_key).weights)
    session.store.gc("numbers", young_seconds=-1)
    assert session.load_model(first) is None
    assert execute(second, session).status == "ok"
    again = session.store.artifacts.get_arrays(session.store.get_model(first.model_key).weights)
    assert all(np.array_equal(made[name], again[name]) for name in made)


def test_a_sample_is_forgotten_once(session):
    first = step("ids", ids=[3, 5])
    with pytest.raises(BadValue, match="Sample 5 was forgotten by an earlier request"):
        execute(step("ids", first, ids=[5, 6]), session)
    with pytest.raises(BadValue, match="class 0 has none"):
        execute(step("one_class", step("class_wise", class_ids=[0]), class_id=0), session)
