"""Whose settings a run has."""

import json

import pandas as pd

from dashboard.text import presets
from mucore import catalog
from mucore.runs import make_recipe, method_parameters

RECIPE = make_recipe("quick")


def preset(
    method: str = "pseudo_labels", name: str = "authors", scenario: str = "class_wise", **changes
) -> str:
    parameters = method_parameters(catalog.method(method), RECIPE, {}, scenario=scenario) | changes
    return presets.preset_of(
        method, name, RECIPE.model_dump_json(), scenario, json.dumps(parameters)
    )


def test_the_authors_settings_of_every_method_are_theirs():
    others = [
        (card.id, scenario)
        for card in catalog.methods()
        for scenario in ("one_class", "class_wise", "backdoor")
        if card.id != "uploaded" and preset(card.id, scenario=scenario) != "authors"
    ]
    assert others == []


def test_a_changed_value_noise_and_the_classifier_alone_are_ones_own():
    assert (
        preset(lr=0.5)
        == preset(nesterov=True)
        == preset(gradient_noise=0.1)
        == preset(scope="classifier")
        == "own"
    )
    assert (
        preset(name="tuned", lr=0.5) == "tuned"
        and preset(name="tuned", scope="classifier") == "own"
    )


def test_parameters_that_came_late_and_methods_without_a_card_change_nothing():
    parameters = method_parameters(
        catalog.method("pseudo_labels"), RECIPE, {}, scenario="class_wise"
    )
    del parameters["nesterov"]
    recipe = RECIPE.model_dump_json()
    assert (
        presets.preset_of("pseudo_labels", "authors", recipe, "class_wise", json.dumps(parameters))
        == "authors"
    )
    assert (
        presets.preset_of("of_a_plugin_that_left", "authors", recipe, "class_wise", '{"lr": 1}')
        == "authors"
    )


def test_a_column_for_every_run():
    line = {
        "method": "finetune",
        "method_preset": "authors",
        "recipe": RECIPE.model_dump_json(),
        "scenario": "one_class",
    }
    usual = json.dumps(
        method_parameters(catalog.method("finetune"), RECIPE, {}, scenario="one_class")
    )
    own = {**line, "parameters": '{"lr": 0.5}'}
    runs = pd.DataFrame([{**line, "parameters": usual}, own, own], index=[7, 3, 5])
    assert presets.presets(runs).to_dict() == {7: "authors", 3: "own", 5: "own"}
    assert presets.presets(runs.iloc[:0]).empty


def test_a_run_has_the_values_that_it_leaves_out_for_its_keys_sake():
    stored = json.dumps({"alpha": 10.0, "lam": 1.0, "milestones": [1, 2]})
    assert presets.has_values("ssd", stored, {"selection": "alpha", "alpha": 10.0})
    assert not presets.has_values("ssd", stored, {"selection": "percentile", "alpha": 10.0})
    assert presets.has_values("no such method", stored, {"lam": 1.0, "milestones": (1, 2)})
    assert not presets.has_values("ssd", json.dumps({"lam": 1.0, "scope": "head"}), {"lam": 1.0})
