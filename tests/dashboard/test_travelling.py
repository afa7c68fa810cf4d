"""Filters go along from page to page, lessons keep their step, and a page says which of the filters
it cannot show.
"""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest
from builders import full_results, make_result, make_spec_row
from pages import button, open_page, words_on
from streamlit.testing.v1 import AppTest

from dashboard import state
from mucore.store import open_store

pytestmark = pytest.mark.slow


@pytest.fixture
def filled(home):
    """Three scenarios with methods; flipped labels are what Depoisoning shows."""
    with open_store(home) as store:
        for result in full_results():
            store.put_result(result)
        for scenario in ("class_wise", "label_flip"):
            for method in ("original", "retrain", "salun", "scrub"):
                store.put_result(make_result(make_spec_row(method=method, scenario=scenario)))
    return home


def to(at: AppTest, page: str) -> AppTest:
    """What a click on the page list does without a browser: another page with nothing in its
    address.
    """
    at.query_params.clear()
    at.switch_page(f"views/{page}.py").run()
    assert not at.exception and not at.error
    return at


def scenario_of(at: AppTest) -> str:
    return str(at.selectbox(key="url:scenario").value)


def along(at: AppTest) -> dict[str, dict[str, list[str]]]:
    """Where the page list of the side bar leads, by page, but for those that open on something of
    their own.
    """
    found = {
        one.proto.label: parse_qs(one.proto.query_string) for one in at.sidebar.get("page_link")
    }
    assert all(found.pop(page) == opens for page, opens in state.OPENS.items())
    return found


def test_a_choice_goes_along_and_stays_in_the_address(filled):
    at = open_page("results")
    # nothing was chosen, so every page opens as it does
    assert not along(at) and scenario_of(at) != "one_class"
    at.selectbox(key="url:scenario").select("one_class").run()
    assert along(at)["tradeoffs"] == {"scenario": ["one_class"]} and "lessons" not in along(at)
    to(at, "tradeoffs")
    assert scenario_of(at) == "one_class" and at.query_params["scenario"] == "one_class"
    to(at, "reference")  # a page without filters loses none
    to(at, "compare")
    assert scenario_of(at) == "one_class"


def test_a_page_says_what_it_cannot_show_and_passes_it_on(filled):
    at = open_page("results", scenario="class_wise")
    to(at, "depoisoning")
    assert scenario_of(at) == "label_flip"
    (line,) = [one.value for one in at.markdown if "No results here" in one.value]
    assert "Whole classes" in line and "class_wise" not in line
    to(at, "tradeoffs")
    assert scenario_of(at) == "class_wise" and "No results here" not in words_on(at)
    to(at, "depoisoning")
    assert scenario_of(at) == "label_flip"


def test_filters_are_reset_where_they_stand(filled):
    at = open_page("results")
    usual = scenario_of(at)
    assert not [one for one in at.button if one.label == "Reset filters"]
    at.selectbox(key="url:scenario").select("label_flip").run()
    button(at, "Reset filters").click().run()
    assert "scenario" not in at.query_params and scenario_of(at) == usual and not along(at)
    assert "scenario" not in to(at, "tradeoffs").query_params


def test_a_lesson_keeps_its_step_while_a_reader_looks_elsewhere(filled):
    at = open_page("lessons", lesson="one-metric", step="3")
    to(at, "results")
    assert along(at)["lessons"] == {"lesson": ["one-metric"], "step": ["3"]}
    to(at, "lessons")
    assert at.query_params["step"] == "3" and "3 · Add what was kept" in words_on(at)
    at.query_params.clear()  # "All lessons"
    at.run()
    assert "lesson" not in at.query_params and "lessons" not in along(at)
