"""Who may do what on pages: by the terms on which they are served, and by what a browser shows."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import streamlit as st
from builders import make_result
from pages import open_page, send_key, words_on
from streamlit.testing.v1 import AppTest

from dashboard import access, data
from dashboard.pages import PAGES
from dashboard.sections.draw import networks
from dashboard.widgets import pictures, training_set
from mucore.errors import BadFile, ReadOnly
from mucore.userfiles import doors

KEY = "k" * 43


def serve(monkeypatch: pytest.MonkeyPatch, terms: Any, key: str = "") -> None:
    monkeypatch.setattr(access, "_server", access._Server(terms, key, behind_door=True))


def as_user(monkeypatch: pytest.MonkeyPatch, **user: Any) -> AppTest:
    """Start as somebody who logged in, or not."""
    monkeypatch.setattr(st, "user", user)
    monkeypatch.setattr(st, "secrets", {"roles": {"presenters": ["ada@example.org"]}})
    return open_page("launch")


@pytest.mark.parametrize("terms", ["own", "open"])
def test_where_everybody_may_everything_no_key_is_asked_for(terms, home, monkeypatch):
    serve(monkeypatch, terms)
    at = open_page("launch")
    assert at.get("file_uploader") and access.status() == ""
    assert access.presents("anybody") and access.presents("")
    doors.check()


@pytest.mark.parametrize("key", ["", "k" * 42, KEY.upper(), "\ud800"])
def test_a_wrong_key_presents_nothing(key, home, monkeypatch):
    serve(monkeypatch, "audience", KEY)
    send_key(monkeypatch, key)
    assert not open_page("launch").get("file_uploader")
    assert not access._server.presenters


def test_who_loses_the_key_reads_from_then_on(home, become):
    become("presenter")
    at = open_page("launch")
    assert at.get("file_uploader")
    become("guest")
    access._server.presenters.add("test session id")  # what the start before left behind
    assert not at.run().get("file_uploader")


@pytest.mark.parametrize("page", ["papers?paper=mubox", "results"])
def test_guests_are_shown_no_way_to_a_page_on_which_they_may_do_nothing(home, become, page):
    name, _, query = page.partition("?")
    chosen = dict(part.split("=") for part in query.split("&") if part)
    places = {}
    for who in ("presenter", "guest"):
        become(who)
        at = open_page(name, **chosen)
        assert not at.exception
        places[who] = {one.proto.page for one in at.get("page_link")}
    works = {page.id for page in PAGES if page.works}
    assert places["guest"] == places["presenter"] - works and places["presenter"] & works


def test_a_wrong_key_leaves_the_address_and_is_told(home, become):
    become("guest")
    at = open_page("start", presenter="wrong")
    assert "presenter" not in at.query_params
    assert any("key in your address" in one.value for one in at.sidebar.caption)


@pytest.mark.parametrize(
    ("user", "sees"),
    [
        ({}, "nothing"),
        ({"is_logged_in": "true", "email": "ada@example.org"}, "nothing"),
        ({"is_logged_in": True, "email": "Ada@Example.ORG", "email_verified": True}, "everything"),
        ({"is_logged_in": True, "email": "ada@example.org", "email_verified": False}, "pages"),
        ({"is_logged_in": True, "email": "bob@example.org"}, "pages"),
        ({"is_logged_in": True}, "pages"),
    ],
)
def test_who_logs_in_reads_and_who_is_named_presents(user, sees, home, monkeypatch):
    serve(monkeypatch, "login")
    at = as_user(monkeypatch, **user)
    assert not at.exception
    assert bool(at.get("file_uploader")) == (sees == "everything")
    assert any(one.label == "Log in" for one in at.button) == (sees == "nothing")
    assert any(one.key == "log_out" for one in at.sidebar.button) == (sees != "nothing")
    assert bool(at.get("page_link")) == (sees != "nothing")


@pytest.mark.parametrize(
    ("terms", "address", "behind_door", "shown"),
    [
        ("own", "127.0.0.1", True, True),
        ("own", "::1", False, True),
        ("own", "0.0.0.0", True, False),
        ("own", "192.0.2.7", True, False),
        ("audience", "0.0.0.0", True, True),
        ("audience", "0.0.0.0", False, False),
        ("open", "0.0.0.0", False, False),
        ("login", "127.0.0.1", False, False),
    ],
)
def test_streamlit_started_by_hand_shows_nothing_to_others(
    terms, address, behind_door, shown, monkeypatch
):
    monkeypatch.setattr(access, "_server", access._Server(terms, KEY, behind_door=behind_door))
    monkeypatch.setattr(access.runtime, "exists", lambda: True)
    monkeypatch.setattr(st, "get_option", {"server.address": address}.get)
    assert (access.refusal() == "") == shown


def test_guests_get_sentences_without_paths(home, become):
    become("guest")
    assert access.shown(f"No file at {home}/x.npz or /srv/ada/y.npz.") == (
        "No file at home/x.npz or y.npz."
    )
    with pytest.raises(ReadOnly):
        doors.check()


def test_the_presenter_never_waits_for_guests(home, become, monkeypatch):
    monkeypatch.setattr(access, "_guests", threading.BoundedSemaphore(1))
    monkeypatch.setattr(access, "PATIENCE", 0.05)
    become("guest")
    with access.turn():
        become("presenter")
        drawn = [words_on(open_page("glossary"))]
        become("guest")
        other = threading.Thread(target=lambda: drawn.append(words_on(open_page("glossary"))))
        other.start()
        other.join(0.5)
        assert len(drawn) == 1
    other.join()
    assert len(drawn) == 2 and access.BUSY not in "".join(drawn)


def test_of_guests_one_at_a_time_keeps_the_processor_busy(become):
    become("guest")
    with access.heavy(), pytest.raises(access.Busy), access.heavy():
        pass
    with access.heavy():
        pass


def test_no_page_downloads_a_data_set(home, become, tmp_path, monkeypatch):
    asked: list[Any] = []
    monkeypatch.setattr("urllib.request.urlopen", lambda *a, **_: asked.append(a))
    monkeypatch.setenv("MUCORE_DATA", str(tmp_path / "data"))
    spec = {**make_result().spec, "dataset": "cifar10"}
    for who in ("guest", "presenter"):
        become(who)
        with pytest.raises(BadFile) as caught:
            data.images(spec, [1])
        with pytest.raises(BadFile):
            networks._album("mnist", ())
        with pytest.raises(BadFile):
            training_set.training_of("svhn")
    assert not asked and not (tmp_path / "data").exists()
    assert "load('cifar10')" in access.shown(str(caught.value))


@pytest.mark.parametrize(("terms", "path"), [("audience", False), ("own", True)])
def test_why_images_are_missing_is_told_to_guests_without_paths(terms, path, monkeypatch):
    def missing(*_: Any) -> None:
        raise BadFile("There is no file at /srv/ada/digits.npz.")

    said: list[str] = []
    serve(monkeypatch, terms, KEY)
    monkeypatch.setattr(data, "images", missing)
    monkeypatch.setattr(pictures.st, "caption", said.append)
    assert pictures.thumbnails(make_result(), [1]) == {}
    assert "digits.npz" in said[0] and ("/srv/ada" in said[0]) == path
