"""The drawer of a run: when it takes the keyboard, which tables and figures open it, and whose
Retrain stands in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import streamlit as st
from builders import full_results, make_result, make_spec_row, queue_done
from pages import APP, figure, open_page, words_on
from streamlit.testing.v1 import AppTest

from dashboard import data
from dashboard.charts import class_accuracy
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


def test_an_address_that_is_opened_or_loaded_again_leaves_the_keyboard_with_the_page(
    filled, openings
):
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params["run"] = key_of("salun")
    at.run()
    at.run()
    assert openings == [0, 0]


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


def test_a_line_of_results_takes_the_keyboard(filled, openings):
    at = open_page("results", scenario="one_class")
    assert not openings
    at.query_params["row"] = run_drawer.frames.row_id(
        "salun", data.summaries().set_index("key").loc[key_of("salun"), "parameters"]
    )
    at.run()
    assert openings[-1] == 1
    at.selectbox(key="url:run").select_index(1).run()  # another seed of the same line
    assert openings[-1] == 1


@pytest.fixture
def select_line(monkeypatch) -> dict[str, int]:
    """Which line is selected in the table whose name begins so."""
    chosen: dict[str, int] = {}
    draw = st.dataframe

    def selected(frame: Any, **look: Any) -> Any:
        draw(frame, **look)
        lines = [
            line for name, line in chosen.items() if str(look.get("key", "")).startswith(f"{name}:")
        ]
        return {"selection": {"rows": lines, "columns": []}}

    monkeypatch.setattr(st, "dataframe", selected)
    return chosen


@pytest.mark.parametrize(
    ("page", "table", "query"), [("method", "method_runs", {"method": "salun"})]
)
def test_a_line_of_a_table_of_runs_opens_its_run(filled, select_line, openings, page, table, query):
    runs = data.summaries().sort_values("finished", ascending=False)
    runs = runs[runs["method"] == query["method"]] if query else runs
    select_line[table] = 1
    at = open_page(page, **query)
    assert not at.exception and runs.iloc[1]["key"] in at.query_params["run"]
    assert runs.iloc[1]["key"] in words_on(at) and openings[-1] == 1


def test_a_done_run_of_the_queue_opens(home, select_line):
    with open_store(home) as store:
        specs = [
            make_spec_row(scenario="one_class", method=method) for method in ("finetune", "salun")
        ]
        queue_done(store, specs)
    select_line["done"] = 0
    at = open_page("queue", show="done")
    assert not at.exception and not at.error
    assert key_of("salun") in at.query_params["run"] and any(
        each.value.startswith("SalUn") for each in at.subheader
    )
    assert "Part of one class" in words_on(at)  # the drawer says of what


def test_a_mark_of_the_method_page_opens_its_first_run(filled):
    at = open_page("method", method="salun")
    shown = figure(at, "method_settings")
    keys = {each[0] for trace in shown["data"] for each in trace["customdata"]}
    known = data.summaries()
    assert keys <= set(known.loc[known["method"] == "salun", "key"]) and keys


def test_the_retrain_beside_a_run_is_of_the_same_setting(home, monkeypatch):
    """Start, Queue and Method give the drawer runs of all settings."""
    counts = {"test": np.eye(10, dtype=np.int64)}
    specs = [
        make_spec_row(method=method, scenario=scenario)
        for scenario in ("all_classes", "one_class")
        for method in ("retrain", "salun")
    ]
    with open_store(home) as store:
        for place, spec in enumerate(specs, start=1):
            store.put_result(
                make_result(spec, confusion={name: place * count for name, count in counts.items()})
            )
    asked: list[int] = []
    info = class_accuracy.class_accuracy_info

    def seen(own: Any, names: Any = (), retrain: Any = None, halves: Any = ()) -> Any:
        if retrain is not None:
            asked.append(int(np.asarray(retrain)[0, 0]))
        return info(own, names, retrain, halves)

    monkeypatch.setattr(class_accuracy, "class_accuracy_info", seen)
    at = open_page("start", run=specs[3].key)
    assert not at.exception and asked == [3]


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
