"""Cells of heat maps and marks of the critical-difference diagram: each opens the drawer of its
run.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from builders import full_results, make_result, make_spec_row
from pages import open_page, words_on

from dashboard import data
from dashboard.charts import class_gaps, confusion, critical_difference
from dashboard.charts.parts import clickable
from dashboard.frames import tradeoffs as tradeoffs_frames
from mucore.outputs import Outputs, SplitOutputs
from mucore.statistics import label_runs
from mucore.statistics.significance import average_ranks
from mucore.store import open_store
from mucore.verdicts import judge

COUNTS = [[5, 0], [1, 4]]


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
    info = class_gaps.ClassGapsInfo(
        ("a", "b", "c"), (("SalUn", (1.0, -2.0, None)), ("SSD", (0.0, 5.0, 6.0))), (), 10.0
    )
    figure = clickable.selectable(
        class_gaps.draw(info, dark=False), lambda _, row, column: f"{row}{column}" if column else ""
    )
    (mark,) = marks(figure)
    places = [(x, y) for y in ("SalUn", "SSD") for x in "abc"]
    assert list(zip(mark.x, mark.y, strict=True)) == places
    assert [each[0] for each in mark.customdata] == ["", "01", "02", "", "11", "12"]
    assert list(mark.text)[1] == "−2.0" and mark.marker.opacity == 0
    # a click must not make it seen
    assert mark.selected.marker.opacity == mark.unselected.marker.opacity == 0


def test_each_panel_has_marks_of_its_own_run():
    info = confusion.confusion_info([("SalUn", COUNTS), ("SSD", COUNTS)], ["cat", "dog"])
    figure = clickable.selectable(confusion.draw(info, dark=False), lambda panel, *_: "xy"[panel])
    first, second = marks(figure)
    assert {each[0] for each in first.customdata} == {"x"} and {
        each[0] for each in second.customdata
    } == {"y"}
    assert (first.xaxis, second.xaxis) == ("x", "x2")


def test_a_method_is_selected_at_its_mark_and_at_its_name():
    ranking = average_ranks({"salun": [1.0, 2.0], "ssd": [2.0, 3.0], "scrub": [3.0, 4.0]})
    names = {
        "salun": ("SalUn", "sparsity"),
        "ssd": ("SSD", "influence"),
        "scrub": ("SCRUB", "teacher"),
    }
    keys = {"salun": "k1", "ssd": "k2"}
    info = critical_difference.critical_difference_info(ranking, names, keys)
    figure = critical_difference.draw(info, dark=False, selected="k2")
    at_names, at_ranks = [trace for trace in figure.data if trace.customdata is not None]
    for trace in (at_names, at_ranks):
        assert [list(each) for each in trace.customdata] == [
            ["k1", "SalUn", 1.0, ""],
            ["k2", "SSD", 2.0, ""],
            ["", "SCRUB", 3.0, ""],
        ]
    places = {note.text: (note.x, note.y) for note in figure.layout.annotations}
    assert (at_names.x[1], at_names.y[1]) == places["<b>SSD  2.0</b>"] and "SalUn  1.0" in places
    assert list(at_ranks.x) == [1.0, 2.0, 3.0] and at_names.marker.opacity == 0


def test_a_line_of_the_ranks_stands_for_its_first_run(home):
    with open_store(home) as store:
        for result in full_results(seeds=(1, 0)):
            store.put_result(result)
    keys = tradeoffs_frames.line_keys(label_runs(data.unlearning_runs()))
    assert keys["salun"] == make_spec_row(method="salun", scenario="one_class", training_seed=0).key


@pytest.mark.parametrize("methods", [["salun", "ssd", "retrain"], ["salun"]])
def test_verdicts_are_those_of_whole_records(home, methods):
    with open_store(home) as store:
        store.put_results(full_results(seeds=(1, 0)))
        records = store.results()
    runs = data.unlearning_runs()
    some = runs[runs["method"].isin(methods)]
    wanted = [one for one in records if one.spec["method"] in (*methods, *data.REFERENCES)]
    found = {key: line for line in judge(wanted) for key in line.keys if key in set(some["key"])}
    assert data.judged(some) == found and any(line.verdict for line in found.values())


def test_words_are_those_of_the_verdicts_whatever_runs_are_chosen(home):
    with open_store(home) as store:
        store.put_results(full_results(seeds=(1, 0)))
    runs = data.unlearning_runs()
    for some in (runs, runs[runs["method"].isin(["salun", "original"])]):
        lines = {key: line.verdict for key, line in data.judged(some).items()}
        said = {key: verdict.word for key, verdict in lines.items() if verdict is not None}
        assert data.judged_words(some) == said and len(set(said.values())) > 1
    assert data.judged_words(runs.iloc[:0]) == {}


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


def test_a_cell_of_a_confusion_matrix_opens_the_run_of_its_panel(home, clicked):
    keys = kept(home)
    query = {
        "tab": "confusion",
        "key": [keys["salun"], keys["finetune"]],
        "left": keys["salun"],
        "right": keys["finetune"],
    }
    open_page("compare", **query)
    clicked["confusion"] = [cell_of(clicked["drawn confusion"], 1, 0)]
    at = open_page("compare", **query)
    assert at.query_params["run"] in (keys["finetune"], [keys["finetune"]]) and at.subheader[
        0
    ].value.startswith("Fine-tune")


def test_a_cell_of_two_models_opens_the_run_of_its_row(home, clicked):
    split = SplitOutputs(
        logits=np.eye(10, dtype=np.float32),
        labels=np.arange(10),
        ids=np.arange(10),
        confusion=np.eye(10, dtype=np.int64),
    )
    with open_store(home) as store:
        for method in ("retrain", "salun", "finetune"):
            store.put_result(
                make_result(
                    method=method, outputs=store.artifacts.put_outputs(Outputs({"test": split}))
                )
            )
    keys = {method: make_spec_row(method=method).key for method in ("salun", "finetune")}
    query = {"tab": "predictions", "key": list(keys.values())}
    open_page("compare", **query)
    # Fine-tune in the second row with SalUn in the first column
    clicked["predictions"] = [cell_of(clicked["drawn predictions"], 0, 2)]
    at = open_page("compare", **query)
    assert at.query_params["run"] in (keys["finetune"], [keys["finetune"]])


def test_a_cell_of_layers_opens_the_run(home, clicked, monkeypatch):
    keys = kept(home)
    value = {
        "layers": ["a", "b"],
        "original": np.eye(2),
        "retrain": np.eye(2),
        "original_retrain": np.ones(2),
        "note": "On 4.",
    }
    monkeypatch.setattr(
        data, "analysis", lambda kind, parameters: data.AnalysisState("ready", value, 1.0)
    )
    at = open_page("representation", tab="layers", scenario="one_class")
    at.selectbox(key="url:of").select("SalUn").run()
    drawn = marks(clicked["drawn layer_heatmap"])
    assert {each[0] for mark in drawn for each in mark.customdata} == {keys["salun"]} and len(
        drawn
    ) == 2
    clicked["layer_heatmap"] = [cell_of(clicked["drawn layer_heatmap"], 1, 0)]
    at.run()
    assert at.query_params["run"] in (keys["salun"], [keys["salun"]])


def test_a_mark_of_the_critical_difference_diagram_opens_the_methods_run(home, clicked):
    with open_store(home) as store:
        for result in full_results():
            store.put_result(result)
    key = make_spec_row(method="salun", scenario="one_class").key
    clicked["critical_difference"] = [
        {"customdata": [key, "SalUn", 1.0], "curve_number": 20, "point_index": 0}
    ]
    at = open_page("tradeoffs", view="ranks", metric="fa")
    assert not at.exception and at.query_params["run"] in (key, [key])
    assert at.subheader[0].value.startswith("SalUn, training seed 0")
    notes = [note.text for note in clicked["drawn critical_difference"].layout.annotations]
    assert any(note.startswith("<b>") and "SalUn" in note for note in notes)
