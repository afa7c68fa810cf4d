"""The drawer of a run: when it takes the keyboard, its weights, and the verdict on its line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from builders import full_results, make_result, make_spec_row
from pages import open_page

from dashboard import data
from dashboard.text import verdicts
from dashboard.widgets import run_drawer
from dashboard.widgets.figures import chart
from dashboard.widgets.markdown import escape
from mucore.store import open_store


def key_of(method: str) -> str:
    return make_spec_row(method=method, scenario="one_class").key


@pytest.fixture
def filled(home):
    with open_store(home) as store:
        for result in full_results():
            store.put_result(result)
    return home


@pytest.fixture
def openings(monkeypatch) -> list[int]:
    """What each drawn drawer says to the browser: the number of its opening."""
    said: list[int] = []
    monkeypatch.setattr(run_drawer, "_behave", lambda opening, shown, title: said.append(opening))
    return said


@pytest.fixture
def click(monkeypatch) -> Callable[[str], None]:
    """Select the mark of a run in the figure of Trade-offs."""
    chosen: list[dict[str, Any]] = []
    draw = chart

    def clicked(figure: Any, key: str, **options: Any) -> Any:
        draw(figure, key, **options)
        return {"selection": {"points": chosen if key == "front" else []}}

    monkeypatch.setattr("dashboard.widgets.figures.chart", clicked)

    def select(key: str, place: int = 0) -> None:
        chosen[:] = [{"customdata": [key], "curve_number": 0, "point_index": place}]

    return select


def test_a_new_selection_takes_the_keyboard_once(filled, openings, click):
    at = open_page("tradeoffs", scenario="one_class")
    click(key_of("finetune"))
    at.run()
    assert openings[-1] == 1
    at.run()
    # what else a reader does is no reason to take the keyboard away
    at.selectbox(key="url:utility").select("ra").run()
    assert openings[-1] == 1
    # another mark of the same run: a click that does nothing would puzzle
    click(key_of("finetune"), place=1)
    at.run()
    assert openings[-1] == 2
    next(each for each in at.button if each.label == "Close").click().run()
    count = len(openings)
    at.run()
    assert len(openings) == count and "run" not in at.query_params
    click(key_of("salun"))
    at.run()
    assert openings[-1] > 2 and at.subheader[0].value.startswith("SalUn")


def test_weights_can_be_taken_out_where_they_are(home):
    with open_store(home) as store:
        kept = make_result(
            method="scrub",
            scenario="one_class",
            weights=store.artifacts.put_arrays({"w": np.zeros(3, np.float32)}),
        )
        store.put_results([kept, make_result(method="ssd", scenario="one_class")])
    labels = [
        [one.proto.label for one in open_page("start", run=key_of(method)).get("download_button")]
        for method in ("scrub", "ssd")
    ]
    assert "Weights" in labels[0] and "Weights" not in labels[1]


@pytest.mark.parametrize("door", ["run", "row"])
def test_the_verdict_on_all_runs_of_the_line_stands_on_top(filled, door):
    runs = data.summaries()
    mine = runs[(runs["method"] == "salun") & (runs["scenario"] == "one_class")]
    row = run_drawer.frames.row_id("salun", mine.iloc[0]["parameters"])
    at = (
        open_page("tradeoffs", scenario="one_class", run=key_of("salun"))
        if door == "run"
        else open_page("results", scenario="one_class", row=row)
    )
    verdict = data.judged(runs)[key_of("salun")].verdict
    assert verdict is not None and not at.exception
    assert [f"#### {verdicts.label(verdict)}"] == [
        one.value for one in at.markdown if one.value.startswith("#### :material/")
    ]
    assert any(escape(verdict.sentence) == one.value for one in at.markdown)
    assert [one for one in at.caption if f"all {len(mine)} runs" in one.value]
