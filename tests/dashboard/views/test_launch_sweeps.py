"""The launch page on sensitivity: noise, the classifier alone and sweeps, in the count of runs, the
address and the stored grid.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from facts import tells
from pages import open_page, words_on
from streamlit.testing.v1 import AppTest

from mucore import catalog
from mucore.runner.plan import expand, parse_grid
from mucore.store import open_store

SMALL: dict[str, str | list[str]] = {
    "dataset": "digits",
    "model": "mlp",
    "preset": "quick",
    "methods": ["scrub"],
}
pytestmark = pytest.mark.usefixtures("home")


def opened(**query: str | list[str]) -> AppTest:
    at = open_page("launch", **{**SMALL, **query})
    assert not at.exception
    return at


def field(at: AppTest, label: str):
    return next(one for one in [*at.text_input, *at.multiselect] if one.label == label)


def section(at: AppTest):
    return next(one for one in at.expander if one.label.startswith("Sensitivity"))


def test_the_section_is_closed_until_something_in_it_is_set():
    at = opened()
    assert not section(at).proto.expanded and at.button(key="start").label == "Start 4 runs"
    field(at, "Noise on gradients, one or several").set_value("0, 0.001; 0.1,0").run()
    assert at.button(key="start").label == "Start 6 runs"
    assert at.query_params["noise"] == "0, 0.001; 0.1,0"
    field(at, "Noise on gradients, one or several").set_value("0").run()
    assert section(at).proto.expanded  # it does not close while somebody works in it
    assert "noise" not in at.query_params and at.button(key="start").label == "Start 4 runs"


def test_what_is_launched_has_noise_scopes_and_every_combination(home: Path):
    sweep = {
        "sweep": ["scrub.lr", "scrub.msteps"],
        "sweep.scrub.lr": "0.001,0.01",
        "sweep.scrub.msteps": "1,2,3",
    }
    at = opened(noise="0,0.1", scopes=["all", "classifier"], methods=["scrub", "finetune"], **sweep)
    assert (
        at.button(key="start").label == "Start 31 runs"
    )  # training, Original, Retrain; 2 noises by 2 scopes for finetune and six times for SCRUB
    assert "Left out on the classifier" not in words_on(at)
    at.button(key="start").click().run()
    with open_store(home) as store:
        (comparison,) = store.comparisons()
        assert comparison.name.endswith("2 methods")
    grid = parse_grid(comparison.grid)
    assert grid.noise == [0.0, 0.1] and grid.scopes == ["all", "classifier"]
    specs = [spec for spec in expand(grid)[0] if spec.method == "scrub"]
    found = {
        (spec.parameters["lr"], spec.parameters["msteps"], spec.noise, spec.scope) for spec in specs
    }
    assert found == {
        (lr, m, n, s)
        for lr in (0.001, 0.01)
        for m in (1, 2, 3)
        for n in (0.0, 0.1)
        for s in ("all", "classifier")
    }


def test_methods_that_cannot_be_confined_are_named_before_anything_starts():
    both = opened(
        scopes=["all", "classifier"],
        methods=["ssd", "finetune"],
        scenarios=["one_class", "class_wise"],
    )
    words = words_on(both)
    # training; twice Original, Retrain, SSD, Fine-tune and that on the classifier
    assert both.button(key="start").label == "Start 11 runs"
    assert tells(words, "Left out", "classifier", "SSD")
    assert not tells(words, "Left out", "Fine-tune")
    # of two scenarios
    reason = catalog.method("ssd").not_confinable
    assert words.count(reason) == 1 and tells(words, "SSD", "classifier", reason)
    alone = opened(scopes=["classifier"], methods=["ssd"])
    assert alone.button(key="start").label == "Start 3 runs"


def test_a_parameter_is_picked_and_starts_at_its_own_value():
    at = opened()
    field(at, "Parameters to sweep").set_value(["scrub.lr"]).run()
    assert (
        field(at, "SCRUB: lr").value == "0.0005" and at.button(key="start").label == "Start 4 runs"
    )
    field(at, "SCRUB: lr").set_value("0.0005,0.005").run()
    assert at.button(key="start").label == "Start 5 runs"
    again = opened(**at.query_params)
    assert again.button(key="start").label == "Start 5 runs" and field(
        again, "Parameters to sweep"
    ).value == ["scrub.lr"]


def test_choices_are_ticked_and_lists_have_semicolons_between_them():
    at = opened(
        sweep=["scrub.milestones", "scrub.break_symmetry"], **{"sweep.scrub.milestones": "1,2; 3"}
    )
    assert at.button(key="start").label == "Start 5 runs"
    field(at, "SCRUB: break symmetry").set_value(["bn_train", "min_first"]).run()
    assert at.button(key="start").label == "Start 7 runs"
    field(at, "SCRUB: break symmetry").set_value([]).run()
    assert at.button(key="start").disabled
    assert tells(words_on(at), "SCRUB: break symmetry", "needs a value")


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        (
            {"noise": "-1"},
            "noise must be in [0, 100], but got -1. Write numbers such as 0,0.001,0.01",
        ),
        ({"scopes": ""}, "Methods need something to change"),
        ({"sweep": "scrub.lr", "sweep.scrub.lr": "0.1,99"}, "lr must be in"),
        ({"mia_samples": "5"}, "Attack samples goes from 10 to 100,000, but is 5"),
        (
            {"sweep": "scrub.lr", "settings": "own", "scrub.lr": "0.002"},
            "SCRUB: lr is swept and changed above",
        ),
        (
            {"sweep": ["scrub.alpha", "scrub.gamma", "scrub.rho"]}
            | {
                f"sweep.scrub.{name}": ",".join(f"0.{n:03}" for n in range(1, 101))
                for name in ("alpha", "gamma", "rho")
            },
            "Choose fewer values",
        ),
    ],
)
def test_bad_values_are_answered_in_words_and_nothing_else_is_lost(query, sentence):
    at = opened(**query, training_seeds="0,1")
    assert at.button(key="start").disabled
    assert sentence.lower() in words_on(at).lower()
    assert at.query_params["training_seeds"] == "0,1"
