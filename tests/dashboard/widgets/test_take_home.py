"""Take home: what is in the file, and that it needs nothing else."""

from __future__ import annotations

import re

import pandas as pd
import plotly.graph_objects as go
import pytest
from pages import fill, open_page

from dashboard.report import Picture, Table, render
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
        shown={
            ("figure", "mark"): Picture("mark", "", "One mark", figure, "One mark"),
            ("numbers", "mark"): Table("Numbers", frame),
        },
    )


def test_a_page_goes_home_with_answer_figures_numbers_and_link():
    page = take_home.made(told(), HERE, dark=False).decode()
    assert f'<a href="{HERE}">' in page and "<h1>Which one?</h1>" in page
    assert page.count("SCRUB is nearest") == 1 and "0.1235" in page and "&lt;b&gt;DUCK" in page
    assert 'id="f-1"' in page
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None and policy[1].startswith("default-src 'none'")
    assert not re.search(r'<(?:link|img|script)[^>]+(?:src|href)="?https?:', page)


def test_the_button_stands_on_a_page_with_something_to_take(home):
    fill(home, "full")
    at = open_page("results")
    assert not at.exception
    assert [
        one.proto.label for one in at.get("download_button") if one.proto.id.endswith("take_home")
    ]
