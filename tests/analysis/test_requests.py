"""What later requests do to earlier ones, from real runs on digits, and the page that shows it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from builders import execute_all, value
from pages import figures, open_page

from dashboard.charts import request_matrix
from dashboard.sections.compare import requests as section
from mucore import analysis
from mucore.runs import RunSpec, make_recipe, make_spec

pytestmark = pytest.mark.slow

RECIPE = make_recipe("quick", {"epochs": 4, "batch_size": 64})


def step(after: RunSpec | None, method: str, number: int) -> RunSpec:
    return make_spec(
        dataset="digits",
        model="mlp",
        recipe=RECIPE,
        method=method,
        scenario="class_wise",
        scenario_parameters={"class_ids": [number]},
        mia_samples=20,
        after=after,
    )


def chain(method: str) -> list[RunSpec]:
    last: RunSpec | None = None
    for number in (0, 3, 5):
        last = step(last, method, number)
    assert last is not None
    return last.requests


METHOD, RETRAIN = chain("random_labels"), chain("retrain")
LAST = METHOD[-1].key


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("requests")
    execute_all(folder, [*RETRAIN, *METHOD])
    return folder


def compute(store, key: str):
    parameters = analysis.complete("requests", {"key": key})
    return analysis.KINDS["requests"].compute(store, parameters, lambda done, what: None)


def test_the_diagonal_is_the_forget_accuracy_of_each_request(store):
    found = compute(store, LAST)
    for name, specs in (("method", METHOD), ("retrain", RETRAIN)):
        matrix = found[name]
        assert np.isnan(matrix[np.tril_indices(3, -1)]).all()
        assert not np.isnan(matrix[np.triu_indices(3)]).any()
        own = [value(store.get_result(each.key).metrics, "fa") for each in specs]
        assert matrix.diagonal().tolist() == pytest.approx(own)
    assert (found["original"] > 0.9).all()
    assert found["sizes"].tolist() == [store.get_result(each.key).forget_count for each in METHOD]


def test_an_earlier_step_is_the_corner_of_a_later_one(store):
    whole, two = compute(store, LAST), compute(store, METHOD[1].key)
    for name in ("method", "retrain"):
        assert np.array_equal(whole[name][:2, :2], two[name], equal_nan=True)


def test_the_cells_of_a_matrix():
    nan, models = np.nan, ["Original", "after 1", "after 2"]
    mine = pd.DataFrame([[1.0, 0.1, 0.4], [0.9, nan, 0.2]], ["1: zero", "2: one"], models)
    retrain = pd.DataFrame([[nan, 0.0, 0.05], [nan, nan, nan]], ["1: zero", "2: one"], models)
    cells = request_matrix.draw(mine, retrain, dark=True).data[0]
    assert list(cells.text[0]) == ["100.0", "10.0 (0.0)", "40.0 (5.0)"] and cells.text[1][1] == ""
    assert list(cells.z[0]) == pytest.approx([0.0, 10.0, 35.0])
    assert np.isnan(cells.z[1][1]) and cells.z[1][2] == 0.0
    assert "1: zero: 40.0 (5.0) %; 2: one: 20.0 %" in request_matrix.alt_text(mine, retrain)
    table = section.table(mine, retrain)
    assert table["Accuracy, %"].tolist() == [100.0, 10.0, 40.0, 90.0, 20.0]
    assert table["Retrain, %"].dropna().tolist() == [0.0, 5.0]


def test_the_page_shows_what_became_of_each_request(store, monkeypatch):
    monkeypatch.setenv("MUCORE_HOME", str(store.home))
    at = open_page("compare", tab="requests", key=[LAST])
    assert at.button(key="start:requests").label.startswith("Look")
    analysis.compute("requests", {"key": LAST}, store, store.home)
    at = open_page("compare", tab="requests", key=[LAST])
    assert not at.exception and len(figures(at)) == 1
    alone = open_page("compare", tab="requests", key=[METHOD[0].key])
    assert not alone.exception and not figures(alone)
