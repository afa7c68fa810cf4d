"""What tests do with the dashboard's pages: open them on a store, and read what is on them."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from builders import full_store, make_result
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from dashboard import access
from dashboard.pages import MOVED, TAB
from mucore.store import Store, open_store
from mucore.store.records import Measured
from mucore.verdicts import Judged, judge, rules_of

# Each AppTest looks through every installed package for components, a fifth of these tests' time;
# the packages stay the same while tests run.
vars(manifest_scanner)["scan_component_manifests"] = cache(
    manifest_scanner.scan_component_manifests
)


def table_html(at: AppTest) -> str:
    """What the whole table of Results was mounted with: the last of its two."""
    told = [one.proto.json for one in at.main.get("bidi_component")]
    mounted = [json.loads(one) for one in told if one.startswith("{")]
    return [one["html"] for one in mounted if "html" in one][-1]


APP = str(Path(__file__).resolve().parents[1] / "dashboard" / "app.py")


def fill(home: Path, amount: str) -> None:
    """A store that is "empty", has "one" result, or is "full": a whole comparison, without counts
    and predictions.
    """
    if amount == "full":
        full_store(home).close()
        return
    assert amount in ("empty", "one")
    with open_store(home) as store:
        if amount == "one":
            store.put_result(make_result())


def as_retrain(store: Store, *methods: str) -> None:
    """Gives these methods the numbers of Retrain in one_class, seed by seed."""
    found = store.results(scenario="one_class")
    retrain = {
        each.spec["training_seed"]: each.metrics
        for each in found
        if each.spec["method"] == "retrain"
    }
    for each in found:
        if each.spec["method"] in methods:
            values = retrain[each.spec["training_seed"]]
            names = rules_of("one_class").metrics
            same = {name: Measured(value=values[name].value, gap=0.0) for name in names}
            store.put_result(replace(each, metrics={**each.metrics, **same}))


def judged(store: Store) -> dict[str, Judged]:
    """By key, the judged line of every run of the store, as `dashboard.data.judged` gives it."""
    return {key: line for line in judge(store.results()) for key in line.keys}


def open_page(page: str, **query: Any) -> AppTest:
    """The application on `page`, the name of a file in dashboard/views or an earlier page's, with
    `query` in its address; a test module fixes the page.
    """
    if page in MOVED:
        page, query[TAB] = MOVED[page]
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update(query)
    return at.switch_page(f"views/{page}.py").run()


def words_on(at: AppTest, *, escaped: bool = False) -> str:
    """All text, without the backslashes that keep Markdown from reading it as marks unless
    `escaped`.
    """
    parts = [
        *at.title,
        *at.subheader,
        *at.markdown,
        *at.caption,
        *at.error,
        *at.warning,
        *at.info,
        *at.code,
    ]
    text = "\n".join(str(one.value) for one in parts)
    return text if escaped else text.replace("\\", "")


def lines_with(at: AppTest, *facts: str) -> list[str]:
    """The lines on the page that have all the facts, such as a method's title and its value, in
    whatever words.
    """
    return [line for line in words_on(at).splitlines() if all(fact in line for fact in facts)]


def figures(at: AppTest) -> list[dict]:
    return [json.loads(one.proto.spec) for one in at.get("plotly_chart")]


def figure(at: AppTest, name: str) -> dict:
    """The figure that the page draws under this name, wherever it stands."""
    (found,) = [one.proto.spec for one in at.get("plotly_chart") if one.proto.id.endswith(name)]
    return json.loads(found)


def links(at: AppTest) -> list[str]:
    """Labels of the links to other pages."""
    return [one.proto.label for one in at.get("page_link")]


def button(at: AppTest, label: str) -> Any:
    """The first button whose label starts so."""
    return next(one for one in at.button if one.label.startswith(label))


WRITES = {"cancel_all", "start_worker", "start", "again"}  # keys of buttons, and their beginnings
WRITES_EACH = ("cancel:", "retry:", "cancel_analysis:", "retry_analysis:", "start:")


def writing(at: AppTest) -> set[str]:
    """Keys of the buttons that would change something here."""
    found = {str(one.key) for one in at.button if not one.disabled}
    return {key for key in found if key in WRITES or key.startswith(WRITES_EACH)}


def send_key(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    """From now on the browser has `key` as its cookie."""
    cookies = property(lambda _: {access.cookie(): key} if key else {})
    monkeypatch.setattr(type(st.context), "cookies", cookies)
