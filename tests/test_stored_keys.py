"""Parameters that came to a card after results existed must not move the keys of those; a raised
revision must, and nothing else.

Results of a card's earlier revision stay in the demo until they are computed anew: their keys are
those of that revision.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mucore import catalog
from mucore.runs import RunSpec, complete, make_recipe, make_spec, method_parameters
from mucore.store import open_pack

DEMO = Path(__file__).resolve().parents[1] / "data" / "demo"
RECIPE = make_recipe("standard")
OMITTED = [(card, p) for card in catalog.METHODS for p in card.parameters if p.omitted_when_default]


@pytest.fixture(scope="module")
def results():
    with open_pack(DEMO) as store:
        return store.results()


def test_every_demo_result_is_found_by_its_stored_description(results):
    assert len(results) > 100
    for result in results:
        stored = RunSpec.model_validate(result.spec)
        assert (stored.key, stored.model_key) == (result.key, result.model_key)


@pytest.mark.slow
def test_every_demo_result_is_found_by_whoever_asks_for_it_again(results):
    for result in results:
        # nobody asks for those: they come with the runs that need them
        if result.spec["scenario"] is None and "poison" in result.spec:
            continue
        wanted = {
            name: value
            for name, value in result.spec.items()
            if name not in ("recipe", "method_hash", "poison")
        }
        wanted["method_preset"] = wanted["method_preset"].removesuffix("_elsewhere")  # is told
        # what a spec leaves out is its card's default; a preset of today may set something else
        wanted["parameters"] = complete(catalog.method(result.spec["method"]), wanted["parameters"])
        assert (
            make_spec(recipe=RunSpec.model_validate(result.spec).recipe, **wanted).key == result.key
        )


def other_value(parameter):
    if parameter.kind == "choice":
        return next(
            choice
            for choice in parameter.choices
            if choice != parameter.default and choice not in parameter.choice_scenarios
        )
    return (
        2
        if parameter.default is None
        else parameter.default / 2
        if parameter.kind == "float"
        else parameter.default + 1
    )


@pytest.mark.parametrize(
    ("card", "parameter"), OMITTED, ids=[f"{card.id}.{p.name}" for card, p in OMITTED]
)
def test_a_newer_parameter_is_written_only_where_it_differs(card, parameter):
    common: dict[str, Any] = {
        "dataset": "fashion-mnist-10k",
        "model": "resnet9-small",
        "recipe": RECIPE,
        "scenario": "one_class",
        "method": card.id,
    }
    plain = make_spec(**common)
    assert parameter.name not in plain.parameters
    assert make_spec(**common, parameters={parameter.name: parameter.default}).key == plain.key
    assert complete(card, plain.parameters)[parameter.name] == parameter.default
    if parameter.kind != "choice" or set(parameter.choices) - {parameter.default} - set(
        parameter.choice_scenarios
    ):
        changed = make_spec(**common, parameters={parameter.name: other_value(parameter)})
        assert (
            changed.parameters[parameter.name] == other_value(parameter)
            and changed.key != plain.key
        )
    # its default must be the same under every recipe, or a spec could not leave it out
    assert (
        method_parameters(card, make_recipe("mubox-cifar10"), {})[parameter.name]
        == parameter.default
    )
