"""Methods hidden or pinned on every page, and tags that find comparisons."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from builders import full_results, make_result, make_spec_row
from pages import open_page, table_html
from streamlit.testing.v1 import AppTest

from mucore import catalog
from mucore.store import open_store

pytestmark = pytest.mark.slow

HIDDEN = catalog.method("salun").title


@pytest.fixture
def filled(home: Path) -> Path:
    with open_store(home) as store:
        for result in full_results():
            store.put_result(result)
    return home


def offered(at: AppTest) -> set[str]:
    return set(at.multiselect(key="url:methods").options)


def to(at: AppTest, page: str) -> AppTest:
    """Another page by a link of the page list, without a browser."""
    at.query_params.clear()
    at.switch_page(f"views/{page}.py").run()
    assert not at.exception and not at.error
    return at


def test_a_hidden_method_is_gone_on_every_page_until_it_is_shown_again(filled: Path) -> None:
    at = open_page("results", scenario="one_class")
    assert HIDDEN in offered(at)
    at.multiselect(key="url:hide").set_value(["salun"]).run()
    for page in ("results", "compare", "attacks"):
        if page != "results":
            to(at, page)
        assert HIDDEN not in offered(at), page
        assert at.query_params["hide"] in ("salun", ["salun"])
        assert at.multiselect(key="url:hide").value == ["salun"]
    at.multiselect(key="url:hide").set_value([]).run()
    assert HIDDEN in offered(at)
    assert HIDDEN in offered(to(at, "results"))


def test_a_pinned_method_is_shown_whatever_else_is_chosen(filled: Path) -> None:
    at = open_page("results", scenario="one_class", methods="finetune", view="value")
    before = rows(at)
    assert before == ["finetune"]
    at.multiselect(key="url:pin").set_value(["salun"]).run()
    assert rows(at) == ["salun", "finetune"]
    at.multiselect(key="url:pin").set_value([]).run()
    assert rows(at) == before


def rows(at: AppTest) -> list[str]:
    """The methods of the table of Results in their order."""
    html = table_html(at)
    titles = {name: catalog.method(name).title for name in ("finetune", "gradient_ascent", "salun")}
    found = {
        name: place.start()
        for name, title in titles.items()
        if (place := re.search(rf">\s*{re.escape(title)}\s*<", html))
    }
    return sorted(found, key=found.__getitem__)


@pytest.fixture
def tagged(filled: Path) -> Path:
    """Two comparisons: one of a single method for a talk, one of another."""
    with open_store(filled) as store:
        for name, note in (("finetune", "#talk one"), ("salun", "#paper")):
            spec = make_spec_row(scenario="one_class", method=name, training_seed=5)
            retrain = make_spec_row(scenario="one_class", method="retrain", training_seed=5)
            for each in (spec, retrain):
                store.put_result(make_result(each))
            store.create_comparison(name, note, {}, [retrain.key, spec.key])
    return filled


def test_name_note_and_tags_are_changed_on_queue(tagged: Path) -> None:
    at = open_page("queue", comparison="1")
    at.text_input(key="comparison_name:1").input("Renamed")
    at.text_area(key="comparison_note:1").input("#Other words")
    at.button(key="comparison_save:1").click().run()
    assert not at.exception
    with open_store(tagged) as store:
        assert (store.comparison(1).name, store.comparison(1).note) == ("Renamed", "#Other words")
    at.text_input(key="comparison_name:1").input("  ")
    at.button(key="comparison_save:1").click().run()
    assert at.error
    at.button(key="comparison_delete:1").click().run()
    assert not at.exception
    with open_store(tagged) as store:
        assert [one.id for one in store.comparisons()] == [2]
        assert store.count_results() > 2
