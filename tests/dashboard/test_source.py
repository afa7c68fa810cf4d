"""Whose results pages show: the reader's own, or the demo's where they have none or chose so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import make_result
from pages import button, fill, open_page, words_on
from streamlit.testing.v1 import AppTest

from dashboard import data
from mucore.store import open_store, write_pack

pytestmark = pytest.mark.slow


@pytest.fixture
def both(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One own result and a demo of another."""
    fill(home, "one")
    with open_store(tmp_path / "maker") as maker:
        maker.put_result(make_result(method="scrub"))
        monkeypatch.setattr(data, "DEMO", write_pack(maker, tmp_path / "pack"))


def switch(at: AppTest) -> Any:
    return next((one for one in at.segmented_control if one.label == "Results"), None)


def shown(at: AppTest) -> str:
    """Whose results the page shows, as its switch or its badge says."""
    if (found := switch(at)) is not None:
        return found.value
    return "demo" if ":material/science: Demo" in words_on(at) else "own"


def test_a_reader_with_results_of_their_own_can_look_at_the_demo(both):
    at = open_page("results")
    assert shown(at) == "own" and "source" not in at.query_params
    switch(at).set_value("demo").run()
    assert shown(at) == "demo" and at.query_params["source"] in ("demo", ["demo"])
    at.query_params.clear()  # as a link to another page does
    at.switch_page("views/start.py").run()
    assert shown(at) == "demo" and at.query_params["source"] in ("demo", ["demo"]), (
        "it goes along from page to page"
    )
    switch(at).set_value("own").run()
    assert shown(at) == "own" and "source" not in at.query_params
    at.switch_page("views/results.py").run()
    assert shown(at) == "own"


def test_a_page_that_own_runs_do_not_answer_leads_to_the_demo(both):
    at = open_page("depoisoning")
    button(at, "Look at the demo's").click().run()
    assert not at.exception and shown(at) == "demo"
