"""Cells of heat maps, each of which opens the drawer of its run, and the lines of runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from builders import full_results, make_result, make_spec_row
from pages import open_page, words_on

from dashboard import data
from dashboard.charts import class_gaps
from dashboard.charts.parts import clickable
from mucore.runs import REFERENCES
from mucore.store import open_store
from mucore.verdicts import judge


@pytest.fixture
def clicked(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[dict[str, Any]]]:
    """What is selected in the figure of each name; also the figures, under the same names with
    "drawn " before.
    """
    found: dict[str, Any] = {}

    def chart(figure: go.Figure, name: str, **_: Any) -> dict[str, Any]:
        found[f"drawn {name}"] = figure
        return {"selection": {"points": found.get(name, [])}}

    monkeypatch.setattr("dashboard.widgets.figures.chart", chart)
    return found


def marks(figure: go.Figure) -> list[go.Scatter]:
    return list(figure.select_traces({"type": "scatter"}))


def cell_of(figure: go.Figure, trace: int, place: int) -> dict[str, Any]:
    """What the browser reports of a click on a cell."""
    mark = marks(figure)[trace]
    number = next(number for number, each in enumerate(figure.data) if each is mark)
    return {
        "customdata": list(mark.customdata[place]),
        "curve_number": number,
        "point_index": place,
    }


# --- figures


def test_every_cell_has_an_unseen_mark_with_the_key_of_its_run():
    gaps = pd.DataFrame([[1.0, -2.0, 0.0], [0.0, 5.0, 6.0]], ["SalUn", "SSD"], list("abc"))
    figure = clickable.selectable(
        class_gaps.draw(gaps, pd.Series(dtype=float), "test", dark=False),
        lambda _, row, column: f"{row}{column}" if column else "",
    )
    (mark,) = marks(figure)
    places = [(x, y) for y in ("SalUn", "SSD") for x in "abc"]
    assert list(zip(mark.x, mark.y, strict=True)) == places
    assert [each[0] for each in mark.customdata] == ["", "01", "02", "", "11", "12"]
    assert list(mark.text)[1] == "−2.0" and mark.marker.opacity == 0
    # a click must not make it seen
    assert mark.selected.marker.opacity == mark.unselected.marker.opacity == 0


@pytest.mark.parametrize("methods", [["salun", "ssd", "retrain"], ["salun"]])
def test_verdicts_are_those_of_whole_records(home, methods):
    with open_store(home) as store:
        store.put_results(full_results(seeds=(1, 0)))
        records = store.results()
    runs = data.unlearning_runs()
    some = runs[runs["method"].isin(methods)]
    wanted = [one for one in records if one.spec["method"] in (*methods, *REFERENCES)]
    found = {key: line for line in judge(wanted) for key in line.keys if key in set(some["key"])}
    assert data.judged(some) == found and any(line.verdict for line in found.values())


# --- pages


def kept(home) -> dict[str, str]:
    """Runs of one class with counts of a test set; keys by method."""
    with open_store(home) as store:
        found = {}
        for result in full_results(scenarios=("one_class",), seeds=(0,)):
            counts = np.diag(np.full(10, 5)).tolist()
            made = make_result(
                make_spec_row(method=result.spec["method"], scenario="one_class"),
                confusion={"test": counts},
                metrics={name: each.value for name, each in result.metrics.items()},
            )
            store.put_result(made)
            found[made.spec["method"]] = made.key
    return found


def test_a_cell_of_class_gaps_opens_the_run_of_its_row(home, clicked):
    keys = kept(home)
    query = {"tab": "classes", "key": [keys["salun"], keys["finetune"]]}
    open_page("compare", **query)
    figure = clicked["drawn class_gaps"]
    row = list(figure.data[0].y).index("Fine-tune")
    clicked["class_gaps"] = [cell_of(figure, 0, 10 * row + 3)]
    at = open_page("compare", **query)
    assert at.query_params["run"] in (keys["finetune"], [keys["finetune"]])
    assert at.subheader[0].value.startswith("Fine-tune") and "--methods finetune" in words_on(at)
    next(each for each in at.button if each.label == "Close").click().run()
    assert "run" not in at.query_params  # the cell is still selected
    clicked["class_gaps"] = [cell_of(figure, 0, 10 * row + 4)]  # another cell of the same run
    at.run()
    assert at.query_params["run"] in (keys["finetune"], [keys["finetune"]])
