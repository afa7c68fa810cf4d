"""Take home: what is in the file, and that it needs nothing else."""

from __future__ import annotations

import re

import pandas as pd
import plotly.graph_objects as go
import pytest
from pages import fill, open_page

from dashboard import access
from dashboard.lessons import LESSONS
from dashboard.lessons.results import LessonResults
from dashboard.report import Facts, Picture, Section, Table, Text, render
from dashboard.sections.lessons import take_home as lesson_file
from dashboard.widgets import course, take_home

HERE = "http://127.0.0.1:8501/results?scenario=one_class"


@pytest.fixture(autouse=True)
def no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render, "draws", lambda: False)


def told() -> course.Course:
    frame = pd.DataFrame({"method": ["SCRUB", "<b>DUCK"], "TA": [0.123456, None]})
    figure = go.Figure(go.Scatter(x=[1], y=[2]))
    return course.Course(
        question="Which one?",
        caption="Digits, MLP.",
        answers=["SCRUB is nearest", "SCRUB is nearest"],
        pictures=[Picture("1", "Figure 1", "One mark", figure, "One mark")],
        tables=[Table("Numbers", frame)],
    )


def test_a_page_goes_home_with_answer_figures_numbers_and_link():
    page = take_home.made(told(), HERE, dark=False, mine=True).decode()
    assert f'<a href="{HERE}">' in page and "<h1>Which one?</h1>" in page
    assert page.count("SCRUB is nearest") == 1 and "0.1235" in page and "&lt;b&gt;DUCK" in page
    assert 'id="f-1"' in page
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None and policy[1].startswith("default-src 'none'")
    assert not re.search(r'<(?:link|img|script)[^>]+(?:src|href)="?https?:', page)


def test_a_page_that_knows_better_says_what_its_file_holds():
    here = told()
    here.instead = lambda: [Section("Two moons", (Text("Three points were forgotten."),))]
    page = take_home.made(here, HERE, dark=True, mine=True).decode()
    assert "Three points were forgotten." in page and 'id="f-1"' not in page
    assert "color-scheme: dark" in page


def test_of_guests_one_file_is_made_at_a_time(become):
    become("guest")
    with access.heavy(), pytest.raises(access.Busy):
        take_home.made(told(), HERE, dark=False, mine=False)
    assert take_home.made(told(), HERE, dark=False, mine=False)


def test_long_tables_are_cut_and_say_so():
    frame = pd.DataFrame({"id": range(take_home.MOST_ROWS + 7)})
    cut = take_home.readable(Table("Numbers", frame))
    assert len(cut.frame) == take_home.MOST_ROWS and "7 further rows" in cut.caption


def test_a_lesson_goes_home_with_what_the_reader_said():
    lesson = LESSONS["forget-one-class"]
    empty = LessonResults((), "class_wise")
    found = lesson_file.sections(lesson, empty, {2: 50}, {1: 0}, dark=False)
    titles = [section.title for section in found]
    assert titles == [*(step.title for step in lesson.steps), "Check yourself", "To remember"]
    (check,) = [section for section in found if section.title == "Check yourself"]
    facts = [dict(block.facts) for block in check.blocks if isinstance(block, Facts)]
    first = lesson.check[0]
    assert facts[0] == {
        "You said": first.options[0],
        "Answer": first.options[first.right],
        "Why": first.why,
    }
    assert "You said" not in facts[1]


def test_the_button_stands_in_the_side_bar_of_a_page_with_something_to_take(home):
    fill(home, "full")
    at = open_page("results")
    labels = [one.proto.label for one in at.sidebar.get("download_button")]
    assert not at.exception and labels == ["Take home"]
