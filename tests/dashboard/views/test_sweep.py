"""Every page as it opens: with the demo, on an empty store, for a guest; in the CI tier, also each
of its views on the demo, on one run, and with an address that means nothing.
"""

from __future__ import annotations

from typing import Any

import pytest
from pages import fill, open_page, writing
from streamlit.testing.v1 import AppTest

from dashboard import data
from dashboard.lessons import LESSONS
from dashboard.pages import PAGES
from dashboard.papers import PAPERS

IDS = [page.id for page in PAGES]
VIEWS: dict[str, list[dict[str, Any]]] = {
    "attacks": [{"tab": name} for name in ("membership", "quality", "efficacy")],
    "compare": [
        {"tab": name} for name in ("classes", "predictions", "confusion", "images", "replay")
    ],
    "forget_sets": [{"dataset": "digits", "way": name} for name in ("images", "map", "list")],
    "lessons": [{"lesson": name} for name in LESSONS],
    "reference": [
        *({"tab": "words", "kind": name} for name in ("metric", "method", "setting", "idea")),
        *({"tab": "papers", "paper": paper.id} for paper in PAPERS),
    ],
    "representation": [
        {"tab": tab, "measures": name}
        for tab in ("map", "scatter", "layers", "last")
        for name in ("cka", "agreement", "gap", "sets")
        if tab == "scatter" or name == "cka"
    ],
    "results": [{"view": name, "scenario": "class_wise"} for name in ("value", "gap")],
    "tradeoffs": [{"view": name} for name in ("front", "requests", "ranks", "agreement", "tests")],
}
FOREIGN: dict[str, Any] = {
    **dict.fromkeys(("scenario", "set", "recipe", "view", "sort", "split", "part", "zoom"), "q"),
    **dict.fromkeys(("run", "row", "method", "of", "over", "paper", "lesson", "other"), "gone"),
    **dict.fromkeys(("attack", "threshold", "scale", "x", "y", "metric", "table", "term"), "q"),
    "comparison": "99",
    "methods": ["nobody"],
    "key": ["gone", "x"],
    "step": "-1",
    "sample": "9" * 30,
    "parts": "no_such",
}


def whole(at: AppTest) -> AppTest:
    assert not at.exception and not at.error, [one.value for one in (*at.exception, *at.error)]
    assert at.title
    return at


@pytest.mark.smoke
@pytest.mark.parametrize("page", IDS)
def test_a_page_opens_on_the_demo_on_an_empty_store_and_for_a_guest(
    page, demo_home, started, become, tmp_path, monkeypatch
):
    become("presenter")
    whole(open_page(page))
    monkeypatch.setattr(data, "DEMO", tmp_path / "no-demo")
    whole(open_page(page))
    fill(demo_home, "full")
    become("guest")
    at = whole(open_page(page))
    assert not writing(at) and not at.get("file_uploader")


@pytest.mark.slow
@pytest.mark.parametrize("page", IDS)
def test_views_one_run_and_foreign_addresses_open(page, demo_home, started, tmp_path, monkeypatch):
    for query in VIEWS.get(page, []):
        whole(open_page(page, **query))
    monkeypatch.setattr(data, "DEMO", tmp_path / "no-demo")
    fill(demo_home, "one")
    whole(open_page(page))
    assert not open_page(page, **FOREIGN).exception
