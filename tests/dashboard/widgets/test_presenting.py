"""Presenting: what is a screen of its own, what stands above a figure, and where keys lead."""

from __future__ import annotations

from functools import partial

import pytest
from pages import fill, open_page, words_on
from streamlit.testing.v1 import AppTest

from dashboard import state
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
    assert not at.exception and screens(at) == ["results_table", "tradeoff"]


@pytest.mark.parametrize("page", ["start", "glossary", "queue"])
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


def test_the_sentence_above_a_figure_is_the_pages_answer_and_the_next_ones_own(home, monkeypatch):
    said = []
    monkeypatch.setattr(presenting.st, "markdown", lambda text, **_: said.append(text))
    monkeypatch.setattr(presenting.st, "caption", lambda text, **_: said.append(text))
    told = course.Course()
    monkeypatch.setattr(course, "current", lambda: told)
    course.say("SCRUB is nearest", "3.1 points away")
    presenting._answer("A scatter of 3 methods. More of it.")
    assert said == ["**SCRUB is nearest**", "3.1 points away"] and not told.sentence
    presenting._answer("A scatter of 3 methods. More of it.")
    assert said[2:] == ["**A scatter of 3 methods.**"]


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
    note = speaker_notes.FIGURES["tradeoff"]
    assert note not in words_on(open_page("results"), escaped=True)
    (found,) = [
        one
        for one in presented("results").expander
        if one.label.startswith("Notes") and note in [each.value for each in one.markdown]
    ]
    assert not found.proto.expanded
