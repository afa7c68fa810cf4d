"""What pages share when they read the store: words while a page is first drawn on many results, and
short names for many runs.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import pandas as pd
import pytest
import streamlit as st
from builders import make_result
from pages import fill, open_page

from dashboard import data
from mucore.store import open_store

pytestmark = pytest.mark.slow


@pytest.fixture
def spun(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The words of every spinner that a page showed."""
    said: list[str] = []

    @contextmanager
    def spinner(text: str) -> Generator[None]:
        said.append(text)
        yield

    monkeypatch.setattr(st, "spinner", spinner)
    return said


def test_a_page_on_many_results_says_that_it_reads_them_until_it_was_drawn_once(
    home, spun, monkeypatch
):
    fill(home, "full")
    with open_store(home) as store:
        count = store.count_results()
    monkeypatch.setattr(data, "MANY", count)
    words = f"Reading {count:,} results"
    at = open_page("results")
    assert spun == [words] and not at.exception
    at.run()
    open_page("results")
    assert len(spun) == 1
    with open_store(home) as store:
        store.put_result(make_result(method="ssd", training_seed=9))
    at.run()
    assert spun[1:] == [f"Reading {count + 1:,} results"]


def test_of_what_readers_write_into_addresses_little_is_kept(home, spun, monkeypatch):
    fill(home, "full")
    monkeypatch.setattr(data, "MANY", 1)
    for number in range(300):
        with data.opening(f"results {number}{'x' * 10_000}"):
            pass
    store = data.own_store()
    kept = data._opened(str(store.home), store.change_counter("results"))
    assert len(kept) == data.OPENED and max(map(len, kept)) == data.LETTERS


def test_a_choice_of_runs_has_a_short_name_of_its_own():
    runs = pd.DataFrame({"key": ["ab", "c"]})
    assert data.chosen(runs) == data.chosen(runs.copy()) and len(data.chosen(runs)) < 100
    others = [runs.iloc[:1], runs.iloc[::-1], pd.DataFrame({"key": ["a", "bc"]}), runs.iloc[:0]]
    assert len({data.chosen(each) for each in [runs, *others]}) == 5
