"""A preset means the same runs, chosen on the Launch page, named in its address, or given on the
command line or in Python.
"""

from __future__ import annotations

from typing import Any

import pytest
from archives import people
from facts import tells
from pages import open_page, words_on
from streamlit.testing.v1 import AppTest

from dashboard import queue_data
from mucore import api, catalog, cli
from mucore.runner.grid import Grid, expand
from mucore.runner.plan import Plan
from mucore.runs import FIRST

METHODS = ["finetune", "salun", "fisher", "amnesiac"]  # of the last three, papers set something
PRESETS = [card.id for card in catalog.presets()]


@pytest.fixture
def planned(home, monkeypatch: pytest.MonkeyPatch) -> list[Grid]:
    """The grids that pages plan, the last one being what the page shows."""
    found: list[Grid] = []
    plan = queue_data.plan

    def note(grid: Grid) -> Plan:
        found.append(grid)
        return plan(grid)

    monkeypatch.setattr(queue_data, "plan", note)
    return found


def keys(grid: Grid) -> set[str]:
    return {spec.key for spec in expand(grid)[0]}


def by_command(preset: str, **more: Any) -> set[str]:
    named: dict[str, Any] = {}
    if not catalog.preset(preset).dataset:
        named = {"dataset": FIRST.dataset, "model": FIRST.model, "scenario": list(FIRST.scenarios)}
    return keys(cli.build_grid(cli.GridOptions(methods=METHODS, preset=preset, **named | more)))


def field(at: AppTest, label: str):
    return next(one for one in [*at.text_input, *at.selectbox, *at.toggle] if one.label == label)


def choose(at: AppTest, preset: str) -> AppTest:
    field(at, "Preset").select(preset).run()
    assert not at.exception
    return at


@pytest.mark.parametrize("preset", PRESETS)
def test_address_and_python_mean_what_the_command_line_means(
    preset, planned, monkeypatch, tmp_path
):
    at = open_page("launch", preset=preset, methods=METHODS)
    assert not at.exception and keys(planned[-1]) == by_command(preset)
    made: list[Plan] = []
    monkeypatch.setattr(
        "mucore.runner.local.compute", lambda plan, *_, **__: made.append(plan) or []
    )
    monkeypatch.setattr("mucore.runner.local.say_refused", lambda plan, **_: None)
    api.compare(preset=preset, methods=METHODS, home=tmp_path)
    assert {spec.key for spec in made[0].specs} == by_command(preset)


def test_choosing_presets_one_after_another_gives_the_runs_of_each(planned):
    """And the first one again: what the others had set is gone."""
    at = open_page("launch", methods=METHODS)
    for preset in [*PRESETS[1:], PRESETS[0]]:
        choose(at, preset)
        assert keys(planned[-1]) == by_command(preset), preset
        assert set(at.query_params) <= {"preset", "methods"}


def test_a_changed_scenario_or_data_set_stays_and_the_whole_setting_comes_back(planned):
    at = open_page("launch", methods=METHODS, preset="efficacy-mnist")
    assert not [one for one in at.button if one.key == "take_setting"]
    field(at, "class").select("5").run()
    assert keys(planned[-1]) == by_command("efficacy-mnist", changes=["class_fraction.class_id=5"])
    field(at, "Data set").select("digits").run()
    assert keys(planned[-1]) == by_command(
        "efficacy-mnist", dataset="digits", changes=["class_fraction.class_id=5"]
    )
    assert tells(words_on(at), "Changed", "dataset", "class")
    at.button(key="take_setting").click().run()
    assert keys(planned[-1]) == by_command("efficacy-mnist")
    assert not [one for one in at.button if one.key == "take_setting"]


@pytest.mark.smoke
def test_a_methods_fields_show_what_the_preset_sets_and_what_a_person_sets_goes_first(planned):
    at = open_page("launch", methods=METHODS, preset="efficacy-mnist", settings="own")
    # two of methods, two of the scenario
    assert field(at, "alpha").value == "1e-07" and words_on(at).count("From the preset") == 4
    assert keys(planned[-1]) == by_command("efficacy-mnist")
    field(at, "alpha").set_value("1e-06").run()
    assert keys(planned[-1]) == by_command("efficacy-mnist", changes=["fisher.alpha=1e-6"])
    assert "preset: 1e-07" in words_on(at)
    choose(at, "standard")
    assert keys(planned[-1]) == by_command("standard")  # where it is what the authors have


def test_the_page_opens_on_tuned_settings_which_a_papers_preset_takes_back(planned):
    at = open_page("launch")
    assert {choice.preset for choice in planned[-1].methods} == {
        "tuned"
    } and "settings" in at.query_params
    choose(at, "efficacy-mnist")
    assert "settings" not in at.query_params and {
        choice.preset for choice in planned[-1].methods
    } == {"authors"}


def test_persons_of_a_folder_go_by_name(planned, tmp_path):
    people(tmp_path / "crm")
    query = {"dataset": "folder", "path": str(tmp_path / "crm"), "model": "mlp"}
    query |= {"scenarios": "identities", "methods": "finetune", "preset": "quick"}
    open_page("launch", **query, **{"identities.persons": "p4, p30"})
    assert planned[-1].scenarios[0].parameters["persons"] == [4, 3]
    at = open_page("launch", **query, **{"identities.persons": "p4, anna"})
    assert tells(words_on(at), "anna", "p30") and at.button(key="start").disabled
