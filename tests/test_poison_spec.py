"""Keys of poisoned runs, values that only some scenarios serve, and parameters that came after
results existed.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from mucore import catalog
from mucore.errors import BadValue, Refused
from mucore.runner.grid import Grid, MethodChoice, ScenarioChoice, expand
from mucore.runs import RunSpec, make_recipe, make_spec

RECIPE = make_recipe("standard")


def spec(**changes: Any) -> RunSpec:
    content: dict[str, Any] = {
        "dataset": "digits",
        "model": "mlp",
        "recipe": RECIPE,
        "scenario": "backdoor",
        "method": "finetune",
    }
    return make_spec(**{**content, **changes})


def grid(**changes: Any) -> Grid:
    content: dict[str, Any] = {
        "dataset": "digits",
        "model": "mlp",
        "scenarios": [],
        "methods": [MethodChoice(id="finetune")],
        **changes,
    }
    content["scenarios"] = [
        ScenarioChoice(id=s) if isinstance(s, str) else s for s in content["scenarios"]
    ]
    return Grid(**content)


# -- keys


def test_a_poisoned_original_is_another_model_than_the_clean_one():
    poisoned, clean = spec(), spec(scenario="one_class")
    base = poisoned.original()
    assert base.scenario is None and base.poison == {
        "scenario": "backdoor",
        **poisoned.scenario_parameters,
    }
    assert clean.original().poison == {} and "poison" not in clean.canonical()
    assert base.key != clean.original().key and base.model_key != clean.original().model_key
    assert base.label == "train poisoned original (backdoor) · digits · mlp · seed 0"
    # the row of the scenario shows the same weights
    assert spec(method="original").model_key == base.model_key
    assert poisoned.retrained().poison == poisoned.poison


def test_whatever_decides_the_poison_changes_the_original():
    changes = {"budget": 0.2, "target": 1, "size": 3, "value": 0, "position": "top_left", "seed": 1}
    keys = [
        spec(scenario_parameters={name: value}).original().key for name, value in changes.items()
    ]
    assert len({*keys, spec().original().key}) == len(changes) + 1


def test_the_revision_of_the_card_counts_where_no_scenario_is_left(monkeypatch):
    before = spec().original().key, spec(scenario="label_flip").original().key
    cards = tuple(
        dataclasses.replace(card, revision=2) if card.id == "backdoor" else card
        for card in catalog.SCENARIOS
    )
    monkeypatch.setattr(catalog, "SCENARIOS", cards)
    assert (
        spec().original().key != before[0]
        and spec(scenario="label_flip").original().key == before[1]
    )


# -- the plan


def test_each_poison_gets_an_original_of_its_own_and_clean_scenarios_share_one():
    half = ScenarioChoice(id="backdoor", parameters={"budget": 0.05})
    specs, refused = expand(
        grid(scenarios=["one_class", "class_wise", "backdoor", half, "label_flip"])
    )
    originals = [each for each in specs if each.scenario is None]
    assert not refused and [each.poison.get("scenario") for each in originals] == [
        None,
        "backdoor",
        "backdoor",
        "label_flip",
    ]
    position = {each.key: number for number, each in enumerate(specs)}
    assert len(position) == len(specs)
    assert all(
        position[needed.key] < position[each.key] for each in specs for needed in each.needs()
    )


@pytest.mark.parametrize(
    ("scenario", "given", "sentence"),
    [
        ("label_flip", {"pairs": "0-10"}, "two classes from 0 to 9, but got 0-10"),
        ("backdoor", {"target": 10}, "a class from 0 to 9, but got 10"),
        ("backdoor", {"size": 8}, "8 by 8 pixels, but its size is 8"),
        ("backdoor", {"budget": 1200}, "digits has 1200 training samples, but got 1200"),
    ],
)
def test_what_the_data_sets_card_rules_out_is_refused_before_anything_runs(
    scenario: str, given: dict, sentence: str
):
    with pytest.raises(BadValue, match=sentence):
        expand(grid(scenarios=[ScenarioChoice(id=scenario, parameters=given)]))


# -- methods


def test_every_method_runs_under_both_or_says_why_not():
    served = {
        name: [card.id for card in catalog.methods() if catalog.serves(card, name)]
        for name in ("label_flip", "backdoor")
    }
    left_out = {card.id for card in catalog.METHODS} - set(served["backdoor"])
    assert served["label_flip"] == served["backdoor"]
    assert left_out == {"scrub_rewind", "gkt", "head_distillation"}
    for name in left_out:
        with pytest.raises(Refused, match=f"{name} does not run under scenario backdoor: "):
            spec(method=name)


@pytest.mark.parametrize(
    ("method", "given", "scenario", "sentence"),
    [
        (
            "first_order",
            {"counterpart": "true_label"},
            "one_class",
            "only poisoned samples .* Choose delete or random_label or soft_uniform",
        ),
        (
            "second_order",
            {"counterpart": "feature_mask"},
            "all_classes",
            "no trigger on the images",
        ),
        (
            "first_order",
            {"counterpart": "feature_mask"},
            "label_flip",
            "no trigger .* Choose .* or soft_uniform or true_label",
        ),
        (
            "pgu",
            {"variant": "depoison"},
            "class_wise",
            "variant cannot be depoison .*: nothing is poisoned there.* Choose forget",
        ),
    ],
)
def test_a_value_that_needs_poison_is_refused_without_it(
    method: str, given: dict, scenario: str, sentence: str
):
    with pytest.raises(Refused, match=sentence):
        spec(method=method, parameters=given, scenario=scenario)
    choice = MethodChoice(id=method, parameters=given)
    specs, refused = expand(grid(scenarios=[scenario, "backdoor"], methods=[choice]))
    assert [(one.method, one.scenario) for one in refused] == [(method, scenario)]
    assert [each.scenario for each in specs if each.method == method] == ["backdoor"]
