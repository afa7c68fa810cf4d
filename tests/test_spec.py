"""Keys, defaults and range checks of a run's description."""

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mucore import catalog
from mucore.catalog.cards import Parameter
from mucore.errors import BadValue, UnknownName
from mucore.numbers import finite
from mucore.runs import REVISION, Recipe, RunSpec, check, make_recipe, make_spec, method_parameters

STANDARD = make_recipe("standard")


def spec(**changes) -> RunSpec:
    content: dict[str, Any] = {
        "dataset": "digits",
        "model": "mlp",
        "recipe": STANDARD,
        "scenario": "one_class",
        "method": "finetune",
    }
    return make_spec(**{**content, **changes})


def test_the_key_is_the_same_in_another_process():
    wanted = spec(training_seed=3, parameters={"lr": 0.02})
    code = (
        "import sys; from mucore.runs import RunSpec; "
        "print(RunSpec.model_validate_json(sys.stdin.read()).key)"
    )
    other = subprocess.run(
        [sys.executable, "-c", code],
        input=wanted.model_dump_json(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert other.stdout.strip() == wanted.key


DECIDING: list[dict[str, Any]] = [
    {"dataset": "fashion-mnist-10k"},
    {"model": "resnet9-small"},
    {"recipe": make_recipe("standard", {"epochs": 3})},
    {"scenario": "all_classes"},
    *({"scenario_parameters": each} for each in ({"budget": 0.1}, {"seed": 1})),
    {"method": "ssd"},
    {"parameters": {"lr": 0.02}},
    *({f"{name}_seed": 1} for name in ("training", "unlearning", "evaluation")),
    {"mia_samples": 100},
]


def test_whatever_decides_a_result_changes_the_key():
    keys = [spec(**changes).key for changes in DECIDING]
    assert len({*keys, spec().key}) == len(DECIDING) + 1


def test_what_does_not_decide_a_result_keeps_the_key(monkeypatch):
    assert spec(parameters={"lr": 0.01}).key == spec().key  # the default, spelled out
    assert spec(method="FT").key == spec().key  # an alias
    assert spec(method="retrain", unlearning_seed=5).key == spec(method="retrain").key


def test_a_raised_revision_changes_the_key(monkeypatch):
    from dataclasses import replace

    before = spec().key
    raised = tuple(
        replace(card, revision=card.revision + 1) if card.id == "finetune" else card
        for card in catalog.methods()
    )
    monkeypatch.setattr(catalog, "METHODS", raised)
    assert spec().key != before


def test_recipes_are_of_the_newest_revision_and_stored_ones_without_a_number_of_the_first():
    first = make_recipe("standard", {"revision": "1"})
    assert STANDARD.revision == REVISION == 2 and first.revision == 1
    # what a store of mucore 0.2 holds, to the letter
    assert "revision" not in first.model_dump(mode="json")
    assert Recipe.model_validate(first.model_dump(mode="json")) == first
    assert Recipe.model_validate(STANDARD.model_dump(mode="json")) == STANDARD
    assert spec(recipe=first).key != spec().key
    with pytest.raises(BadValue, match="revision"):
        make_recipe("standard", {"revision": REVISION + 1})


def test_tuned_settings_lie_on_top_of_those_of_the_papers_preset_as_in_their_search():
    of_mufac = {"recipe": make_recipe("mufac"), "paper": "mufac"}
    tuned = spec(**of_mufac, method_preset="tuned")
    searched = catalog.method("finetune").search
    tried = spec(**of_mufac, parameters={name: tuned.parameters[name] for name in searched})
    assert "momentum" not in searched and tuned.parameters["momentum"] == 0.0  # MUFAC's
    assert tuned.parameters == tried.parameters and tuned.model_key == tried.model_key


def test_user_data_is_named_by_its_content():
    here = spec(dataset="npz:/here/a.npz", data_hash="abc")
    there = spec(dataset="npz:/there/b.npz", data_hash="abc")
    assert here.key == there.key != spec(dataset="npz:/here/a.npz", data_hash="abd").key


def test_evaluation_changes_the_result_but_not_the_model():
    assert spec(evaluation_seed=1).model_key == spec().model_key
    assert spec(unlearning_seed=1).model_key != spec().model_key
    assert (
        spec(method="original", scenario="all_classes").model_key
        == spec(method="original").model_key
    )


def test_needs_are_the_original_and_retrain_of_the_same_seed():
    original, retrain = spec(training_seed=4, evaluation_seed=2).needs()
    assert (original.method, original.scenario, original.training_seed) == ("original", None, 4)
    assert (retrain.method, retrain.scenario, retrain.training_seed, retrain.evaluation_seed) == (
        "retrain",
        "one_class",
        4,
        2,
    )
    assert [s.method for s in retrain.needs()] == ["original"]
    assert original.needs() == []


def test_a_spec_survives_json():
    wanted = spec(scenario_parameters={"budget": 200})
    assert RunSpec.model_validate_json(wanted.model_dump_json()) == wanted
    assert RunSpec.model_validate_json(wanted.model_dump_json()).key == wanted.key


def test_authors_epochs_shrink_with_the_recipe_and_stay_at_least_one():
    card = catalog.method("finetune")  # 10 epochs after MUBox's 200
    assert method_parameters(card, make_recipe("mubox-cifar10"), {})["epochs"] == 10
    assert method_parameters(card, make_recipe("standard", {"epochs": 100}), {})["epochs"] == 5
    # and do not grow
    assert (
        method_parameters(card, make_recipe("mubox-cifar10", {"epochs": 400}), {})["epochs"] == 10
    )
    assert method_parameters(card, STANDARD, {})["epochs"] == 1
    # what a person sets is not scaled
    assert method_parameters(card, STANDARD, {"epochs": 10})["epochs"] == 10
    # passes over the forget set alone cost next to nothing and are not scaled
    assert method_parameters(catalog.method("gradient_ascent"), STANDARD, {})["epochs"] == 5


def test_a_papers_recipe_brings_what_the_paper_sets_for_a_method():
    """MUBox: 20 epochs of SalUn, its own rates of the first-order method by scenario; Choi and Na:
    fine-tuning at 0.001.
    """
    mubox, mufac = make_recipe("mubox-cifar10"), make_recipe("mufac")
    assert method_parameters(catalog.method("salun"), mubox, {})["epochs"] == 20
    first = catalog.method("first_order")
    assert [
        method_parameters(first, mubox, {}, scenario=name)["tau"]
        for name in ("one_class", "class_wise", "backdoor")
    ] == [0.04, 0.08, 3e-5]
    # the authors' for it stays
    assert method_parameters(first, mubox, {}, scenario="backdoor")["counterpart"] == "true_label"
    finetune = method_parameters(catalog.method("finetune"), mufac, {})
    assert (finetune["lr"], finetune["epochs"], finetune["momentum"], finetune["weight_decay"]) == (
        0.001,
        2,
        0.0,
        5e-4,
    )
    assert method_parameters(catalog.method("finetune"), mufac, {"epochs": 4})["epochs"] == 4
    other = make_recipe("mufac", {"epochs": 40})
    # another recipe is not the paper's
    assert method_parameters(catalog.method("finetune"), other, {})["lr"] == 0.01
    entries = make_recipe("neurips-faces")
    assert [
        method_parameters(catalog.method(name), entries, {})["epochs"]
        for name in ("fcs", "msg", "ct")
    ] == [8, 5, 3]


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"dataset": "fashion"}, UnknownName, "fashion-mnist"),
        ({"model": "resnet9"}, UnknownName, "Did you mean .*resnet9-small"),
        ({"scenario": "oneclass"}, UnknownName, "Did you mean one_class"),
        ({"method": "scrubb"}, UnknownName, "Did you mean scrub"),
        ({"scenario": None}, BadValue, "needs a scenario"),
        ({"parameters": {"lr": "fast"}}, BadValue, "lr must be a finite number, but got 'fast'"),
        ({"parameters": {"lr": float("nan")}}, BadValue, "finite"),
        ({"parameters": {"epochs": 1.5}}, BadValue, "whole number .* but got 1.5"),
        ({"parameters": {"learning_rate": 1}}, BadValue, "no parameter 'learning_rate'"),
        ({"method": "ssd", "parameters": {"fisher": "batches"}}, BadValue, "must be one of batch"),
        ({"method": "salun", "parameters": {"density": 50}}, BadValue, r"in \[0, 1\], but got 50"),
        ({"scenario_parameters": {"budget": 0}}, BadValue, "samples from 1, but got 0"),
        ({"scenario_parameters": {"budget": "120%"}}, BadValue, r"\(0, 1\]"),
        ({"training_seed": -1}, BadValue, "training_seed"),
        ({"method_preset": "best"}, BadValue, "authors or tuned"),
    ],
)
def test_bad_input_gets_a_sentence(changes, error, words):
    with pytest.raises(error, match=words):
        spec(**changes)


@pytest.mark.parametrize(
    ("given", "expected"),
    [("0.2", 0.2), ("20%", 0.2), (0.2, 0.2), ("200", 200), (1, 1), (1.0, 1.0), ("100%", 1.0)],
)
def test_a_budget_is_a_share_or_a_number_of_samples(given, expected):
    card = Parameter(name="budget", kind="budget", default=0.2, help="")
    value = check(card, given, owner="scenario")
    assert value == expected and type(value) is type(expected)


@given(
    st.floats(allow_nan=False, allow_infinity=False)
    | st.integers()
    | st.text(max_size=8)
    | st.booleans()
    | st.none()
)
def test_a_checked_value_is_in_range_or_refused(value):
    card = Parameter(name="lr", kind="float", default=0.1, low=1e-6, high=1.0, help="")
    try:
        result = check(card, value, owner="method")
    except BadValue as error:
        assert "lr" in str(error)
    else:
        assert isinstance(result, float) and 1e-6 <= result <= 1.0


def test_every_default_and_what_a_preset_sets_for_methods_is_legal():
    for card in catalog.methods():
        values = method_parameters(card, STANDARD, {})
        assert set(values) == {p.name for p in card.parameters}
        for parameter in card.parameters:
            assert check(parameter, values[parameter.name], owner=card.id) == values[parameter.name]
    for preset in catalog.presets():
        for name, values in preset.methods.items():
            method, _, scenario = name.partition("/")
            card, recipe = catalog.method(method), make_recipe(preset.id)
            found = method_parameters(card, recipe, {}, scenario=scenario or None)
            assert values and found | dict(values) == found
            assert not scenario or catalog.scenario(scenario)


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("epochs", "-7", "at least 0"),
        ("epochs", 1.5, "whole number"),
        ("lr", "nan", "at most 100"),
        ("nesterov", "perhaps", "true or false"),
        ("optimizer", "newton", "'sgd'"),
    ],
)
def test_a_refused_field_is_told_in_plain_words(field, value, rule):
    with pytest.raises(BadValue) as refused:
        make_recipe("standard", {field: value})
    said = str(refused.value)
    assert field in said and rule in said and repr(value) in said
    assert "Input should" not in said


@pytest.mark.parametrize(
    "text", ["1_000", "\u0663", "0x10", "1e400", "nan", "inf", "1,5", "1e", "", "--1"]
)
def test_a_number_is_written_in_the_digits_0_to_9_and_does_not_overflow(text):
    with pytest.raises(BadValue, match="finite number"):
        finite(text, "lr")


def test_numbers_are_what_they_say():
    texts = {"1e-3": 0.001, " 2 ": 2.0, ".5": 0.5, "-1.": -1.0, "0e5": 0.0, "+3E2": 300.0}
    assert {text: finite(text, "lr") for text in texts} == texts
