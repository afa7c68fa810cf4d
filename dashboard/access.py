"""Who may do what on these pages: decided here and nowhere else.

`mucore/hosting.py` has the terms on which pages are served. A session that may not write is a
guest's: `dashboard.data` gives it a store that can only be read, the doors to files of users
(`mucore/userfiles/doors.py`) are closed to it, and `dashboard/server.py` turns its uploads away.
That pages show guests no buttons for what they may not do is a courtesy on top.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

import streamlit as st
from streamlit import runtime

from dashboard import state
from mucore import hosting
from mucore.errors import MucoreError
from mucore.hosting import Terms
from mucore.store import default_home
from mucore.store.guests import without_paths
from mucore.userfiles import doors

READS: Final = (
    "You are reading along. Only the presenter can start, change or delete anything here."
)
NO_FILES: Final = (
    "You are reading along, so no file or folder of this machine is opened for you. Only the "
    "presenter can name their own data, weights, methods and forget sets."
)
NO_CODE: Final = (
    "This dashboard was started with --open, so anyone who reaches it could run programs on this "
    "machine. Methods can be written only where it listens on this machine alone, or by a "
    "presenter who has a key or logs in."
)
BUSY: Final = (
    "Many people are looking at pages at this moment, and yours waits for its turn. Nothing is "
    "wrong; it comes by itself."
)
IN_USE: Final = "Another reader's figure or file is being made. Try again in a moment."
UNSAID: Final = (
    "This dashboard listens where others reach it, and nothing says what they may do, so it shows "
    "nothing. Start it with python run_app.py, which asks for --audience, a login or --open; "
    "docs/hosting.md says what each means."
)
GUESTS_AT_ONCE: Final = 2  # pages drawn for guests at the same time; the presenter's never waits
PATIENCE: Final = 20.0  # seconds after which a guest whose turn did not come reads why
# Guests' files that are made at a click or wait. They take threads that Streamlit has for the files
# of all, the presenter's among them, of which there are five on the smallest machine.
FILES_AT_ONCE: Final = 3
T = TypeVar("T")
_LISTENERS: Final = ("localhost", "127.0.0.1", "::1")


class Busy(MucoreError):
    """Others are at it; the same will work later."""


@dataclass
class _Server:
    """What this process serves on: told once by whoever started it."""

    terms: Terms = "own"
    key: str = field(default="", repr=False)
    behind_door: bool = False  # dashboard/server.py stands before the pages
    presenters: set[str] = field(default_factory=set)  # ids of sessions
    # what names of voters are made with; the same for a server that is started again for one key
    secret: bytes = field(default=b"", repr=False)

    def __post_init__(self) -> None:
        self.secret = _digest(self.key.encode(), "votes") if self.key else secrets.token_bytes(32)


def _digest(secret: bytes, text: str) -> bytes:
    return hmac.digest(secret, text.encode(errors="replace"), "sha256")


_server = _Server(*hosting.taken_over(os.environ))
_guests = threading.BoundedSemaphore(GUESTS_AT_ONCE)
_heavy = threading.BoundedSemaphore(1)
_files = threading.BoundedSemaphore(FILES_AT_ONCE)
_mine = threading.local()


def terms() -> Terms:
    return _server.terms


def stand_behind_door() -> None:
    """Called by dashboard/server.py: requests pass it before they get here."""
    _server.behind_door = True


def refusal() -> str:
    """Why nothing may be shown to anybody, "" where pages may: who starts Streamlit by hand gets
    pages for this machine alone.
    """
    if not runtime.exists():  # tests draw pages without a server
        return ""
    if _server.terms == "own":
        address = str(st.get_option("server.address") or "")
        return "" if address in _LISTENERS or hosting.is_loopback(address) else UNSAID
    return "" if _server.behind_door else UNSAID


def enter() -> bool:
    """Called by app.py before anything else of a page: find out who this is. False for a stranger,
    who gets to see nothing but a login.

    A right key never gets here, for the door makes a cookie of it; a wrong one leaves the address.
    """
    if state.param(hosting.PARAMETER):
        state.set_param(hosting.PARAMETER, None)
        state.set_ticket("wrong_key", _server.terms == "audience")
    known, named = True, False
    if _server.terms == "audience":
        named = keyed(st.context.cookies)
    elif _server.terms == "login":
        known = st.user.get("is_logged_in") is True  # a header's text is no login
        # a mail address counts where the provider does not deny that it is theirs
        mail = "" if st.user.get("email_verified") is False else str(st.user.get("email") or "")
        named = known and mail.lower() in hosting.presenters(st.secrets)
    (_server.presenters.add if named else _server.presenters.discard)(state.session())
    return known


def is_key(text: str) -> bool:
    """Whether a text is the presenter's key, in a time that does not tell how much of it is."""
    return bool(_server.key) and hmac.compare_digest(
        text.encode(errors="replace"), _server.key.encode()
    )


def keyed(cookies: Mapping[str, str]) -> bool:
    """Whether a request with these cookies is the presenter's, where a key is what tells."""
    return _server.terms != "audience" or is_key(cookies.get(cookie(), ""))


def put_away(session: str) -> None:
    """A session does no more than read until a page of it has been drawn anew."""
    _server.presenters.discard(session)


def cookie() -> str:
    """The name of the presenter's cookie: another for each key, as browsers send them to every port
    of a host.
    """
    return f"{hosting.COOKIE}_{hashlib.sha256(_server.key.encode()).hexdigest()[:8]}"


def has_room() -> bool:
    """Whether others read along: then lessons can be held, and their questions are votes."""
    return _server.terms in ("audience", "login")


def room() -> str:
    """The name of this server's room in the store, which tells nobody the key."""
    return _digest(_server.secret, "room").hex()[:16]


def voter(question: str) -> str:
    """A name under which this reader votes on `question`: the same whenever they do, another for
    every other question, and without this server's secret it leads to nobody. "" for who cannot be
    told from others: a browser that keeps no cookie.

    Where people log in it is one a person, else one a browser.
    """
    who = ""
    if _server.terms == "login" and st.user.get("is_logged_in") is True:
        who = str(st.user.get("sub") or st.user.get("email") or "")
    elif _server.terms == "audience":
        who = st.context.cookies.get(reader_cookie(), "")
        who = who if is_reader(who) else ""
    return _digest(_server.secret, f"voter\n{question}\n{who}").hex()[:32] if who else ""


def reader_cookie() -> str:
    """The name of the cookie that tells readers' browsers apart, another for each start."""
    return f"{hosting.READER}_{room()[:8]}"


def new_reader() -> str:
    """A value for that cookie: random, and signed so that only this server makes them."""
    number = secrets.token_urlsafe(16)
    return f"{number}.{_digest(_server.secret, f'reader {number}').hex()[:32]}"


def is_reader(value: str) -> bool:
    number, _, sign = value.partition(".")
    right = _digest(_server.secret, f"reader {number}").hex()[:32]
    return hmac.compare_digest(sign.encode(errors="replace"), right.encode())


def presents(session: str | None = None) -> bool:
    """Whether a session, or else the one that asks, may do everything. What runs outside of any
    session may where everybody may.
    """
    if _server.terms in ("own", "open"):
        return True
    return (state.session() if session is None else session) in _server.presenters


def why_no_code() -> str:
    """Why this session may not write a program that runs on this machine, "" where it may."""
    return NO_CODE if _server.terms == "open" else "" if presents() else NO_FILES


def status() -> str:
    """A line for the side bar, in Markdown: which of the two this session is, "" where there is but
    one kind.
    """
    if _server.terms in ("own", "open"):
        return ""
    if presents():
        return ":material/co_present: You are presenting: everybody else can only read."
    wrong = ""
    if state.ticket("wrong_key"):
        wrong = " The key in your address is not the current one; it may be of an earlier start."
    return f":material/visibility: {READS}{wrong}"


def shown(text: str) -> str:
    """A sentence as this session may see it: to guests without paths of this machine."""
    if presents():
        return text
    folders = (str(default_home()), os.environ.get("MUCORE_DATA", ""), str(Path.home()))
    return without_paths(text, *folders, str(Path(__file__).parents[1]))


def every(seconds: float) -> float:
    """How often a part of a page draws itself anew: five times less often for a guest, for there
    may be many.
    """
    return seconds if presents() else 5 * seconds


@contextmanager
def turn() -> Generator[None]:
    """Drawing a page or a part of one: of guests a few at a time. Who waits for long reads why, and
    gets their turn: a page that ended without one would follow nobody any more.
    """
    if presents() or getattr(_mine, "turn", False):
        yield
        return
    taken = _guests.acquire(timeout=PATIENCE)
    try:
        with nullcontext() if taken else st.spinner(BUSY):
            taken = taken or _guests.acquire()
        _mine.turn = True
        yield
    finally:
        _mine.turn = False
        if taken:
            _guests.release()


@contextmanager
def heavy(patience: float = 0.0) -> Generator[None]:
    """What keeps a processor busy for seconds, such as making a file: of guests one at a time.
    Raises `Busy` for who has not had their turn after `patience` seconds.
    """
    if presents():
        yield
        return
    if not _heavy.acquire(timeout=patience):
        raise Busy(IN_USE)
    try:
        yield
    finally:
        _heavy.release()


def in_turn(make: Callable[[], T]) -> Callable[[], T]:
    """`make`, to be called outside of any page, where a click makes a file that takes a while: for
    the session that draws the page now. A guest's is `heavy`, and few wait, or it raises `Busy`.
    """
    if presents():
        return make

    def made() -> T:
        if not _files.acquire(timeout=PATIENCE):
            raise Busy(IN_USE)
        try:
            with heavy(PATIENCE):
                return make()
        finally:
            _files.release()

    return made


doors.guard(lambda: "" if presents() else NO_FILES, why_no_code)
