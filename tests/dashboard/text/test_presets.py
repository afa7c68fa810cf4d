"""Whose settings a run has."""

import json

import pandas as pd
import pytest

from dashboard.text import presets
from mucore import catalog
from mucore.spec import make_recipe, method_parameters

RECIPE = make_recipe("quick")


def preset(
    method: str = "pseudo_labels", name: str = "authors", scenario: str = "class_wise", **changes
) -> str:
    parameters = method_parameters(catalog.method(method), RECIPE, {}, scenario=scenario) | changes
    return presets.preset_of(
        method, name, RECIPE.model_dump_json(), scenario, json.dumps(parameters)
    )


@pytest.mark.parametrize("method", [card.id for card in catalog.methods() if card.id != "uploaded"])
@pytest.mark.parametrize("scenario", ["one_class", "class_wise", "backdoor"])
def test_the_authors_settings_of_every_method_are_theirs(method, scenario):
    assert preset(method, scenario=scenario) == "authors"


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
    runs = pd.DataFrame(
        [{**line, "parameters": usual}, {**line, "parameters": '{"lr": 0.5}'}], index=[7, 3]
    )
    assert presets.presets(runs).to_dict() == {7: "authors", 3: "own"}
