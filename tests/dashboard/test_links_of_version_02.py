"""Fifty addresses of pages that people wrote down under version 0.2: what each showed of the demo
then, it shows now, and no filter that it names is gone without a word.

tests/fixtures/v02/links.json has them, as `seen` found each at commit 48383f76 (its README.md).
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pages import figures, open_page
from streamlit.testing.v1 import AppTest

from dashboard import state
from dashboard.pages import PAGES

LINKS = json.loads(
    (Path(__file__).parents[1] / "fixtures" / "v02" / "links.json").read_text(encoding="utf-8")
)
HANDFUL = ("results", "tradeoffs", "launch", "queue", "glossary")  # the first link of each
KINDS = ("selectbox", "multiselect", "text_input", "number_input", "toggle", "select_slider")
STEADY = ("Runs", "In the store already")  # figures of Launch that no machine changes


def seen(page: str, query: dict[str, list[str]]) -> dict[str, Any]:
    """What a link leads to: the address as it is then, what the widgets say, the figures in large
    type, the ids of a table's rows or how long it is, and how many charts there are.
    """
    at = open_page(page, **query)
    assert not at.exception
    return {
        "address": {name: list(each) for name, each in sorted(_query(at).items())},
        "selected": selected(at),
        "figures": {one.label: one.value for one in at.metric if one.label in STEADY},
        "table": re.findall(r'<tr data-row="([^"]*)"', _tables(at)),
        "rows": [len(one.value) for one in at.dataframe],
        "charts": len(figures(at)),
    }


def selected(at: AppTest) -> dict[str, Any]:
    widgets: list[Any] = [one for kind in (*KINDS, "button_group") for one in at.get(kind)]
    return {
        f"{one.type} {one.label}": json.loads(json.dumps(one.value))
        for one in widgets
        if one.label != "Name"  # of a view to be saved
    }


def _query(at: AppTest) -> dict[str, list[str]]:
    return {
        name: [value] if isinstance(value, str) else value
        for name, value in at.query_params.items()
    }


def _tables(at: AppTest) -> str:
    mounted = [one.proto.json for one in at.main.get("bidi_component")]
    return "".join(json.loads(each).get("html", "") for each in mounted if each.startswith("{"))


def other(link: dict[str, Any]) -> dict[str, Any]:
    """What a link shows that it did not show; of widgets those alone that the link moves."""
    found = seen(link["page"], link["query"])
    then = link["seen"]
    found["selected"] = {name: found["selected"].get(name) for name in then["selected"]}
    return {name: (then[name], found[name]) for name in then if then[name] != found[name]}


def test_the_links_are_fifty_and_say_what_became_of_each_filter():
    assert len(LINKS) == 50
    assert {link["page"] for link in LINKS} <= {page.id for page in PAGES}
    for link in LINKS:
        after = link["seen"]["address"]
        dropped = [
            name
            for name, values in link["query"].items()
            if sorted(after.get(name, [])) != sorted(values)
        ]
        assert dropped == link["dropped"] and not {*dropped} & {*state.FILTERS}, link


@pytest.mark.slow
def test_some_links_lead_where_they_led(demo_home):
    few = [next(link for link in LINKS if link["page"] == page) for page in HANDFUL]
    changed = {str(link["query"]): found for link in few if (found := other(link))}
    assert not changed


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_link_leads_where_it_led(demo_home):
    changed = {f"{link['page']} {link['query']}": found for link in LINKS if (found := other(link))}
    assert not changed


def test_filters_of_all_pages_are_named_by_some_link():
    named = {name for link in LINKS for name in link["query"]}
    assert set(state.FILTERS) <= named
