"""What a preset says where a person leaves something open: the same from the command line and from
Python.
"""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from dashboard.text import labels
from mucore import api, catalog, cli
from mucore.cli.commands import app
from mucore.runner.grid import expand
from mucore.runner.plan import Plan
from mucore.runs import FIRST, make_recipe, make_spec, method_parameters


def asked(**flags: Any) -> list[dict[str, Any]]:
    return [
        choice.model_dump()
        for choice in cli.build_grid(cli.GridOptions(methods=["finetune"], **flags)).scenarios
    ]


def values(preset: str, method: str, **changes: Any) -> dict[str, Any]:
    return method_parameters(catalog.method(method), make_recipe(preset, changes), {}, paper=preset)


def test_a_scenario_that_is_named_keeps_what_the_preset_sets_for_it():
    (choice,) = asked(preset="efficacy-mnist", scenario=["class_fraction"])
    assert choice == {"id": "class_fraction", "parameters": {"class_id": 3, "fraction": 0.1}}
    (choice,) = asked(
        preset="efficacy-mnist", scenario=["class_fraction"], changes=["scenario.fraction=0.5"]
    )
    assert choice["parameters"] == {"class_id": 3, "fraction": "0.5"}
    budgets = {
        each["id"]: each["parameters"].get("budget")
        for each in asked(preset="mubox-cifar10", budget="10%")
    }
    assert budgets["one_class"] == "10%" and budgets["class_wise"] is None
    assert asked(preset="mubox-cifar10", scenario=["one_class"])[0]["parameters"] == {
        "budget": 1000
    }


def test_a_further_request_has_what_the_preset_sets_for_it():
    first, second = asked(
        preset="mubox-cifar10", scenario=["class_wise"], then=["one_class class_id=3"]
    )
    assert (first["parameters"], second["parameters"]) == ({}, {"budget": 1000, "class_id": "3"})


def test_a_changed_recipe_leaves_what_the_paper_sets_for_methods():
    assert values("efficacy-mnist", "fisher", epochs=5)["alpha"] == 1e-7
    assert values("efficacy-mnist", "amnesiac", epochs=5)["repair_epochs"] == 0
    assert (
        values("mubox-cifar10", "salun")["epochs"] == 20
        and values("mubox-cifar10", "salun", epochs=20)["epochs"] == 2
    )
    common: dict[str, Any] = {
        "dataset": "digits",
        "model": "mlp",
        "scenario": "one_class",
        "method": "fisher",
    }
    recipe = make_recipe("efficacy-mnist", {"epochs": 5})
    assert make_spec(**common, recipe=recipe, paper="efficacy-mnist").parameters["alpha"] == 1e-7
    assert make_spec(**common, recipe=recipe).parameters["alpha"] == 1e-6
    assert (
        make_spec(
            **common, recipe=recipe, paper="efficacy-mnist", parameters={"alpha": 1e-8}
        ).parameters["alpha"]
        == 1e-8
    )


REPEATED: list[dict[str, Any]] = [
    *(
        {
            "recipe": make_recipe("efficacy-mnist", {"epochs": 5}),
            "scenario": "class_fraction",
            "scenario_parameters": {"class_id": class_id},
            "method": "fisher",
            "parameters": {"alpha": alpha},
        }
        for class_id in (0, 3)
        for alpha in (1e-6, 1e-7)
    ),
    {"method": "scrub", "parameters": {"lr": 0.002, "milestones": [2, 4]}, "training_seed": 1},
    {"noise": 1e-05},
    {"noise": 0.25, "scope": "classifier"},
    {"scenario": "backdoor", "method": "pgu", "parameters": {"variant": "forget"}},
    {"scenario": "backdoor", "method": "pgu"},
    {
        "scenario": "label_flip",
        "scenario_parameters": {"pairs": "0-9,2-7", "budget": 50},
        "method": "first_order",
        "parameters": {"tau": 1e-3},
    },
]


@pytest.mark.parametrize("changes", REPEATED)
def test_the_command_of_a_run_makes_its_key(changes: dict[str, Any]) -> None:
    usual: dict[str, Any] = {"recipe": make_recipe("quick"), "scenario": "one_class"}
    usual |= {"dataset": "digits", "model": "mlp", "method": "finetune"}
    made = make_spec(**usual | changes)
    words = shlex.split(labels.command_line(made.model_dump(mode="json")).replace("\\\n", " "))
    assert words[:4] == ["python", "-m", "mucore", "run"]
    _, bound, _ = app.parse_args(["plan", *words[4:]], print_error=False, exit_on_error=False)
    grid = cli.build_grid(bound.arguments["options"])
    assert made.key in {spec.key for spec in expand(grid)[0]}


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[Plan]:
    """What Python would compute; nothing is."""
    found: list[Plan] = []

    def note(plan: Plan, *_: Any, **__: Any) -> list[Any]:
        found.append(plan)
        return []

    monkeypatch.setattr("mucore.runner.local.compute", note)
    return found


@pytest.mark.parametrize("card", catalog.presets(), ids=lambda card: card.id)
@pytest.mark.parametrize("scenarios", ["all", "first"])
def test_the_command_line_and_python_ask_for_the_same_runs(card, scenarios, plans, tmp_path):
    named = [] if scenarios == "all" else [next(iter(card.scenarios), next(iter(FIRST.scenarios)))]
    methods = ["finetune", "salun", "fisher", "amnesiac"]
    flags: dict[str, Any] = {"scenario": named or None}
    if not card.dataset:
        flags = {
            "dataset": FIRST.dataset,
            "model": FIRST.model,
            "scenario": named or list(FIRST.scenarios),
        }
    grid = cli.build_grid(cli.GridOptions(methods=methods, preset=card.id, **flags))
    api.compare(preset=card.id, scenario=named, methods="all", home=tmp_path)
    (plan,) = plans
    wanted = {spec.key for spec in expand(grid)[0]}
    assert wanted == {
        spec.key for spec in plan.specs if spec.method in (*methods, "original", "retrain")
    }
