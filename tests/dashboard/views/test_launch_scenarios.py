"""The launch page under the scenarios of classes and persons: forms, refusals with their reason,
requests one after another.
"""

from __future__ import annotations

import pytest
from facts import tells
from pages import open_page, words_on
from streamlit.testing.v1 import AppTest

from dashboard.text import labels
from dashboard.text.units import plain
from mucore import catalog

SMALL: dict[str, str | list[str]] = {
    "dataset": "digits",
    "model": "mlp",
    "preset": "quick",
    "methods": ["finetune"],
}
pytestmark = pytest.mark.usefixtures("home")


DIGITS = catalog.dataset("digits").title


def opened(**query: str | list[str]) -> AppTest:
    at = open_page("launch", **{**SMALL, **query})
    assert not at.exception
    return at


def method(at: AppTest, title: str):
    return next(one for one in at.checkbox if one.label == title)


@pytest.mark.parametrize(
    ("query", "facts"),
    [
        ({"scenarios": ["identities"]}, (f"“{DIGITS}”", "does not say who")),
        ({"scenarios": ["competition"]}, (f"“{DIGITS}”", "does not say who")),
        ({"scenarios": ["top_classes"]}, (f"“{DIGITS}”", "no downstream set")),
        ({"scenarios": ["top_classes"], "top_classes.downstream": "cifar10"}, ("“CIFAR-10”",)),
        ({"scenarios": ["random_classes"], "random_classes.n": "10"}, ("10 of the 10 classes",)),
        ({"scenarios": ["class_fraction"], "class_fraction.fraction": "2"}, ("fraction must be",)),
        ({"scenarios": ["ids"], "ids.ids": ""}, ("needs the ids",)),
    ],
)
def test_what_cannot_run_is_said_and_cannot_be_started(query, facts):
    at = opened(**query)
    assert tells(words_on(at), *facts) and at.button(key="start").disabled


def test_a_named_downstream_set_can_be_started():
    at = opened(
        scenarios=["top_classes"], **{"top_classes.downstream": "digits", "top_classes.n": "2"}
    )
    assert not at.button(key="start").disabled and at.button(key="start").label == "Start 4 runs"


def test_methods_that_do_not_go_with_a_scenario_are_greyed_with_their_reason():
    whole = opened(scenarios=["random_classes"])
    assert not method(whole, "GKT").disabled and method(whole, "SCRUB+R").disabled
    gkt, rewind = (
        labels.with_titles(catalog.method(name).scenarios_reason, name)
        for name in ("gkt", "scrub_rewind")
    )
    assert rewind in words_on(whole) and gkt not in words_on(whole)
    part = opened(scenarios=["class_fraction"])
    assert method(part, "GKT").disabled and not method(part, "SCRUB+R").disabled
    assert gkt in words_on(part) and rewind not in words_on(part)


def test_scenarios_can_be_requests_one_after_another():
    query = {"scenarios": ["one_class", "random_classes"], "methods": ["finetune", "amnesiac"]}
    apart, sequence = opened(**query), opened(**query, sequence="1")
    assert apart.button(key="start").label == "Start 9 runs"
    # amnesiac serves the first request only
    assert sequence.button(key="start").label == "Start 8 runs"
    assert tells(words_on(sequence), catalog.method("amnesiac").title, "first request")
    assert not tells(words_on(apart), "first request")
    assert not any(
        one.label == "One after another" for one in opened(scenarios=["one_class"]).toggle
    )


@pytest.mark.parametrize("preset", [card.id for card in catalog.presets() if card.dataset])
def test_a_papers_preset_brings_its_whole_setting_in_one_click(preset: str):
    card = catalog.preset(preset)
    at = opened(preset=preset)  # on data and a model that the address names
    words = words_on(at)
    assert f"(preset: {catalog.dataset(card.dataset).title})" in words and card.open_points in words
    at.button(key="take_setting").click().run()
    assert not at.exception
    shown = {one.label: one.value for one in at.selectbox}
    assert (shown["Data set"], shown["Model"]) == (card.dataset, card.model)
    (chosen,) = [
        getattr(one, "value", None)
        for one in at.get("button_group")
        if getattr(one, "label", "") in ("Scenario", "Scenarios")
    ]
    assert ([chosen] if isinstance(chosen, str) else chosen) == list(card.scenarios)
    for scenario, values in card.scenarios.items():
        for name, value in values.items():
            key = f"url:{scenario}.{name}"
            assert next(
                one.value for one in [*at.text_input, *at.selectbox] if one.key == key
            ) == plain(value)
    assert not [one for one in at.button if one.key == "take_setting"]
