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
from mucore.runner.grid import expand, parse_grid
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


def test_what_is_launched_has_noise_scopes_and_every_combination(home: Path):
    sweep = {
        "sweep": ["scrub.lr", "scrub.msteps"],
        "sweep.scrub.lr": "0.001,0.01",
        "sweep.scrub.msteps": "1,2,3",
    }
    at = opened(noise="0,0.1", scopes=["all", "classifier"], methods=["scrub", "finetune"], **sweep)
    assert at.button(key="start").label.startswith(
        "Start 31 runs"
    )  # training, Original, Retrain; 2 noises by 2 scopes for finetune and six times for SCRUB
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
    assert both.button(key="start").label.startswith("Start 11 runs")
    # of two scenarios
    reason = catalog.method("ssd").not_confinable
    assert words.count(reason) == 1 and tells(words, "SSD", "classifier", reason)
    alone = opened(scopes=["classifier"], methods=["ssd"])
    assert alone.button(key="start").label.startswith("Start 3 runs")
