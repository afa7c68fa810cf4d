"""Presenting: what is a screen of its own, what stands above a figure, and where keys lead."""

from __future__ import annotations

from functools import partial

import plotly.graph_objects as go
import pytest
from facts import numbers, tells
from pages import fill, open_page, table_html, words_on
from streamlit.testing.v1 import AppTest

from dashboard import state
from dashboard.sections.results import methods_table
from dashboard.text import speaker_notes
from dashboard.widgets import course, presenting

presented = partial(open_page, present="1")


def screens(at: AppTest) -> list[str]:
    """The keys of the page's screens, in order."""
    found = []

    def walk(block) -> None:
        for child in getattr(block, "children", {}).values():
            name = getattr(child.proto, "id", "") if child.type == "flex_container" else ""
            if "slide-" in name:
                found.append(name.partition("slide-")[2])
            walk(child)

    walk(at.main)
    return found


def test_figures_are_screens_while_presenting_alone(home):
    fill(home, "full")
    assert screens(open_page("results")) == []
    at = presented("results")
    assert not at.exception and screens(at) == ["cost_distance", "results_table"]


@pytest.mark.parametrize("page", ["glossary", "queue"])
def test_a_page_without_figures_is_shown_as_a_whole(home, page):
    fill(home, "one")
    at = presented(page)
    assert not at.exception and not at.error and screens(at) == []
    assert at.query_params["present"] == "1"


def test_what_is_chosen_goes_along_with_the_talk(home):
    fill(home, "full")
    at = presented("results")
    there = [one.proto for one in at.get("page_link")]
    assert there and all("present=1" in one.query_string for one in there)
    assert not any(
        "present" in one.proto.query_string for one in open_page("results").get("page_link")
    )


@pytest.mark.parametrize(("by", "reached"), [(1, ["c"]), (-1, ["a"]), (5, []), (None, [])])
def test_a_step_leads_to_the_next_and_never_past_the_ends(monkeypatch, by, reached):
    went: list[str] = []
    monkeypatch.setattr(
        course, "current", lambda: course.Course(steps="abc", now="b", go=went.append)
    )
    monkeypatch.setattr(state, "told", lambda key, name: by)
    monkeypatch.setattr(state, "set_param", lambda name, value: None)
    presenting._moved()
    assert went == reached
    monkeypatch.setattr(
        course, "current", lambda: course.Course(steps="abc", now="c", go=went.append)
    )
    monkeypatch.setattr(state, "told", lambda key, name: 1)
    presenting._moved()
    assert went == reached


def test_notes_are_folded_below_the_figures_that_have_some(home):
    fill(home, "full")
    note = speaker_notes.FIGURES["cost_distance"]
    assert note not in words_on(open_page("results"), escaped=True)
    (found,) = [
        one
        for one in presented("results").expander
        if one.label.startswith("Notes") and note in [each.value for each in one.markdown]
    ]
    assert not found.proto.expanded


def bars(count: int, **axis) -> go.Figure:
    figure = go.Figure(go.Bar(x=[1] * count, y=[f"m{number}" for number in range(count)]))
    return figure.update_layout(height=100 + 24 * count).update_yaxes(**axis)


@pytest.mark.parametrize(
    ("axis", "shown"),
    [
        ({"autorange": "reversed"}, [(12.5, -0.5), (25.5, 12.5), (39.5, 25.5)]),
        ({"range": [39.5, -0.5]}, [(12.5, -0.5), (25.5, 12.5), (39.5, 25.5)]),
        ({}, [(26.5, 39.5), (13.5, 26.5), (-0.5, 13.5)]),
    ],
)
def test_a_figure_of_many_lines_takes_several_screens_from_the_top(axis, shown):
    whole = bars(40, **axis)
    parts = presenting.parts(whole)
    assert [part.layout.yaxis.range for part, _ in parts] == shown
    assert {part.layout.height for part, _ in parts} == {presenting.LOW}
    said = [numbers(rest) for _, rest in parts]
    assert said == [["1", "13", "40"], ["14", "26", "40"], ["27", "40", "40"]]
    assert whole.layout.height > presenting.LOW  # what is taken home stays whole


def test_a_figure_of_many_lines_is_drawn_on_screens_of_its_own(demo_home):
    at = presented("tradeoffs", view="agreement")
    whole = open_page("tradeoffs", view="agreement").get("plotly_chart")
    names = screens(at)
    assert not at.exception and len(whole) == 1
    assert len(names) == len(at.get("plotly_chart")) > 1
    assert names[1:] == [f"{names[0]}-{number}" for number in range(2, len(names) + 1)]


def test_a_room_sees_as_many_lines_of_the_table_as_it_can_read(demo_home):
    def lines(at: AppTest) -> int:
        return table_html(at).count("data-row=")

    whole, shown = lines(open_page("results")), lines(at := presented("results"))
    assert whole > shown == methods_table.LINES + 2  # with Original and Retrain
    (rest,) = [one.value for one in at.caption if one.value.startswith("The first ")]
    assert tells(rest, methods_table.LINES, whole - 2)
