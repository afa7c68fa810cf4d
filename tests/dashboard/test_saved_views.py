"""Addresses that a person keeps under a name, and where they stand on the pages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pages import fill, links, open_page
from streamlit.testing.v1 import AppTest

from dashboard import saved_views
from mucore.errors import BadValue

pytestmark = pytest.mark.slow

QUERY = {"scenario": ["one_class"], "methods": ["ssd", "scrub"]}


def test_a_view_is_kept_whole_and_found_again(tmp_path: Path) -> None:
    saved_views.save(tmp_path, "  two   methods ", "results", QUERY)
    saved_views.save(tmp_path, "A first one", "draw", {})
    first, second = saved_views.every(tmp_path)
    assert (first.name, first.page, first.query) == ("A first one", "draw", {})
    assert (second.name, second.page, second.query) == ("two methods", "results", QUERY)


def test_views_are_renamed_and_deleted(tmp_path: Path) -> None:
    for name in ("a", "b"):
        saved_views.save(tmp_path, name, "results", QUERY)
    saved_views.rename(tmp_path, "a", "c")
    saved_views.rename(tmp_path, "c", "C")
    assert [view.name for view in saved_views.every(tmp_path)] == ["b", "C"]
    with pytest.raises(BadValue, match="b"):
        saved_views.rename(tmp_path, "C", "b")
    with pytest.raises(BadValue, match="gone"):
        saved_views.rename(tmp_path, "gone", "d")
    saved_views.delete(tmp_path, "b")
    saved_views.delete(tmp_path, "b")
    assert [view.query for view in saved_views.every(tmp_path)] == [QUERY]


@pytest.mark.parametrize(
    ("name", "page", "query"),
    [("x" * 61, "results", {}), ("x", "nowhere", {}), ("x", "results", {"ids": ["1" * 5000]})],
)
def test_what_cannot_be_kept_is_refused(
    tmp_path: Path, name: str, page: str, query: dict[str, list[str]]
) -> None:
    with pytest.raises(BadValue):
        saved_views.save(tmp_path, name, page, query)
    assert saved_views.every(tmp_path) == ()


def pressed(at: AppTest, key: str) -> AppTest:
    at.button(key=key).click().run()
    assert not at.exception
    return at


def test_a_page_is_saved_renamed_and_deleted_in_the_side_bar(home: Path) -> None:
    fill(home, "full")
    at = open_page("results", scenario="one_class")
    at.text_input(key="view_name").input("For Monday")
    pressed(at, "view_save")
    (view,) = saved_views.every(home)
    assert view.page == "results" and view.query["scenario"] == ["one_class"]
    assert view.query["source"] == ["own"]  # it may be opened while the demo is shown
    assert "For Monday" in links(open_page("glossary"))
    at.text_input(key="view_new").input("For Tuesday")
    pressed(at, "view_rename")
    assert "For Tuesday" in links(at) and "For Monday" not in links(at)
    pressed(at, "view_delete")
    assert saved_views.every(home) == () and "For Tuesday" not in links(at)


def test_guests_read_views_and_see_none_with_a_path(
    home: Path, become: Callable[[str], None]
) -> None:
    fill(home, "full")
    saved_views.save(home, "open", "results", QUERY)
    saved_views.save(home, "secret", "results", {"dataset": ["npz:/srv/ada/mine.npz"]})
    become("guest")
    at = open_page("glossary")
    assert "open" in links(at) and "secret" not in links(at)
    assert not [one for one in at.button if str(one.key).startswith("view_")]
    become("presenter")
    assert {"open", "secret"} <= set(links(open_page("glossary")))
