"""Whose results pages show: the reader's own, or the demo's where they have none or chose so."""

from __future__ import annotations

from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from builders import make_result, value
from facts import numbers
from pages import fill, lines_with, open_page, words_on
from streamlit.testing.v1 import AppTest

from dashboard import data
from mucore.store import open_pack, open_store, write_pack

pytestmark = pytest.mark.slow


@pytest.fixture
def both(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One own result and a demo of another."""
    fill(home, "one")
    with open_store(tmp_path / "maker") as maker:
        maker.put_result(make_result(method="scrub"))
        monkeypatch.setattr(data, "DEMO", write_pack(maker, tmp_path / "pack"))


def switch(at: AppTest) -> Any:
    return next((one for one in at.sidebar.segmented_control if one.label == "Results"), None)


def test_a_reader_with_results_of_their_own_can_look_at_the_demo(both):
    at = open_page("results")
    assert "Your results" in words_on(at) and "source" not in at.query_params
    switch(at).set_value("demo").run()
    assert "Demo results" in words_on(at) and at.query_params["source"] in ("demo", ["demo"])
    at.query_params.clear()  # as a link to another page does
    at.switch_page("views/start.py").run()
    assert "Demo results" in words_on(at) and at.query_params["source"] in ("demo", ["demo"]), (
        "it goes along from page to page"
    )
    switch(at).set_value("own").run()
    assert "Your results" in words_on(at) and "source" not in at.query_params
    at.switch_page("views/results.py").run()
    assert "Your results" in words_on(at)


def test_an_address_says_whose_results_it_means(both):
    assert "Demo results" in words_on(open_page("results", source="demo"))
    at = open_page("results", source="nobody's")
    assert not at.exception and "Your results" in words_on(at)


def test_a_comparison_stays_with_the_store_that_numbered_it(both):
    with open_store(data.own_store().home) as store:
        (key,) = [one.key for one in store.results()]
        number = store.create_comparison("Mine", "#a", {}, [key]).id
    at = open_page("results", comparison=str(number), tag="a")
    assert not at.exception and str(number) in at.query_params["comparison"]
    switch(at).set_value("demo").run()
    assert not at.exception and not {"comparison", "tag"} & set(at.query_params)
    at.query_params.clear()
    at.switch_page("views/membership.py").run()
    assert not {"comparison", "tag"} & set(at.query_params)


@pytest.mark.parametrize("amount", ["empty", "one"])
def test_where_there_is_no_choice_there_is_no_switch(home, amount):
    fill(home, amount)
    at = open_page("results", source="demo")
    assert switch(at) is None and "Demo results" not in words_on(at) and not at.exception


def test_what_start_says_of_accuracy_alone_are_the_demos_numbers(demo_home):
    """A method that no other surpasses in test accuracy has forgotten nothing, and one that forgot
    as Retrain did has lost of what was to stay.
    """
    (line,) = lines_with(open_page("start"), "Accuracy alone proves nothing")
    best, retrain, known, gone, goal, kept, retrains = map(float, numbers(line))
    assert best > retrain and known > 90
    assert abs(gone - goal) < 1 and kept < retrains - 5
    with open_pack(data.DEMO) as pack:
        runs = pack.results(scenario=["class_wise"], method=["retrain"])
    found = [100 * mean(value(run.metrics, name) for run in runs) for name in ("ta", "fa", "tra")]
    assert [retrain, goal, retrains] == pytest.approx(found, abs=0.06)
