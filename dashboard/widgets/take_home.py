"""Take home: what a page shows as one file of HTML that opens without a network, with the link that
leads back to it. It is made when the button is pressed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial

import pandas as pd
import streamlit as st

from dashboard import access, state
from dashboard.pages import BY_ID
from dashboard.report import Items, Link, Report, Section, Table, Text, html, render
from dashboard.text import units
from dashboard.widgets import course

MOST_ROWS = 200  # of a table in the file
READING = (
    "Made by mucore from what the page showed. Numbers are those of the runs that the page named."
)


def instead(sections: Callable[[], Sequence[Section]]) -> None:
    """What the file holds in place of the page's figures and numbers, for pages that know better,
    such as a lesson. Called when the file is made, outside of any page: whatever it needs of the
    reader it has to hold already.
    """
    course.current().instead = sections


def offer(page: str) -> None:
    """The button, after a page that has something to take. Guests' files are made one at a time."""
    told = course.current()
    if not told.question or not (told.instead or told.pictures or told.tables or told.answers):
        return
    what = BY_ID[page].title if page in BY_ID else "this page"
    st.download_button(
        "Take home",
        access.in_turn(partial(made, told, state.link_back(), dark=state.dark())),
        f"mucore-{page}.html",
        "text/html",
        key="take_home",
        icon=":material/download:",
        on_click="ignore",
        help=f"What {what} shows as one file that opens anywhere without a network: "
        "figures, numbers, your answers, and the link back.",
    )


def made(told: course.Course, address: str, *, dark: bool) -> bytes:
    """The file."""
    sections = list(told.instead()) if told.instead is not None else shown(told)
    again = Section("Open it again", (Text(READING), Link("The same page", address)))
    report = Report(told.question, (*sections, again), told.demo, datetime.now(UTC))
    drawn = render.images([picture.figure for picture in report.pictures], "svg")
    names = [picture.name for picture in report.pictures]
    return html.html(report, dict(zip(names, drawn, strict=True)), dark=dark).encode()


def shown(told: course.Course) -> list[Section]:
    """The page's own answers, figures and tables."""
    found = [Section("What it is about", (Text(told.caption),))] if told.caption else []
    if told.answers:
        found.append(Section("The answer", (Items(tuple(dict.fromkeys(told.answers))),)))
    if told.pictures:
        found.append(Section("Figures", tuple(told.pictures)))
    if told.tables:
        found.append(Section("Numbers", tuple(readable(table) for table in told.tables)))
    return found


def readable(table: Table) -> Table:
    """A table of the page with numbers to four digits, cut where nobody would read on."""
    frame = table.frame.head(MOST_ROWS).map(_text)
    left = len(table.frame) - len(frame)
    rest = f"; {units.count(left, 'further row')} on the page" if left else ""
    return Table(f"{table.caption}{rest}", frame)


def _text(value: object) -> str:
    if isinstance(value, float):
        return "–" if pd.isna(value) else f"{value:.4g}"
    return "–" if value is None else str(value)
