"""Take home: what a page shows as one file of HTML that opens without a network, with the link that
leads back to it. A click makes and downloads it.

The button asks an address of its own, one a reader, which stays the same from page to page.
Streamlit's download button names a file anew in every run of a page and forgets the one before, so
a click on a button that the browser has not yet drawn anew would get nothing.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Final
from urllib.parse import urlencode
from weakref import WeakValueDictionary

import pandas as pd
import streamlit as st

from dashboard import access, assets, state
from dashboard.pages import BY_ID
from dashboard.report import Items, Link, Report, Section, Table, Text, html, render
from dashboard.text import units
from dashboard.widgets import course
from mucore.errors import BadValue

MOST_ROWS = 200  # of a table in the file
MOMENT: Final = 0.3  # seconds in which an answer given just before begins to draw the page anew
PATIENCE: Final = 60.0  # seconds for drawing it, and for a guest's turn at the file
ADDRESS: Final = "/_mucore/home"  # where the button asks: dashboard/server.py answers
READER: Final = "reader"  # what of the address tells readers apart
GONE: Final = "This page is older than the running dashboard. Reload it and press again."
UNDER_WAY: Final = (
    "A file of yours is being made right now and will arrive on its own. Press again after that."
)
READING = (
    "Made by mucore from what the page showed. Numbers are those of the runs that the page named."
)


def instead(sections: Callable[[], Sequence[Section]]) -> None:
    """What the file holds in place of the page's figures and numbers, for pages that know better,
    such as a lesson. Called when the file is made, outside of any page: whatever it needs of the
    reader it has to hold already.
    """
    course.current().instead = sections


@dataclass(eq=False)
class Reader:
    """Whose page it is: kept with the session, and gone with it."""

    name: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    told: course.Course = field(default_factory=course.Course)  # what has been drawn last
    mine: bool = False  # the presenter's
    asks: threading.Lock = field(default_factory=threading.Lock)  # held while the file is made


_readers: WeakValueDictionary[str, Reader] = WeakValueDictionary()


def offer(page: str) -> None:
    """Called by app.py after a page: the button. What it makes is the page as it
    is drawn last, for a click may come while the answer given before it is still under way.
    """
    told = course.current()
    if not told.question or not (told.instead or told.pictures or told.tables or told.answers):
        told.settled.set()
        return
    address, dark, mine = state.link_back(), state.dark(), access.presents()
    told.file = page, partial(made, told, address, dark=dark, mine=mine)
    told.settled.set()
    reader = state.ticket("reader") or Reader()
    reader.told, reader.mine = told, mine
    state.set_ticket("reader", reader)
    _readers[reader.name] = reader
    component = st.components.v2.component(
        "mucore_take_home",
        html=assets.text("take_home.html"),
        css=assets.text("take_home.css"),
        js=assets.text("take_home.js"),
    )
    what = BY_ID[page].title if page in BY_ID else "this page"
    component(
        data={
            "address": f"{ADDRESS}?{urlencode({READER: reader.name})}",
            "help": f"What {what} shows as one file that opens anywhere without a network: "
            "figures, numbers, your answers, and the link back.",
        },
        key="take_home",
    )


def is_presenters(name: str) -> bool:
    """Whether the reader of that name presents."""
    reader = _readers.get(name)
    return reader is not None and reader.mine


def file_of(name: str) -> tuple[str, bytes]:
    """What the reader of that name takes home: the file's own name, and what is in it. Raises
    `BadValue` for a name that nobody has, `access.Busy` while the file of an earlier request is on
    its way, and for a guest who waited in vain.
    """
    reader = _readers.get(name)
    if reader is None:
        raise BadValue(GONE)
    if not reader.asks.acquire(blocking=False):
        raise access.Busy(UNDER_WAY)
    try:
        page, make = newest(reader.told)
        return f"mucore-{page}.html", make()
    finally:
        reader.asks.release()


def newest(told: course.Course) -> tuple[str, Callable[[], bytes]]:
    """The page, and what makes the file of its last run, that its reader sees as `told`, also where
    that run is under way.
    """
    assert told.file is not None
    time.sleep(MOMENT)
    (page, make), until = told.file, time.monotonic() + PATIENCE
    while told.settled.wait(max(0.0, until - time.monotonic())):
        if told.file is not None:
            if told.file[0] != page:  # the reader has gone elsewhere since the click
                break
            make = told.file[1]
        if told.after is None:
            break
        told = told.after
    return page, make


def made(told: course.Course, address: str, *, dark: bool, mine: bool) -> bytes:
    """The file. Guests' are made one after the other; of a room that presses at once, all but the
    first find their figures drawn. Raises `access.Busy` for one that waited in vain.
    """
    with nullcontext() if mine else access.heavy(PATIENCE):
        sections = list(told.instead()) if told.instead is not None else shown(told)
        again = Section("Open it again", (Text(READING), Link("The same page", address)))
        report = Report(told.question, (*sections, again), told.demo, datetime.now(UTC))
        pictures = report.pictures
        drawn = render.images([picture.figure for picture in pictures], "svg")
        drawings: Mapping[str, bytes | None] = dict(
            zip([picture.name for picture in pictures], drawn, strict=True)
        )
        return html.html(report, drawings, dark=dark).encode()


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
