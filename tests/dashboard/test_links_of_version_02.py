"""Fifty addresses of pages that people wrote down under version 0.2: what each names of the demo it
shows now, and no filter that it names is gone without a word.

tests/fixtures/v02/links.json has them, with what each showed at commit 48383f76 (its README.md).
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pages import open_page, table_html

from dashboard import state
from dashboard.pages import MOVED, PAGES

LINKS = json.loads(
    (Path(__file__).parents[1] / "fixtures" / "v02" / "links.json").read_text(encoding="utf-8")
)


def fewest() -> list[dict[str, Any]]:
    """Of the links those that name each page and each filter once, the fullest first."""
    found, named = [], set[str]()
    for link in sorted(LINKS, key=lambda link: -len(link["query"])):
        says = {f"/{link['page']}", *({*state.FILTERS} & {*link["query"]})}
        if says - named:
            found.append(link)
            named |= says
    return found


FEW = fewest()
NAMED = {"scenario": "Scenario", "dataset": "Data set", "model": "Model"}  # filters and menus
GONE = ["b7ca450c"]  # a forget set whose runs with the authors' settings the demo has no more


def other(link: dict[str, Any]) -> dict[str, Any]:
    """What a link shows that it did not show then, of what it names: filters that the address has
    no more, other scenarios, data or models, and other lines of the methods and settings.
    """
    at, query, then = open_page(link["page"], **link["query"]), link["query"], link["seen"]
    assert not at.exception
    after = {name: _values(at.query_params.get(name, [])) for name in query}
    found: dict[str, Any] = {
        name: (values, after[name])
        for name, values in query.items()
        if name in state.FILTERS and sorted(after[name]) != sorted(values)
    }
    menus = {one.label: one.value for one in at.selectbox}
    for name, label in NAMED.items():
        before = then["selected"].get(f"selectbox {label}")
        if name in query and label in menus and before not in (None, menus[label]):
            found[label] = (before, menus[label])
    if then["table"] and {"methods", "settings"} <= set(query) and query.get("set") != GONE:
        shown = re.findall(r'<tr data-row="([^"]*)"', table_html(at))
        if sorted(shown) != sorted(then["table"]):
            found["table"] = (then["table"], shown)
    return found


def _values(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def test_the_links_are_fifty_and_say_what_became_of_each_filter():
    assert len(LINKS) == 50
    assert {link["page"] for link in LINKS} <= {*MOVED, *(page.id for page in PAGES)}
    for link in LINKS:
        after = link["seen"]["address"]
        dropped = [
            name
            for name, values in link["query"].items()
            if sorted(after.get(name, [])) != sorted(values)
        ]
        assert dropped == link["dropped"] and not {*dropped} & {*state.FILTERS}, link


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_link_leads_where_it_led(demo_home):
    changed = {f"{link['page']} {link['query']}": found for link in FEW if (found := other(link))}
    assert not changed


def test_filters_of_all_pages_are_named_by_some_link():
    named = {name for link in LINKS for name in link["query"]}
    assert set(state.FILTERS) <= named
