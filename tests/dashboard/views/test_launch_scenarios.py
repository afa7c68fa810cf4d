"""The launch page under the scenarios of classes and persons: forms, refusals with their reason,
requests one after another.
"""

from __future__ import annotations

import pytest
from facts import tells
from pages import open_page, words_on
from streamlit.testing.v1 import AppTest

from dashboard.text import labels
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


def offered(at: AppTest) -> set[str]:
    """Titles of the methods that can be chosen."""
    return {*at.button_group(key="url:methods").options}


@pytest.mark.parametrize(
    ("query", "facts"),
    [
        ({"scenarios": ["identities"]}, (f"“{DIGITS}”", "does not say who")),
        ({"scenarios": ["top_classes"], "top_classes.downstream": "cifar10"}, ("“CIFAR-10”",)),
        ({"scenarios": ["random_classes"], "random_classes.n": "10"}, ("10 of the 10 classes",)),
        ({"scenarios": ["ids"], "ids.ids": ""}, ("needs the ids",)),
    ],
)
def test_what_cannot_run_is_said_and_cannot_be_started(query, facts):
    at = opened(**query)
    assert tells(words_on(at), *facts) and at.button(key="start").disabled


def test_methods_that_do_not_go_with_a_scenario_are_named_with_their_reason():
    for scenario, left_out, other in (
        ("random_classes", "scrub_rewind", "gkt"),
        ("class_fraction", "gkt", "scrub_rewind"),
    ):
        at = opened(scenarios=[scenario])
        assert offered(at) & {"GKT", "SCRUB+R"} == {catalog.method(other).title}
        (said,) = [one for one in at.caption if catalog.method(left_out).title in one.value]
        assert labels.with_titles(catalog.method(left_out).scenarios_reason, left_out) in said.help


def test_scenarios_can_be_requests_one_after_another():
    query = {"scenarios": ["one_class", "random_classes"], "methods": ["finetune", "amnesiac"]}
    apart, sequence = opened(**query), opened(**query, sequence="1")
    assert apart.button(key="start").label.startswith("Start 9 runs")
    # amnesiac serves the first request only
    assert sequence.button(key="start").label.startswith("Start 8 runs")
    assert tells(words_on(sequence), catalog.method("amnesiac").title, "first request")
    assert not tells(words_on(apart), "first request")
    assert not any(
        one.label == "One after another" for one in opened(scenarios=["one_class"]).toggle
    )
