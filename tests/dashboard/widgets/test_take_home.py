"""Take home: what is in the file, and that it needs nothing else."""

from __future__ import annotations

import gc
import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import plotly.graph_objects as go
import pytest
from pages import fill, open_page

from dashboard import access
from dashboard.report import Picture, Table, render
from dashboard.widgets import course, take_home
from mucore.errors import BadValue

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
    page = take_home.made(told(), HERE, dark=False, mine=True).decode()
    assert f'<a href="{HERE}">' in page and "<h1>Which one?</h1>" in page
    assert page.count("SCRUB is nearest") == 1 and "0.1235" in page and "&lt;b&gt;DUCK" in page
    assert 'id="f-1"' in page
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None and policy[1].startswith("default-src 'none'")
    assert not re.search(r'<(?:link|img|script)[^>]+(?:src|href)="?https?:', page)


def test_of_guests_one_file_is_made_at_a_time(become, monkeypatch):
    become("guest")
    monkeypatch.setattr(take_home, "PATIENCE", 0.05)
    with access.heavy(), pytest.raises(access.Busy):
        take_home.made(told(), HERE, dark=False, mine=False)
    assert take_home.made(told(), HERE, dark=False, mine=False)


def test_of_a_room_that_presses_at_once_everybody_gets_a_file_of_figures_drawn_once(
    become, monkeypatch
):
    written: list[int] = []

    def write(figures: Sequence[go.Figure], paths: Sequence[Path], *_: object) -> bool:
        written.append(len(figures))
        for path in paths:
            path.write_bytes(b"<svg><desc>drawn</desc></svg>")
        return True

    monkeypatch.setattr(render, "draws", lambda: True)
    monkeypatch.setattr(render, "_write", write)
    monkeypatch.setattr(render, "_kept", OrderedDict())
    become("guest")

    def press(number: int) -> str:
        mine = told()
        mine.answers = [f"You said {number} %"]
        return take_home.made(mine, HERE, dark=False, mine=False).decode()

    with ThreadPoolExecutor(6) as room:
        files = list(room.map(press, range(30)))
    assert written == [1] and all(file.count("<desc>drawn") == 1 for file in files)
    assert all(f"You said {number} %" in file for number, file in enumerate(files))


def test_the_button_stands_in_the_side_bar_of_a_page_with_something_to_take(home):
    fill(home, "full")
    at = open_page("results")
    assert not at.exception
    reader = at.session_state["keep:reader"]
    name, content = take_home.file_of(reader.name)
    assert name == "mucore-results.html" and b"<h1>" in content
    # the button that a browser shows asks the same address when the page is drawn anew
    at.run()
    assert at.session_state["keep:reader"] is reader
    assert reader.told is at.session_state["keep:course"]


def test_a_reader_who_has_gone_keeps_nothing():
    reader = take_home.Reader(told=drawn("results", b"file"))
    take_home._readers[reader.name] = reader
    assert take_home.file_of(reader.name) == ("mucore-results.html", b"file")
    name = reader.name
    del reader
    gc.collect()
    with pytest.raises(BadValue):
        take_home.file_of(name)


def drawn(page: str, file: bytes, *, after: course.Course | None = None) -> course.Course:
    """A run of a page that has ended, and comes after another one."""
    made = course.Course(file=(page, lambda: file))
    made.settled.set()
    if after is not None:
        after.after = made
        after.settled.set()
    return made


def test_a_click_waits_for_the_page_that_is_being_drawn():
    seen, broken_off, last = drawn("lessons", b"before"), course.Course(), course.Course()
    seen.after, broken_off.after = broken_off, last
    broken_off.settled.set()

    def end() -> None:
        last.file = "lessons", lambda: b"with the answer"
        last.settled.set()

    timer = threading.Timer(2 * take_home.MOMENT, end)
    timer.start()
    assert take_home.newest(seen)[1]() == b"with the answer"
    timer.join()


def test_the_file_is_of_the_page_on_which_the_click_was():
    seen = drawn("lessons", b"the lesson")
    drawn("results", b"results", after=drawn("lessons", b"its next step", after=seen))
    assert take_home.newest(seen)[1]() == b"its next step"
