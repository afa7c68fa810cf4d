"""t-SNE and CKA as a reader meets it: what each tab shows and opens, on stores of every fill."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders import make_result, make_spec_row
from pages import figure, figures, open_page
from streamlit.testing.v1 import AppTest

from dashboard import data
from mucore.outputs import Outputs, SplitOutputs, confusion
from mucore.store import Store, open_store

opened = partial(open_page, "representation")
# CKA to the original and to Retrain, average gap of class accuracies
NUMBERS = {
    "original": (1.0, 0.9, 0.3),
    "retrain": (0.9, 1.0, 0.0),
    "finetune": (0.99, 0.91, 0.2),
    "scrub": (0.98, 0.94, 0.1),
    "duck": (0.95, 0.97, 0.02),
    "salun": (0.80, 0.72, 0.01),
}


def metrics(method: str, **more: float) -> dict[str, float | None]:
    to_original, to_retrain, gap = NUMBERS[method]
    found: dict[str, float | None] = {"ta": 0.9, "average_gap_classes": gap}
    for split in ("forget", "retain", "test"):
        found |= {f"cka_original_{split}": to_original, f"cka_retrain_{split}": to_retrain}
    return found | more


def features(seed: int) -> Outputs:
    """A run on digits that forgot class 0: 10 samples of each class to train on, 5 to test."""
    generator = np.random.default_rng(seed)
    parts = {}
    for name, labels, first in (
        ("forget", np.zeros(10, np.int64), 0),
        ("retain", np.repeat(np.arange(1, 10), 10), 10),
        ("test", np.repeat(np.arange(10), 5), 1397),
    ):
        logits = np.eye(10, dtype=np.float32)[labels]
        parts[name] = SplitOutputs(
            logits=logits,
            labels=labels,
            ids=np.arange(first, first + len(labels)),
            confusion=confusion(labels, labels, 10),
            features=(3 * np.eye(10)[labels] + generator.normal(size=(len(labels), 10))).astype(
                np.float16
            ),
        )
    return Outputs(parts)


def put(
    store: Store,
    method: str,
    *,
    outputs: Outputs | None = None,
    noise: float = 0.0,
    scope: str = "all",
    **values: Any,
) -> str:
    """One run that forgot class 0 of digits; returns its key. Retrain takes it for 6, then 2."""
    spec = make_spec_row(scenario="class_wise", method=method).model_copy(
        update={"noise": noise, "scope": scope}
    )
    kept = None if outputs is None else store.artifacts.put_outputs(outputs)
    counts = np.zeros((10, 10), int)
    counts[0, [6, 2, 5]] = 6, 3, 1
    result = make_result(
        spec, metrics=metrics(method, **values), outputs=kept, confusion={"forget": counts.tolist()}
    )
    store.put_result(result)
    return result.key


@pytest.fixture
def keys(home: Path) -> dict[str, str]:
    """A store with the runs of `NUMBERS`, with predictions."""
    with open_store(home) as store:
        return {
            method: put(store, method, outputs=features(number), agl=0.5)
            for number, method in enumerate(NUMBERS)
        }


def state_of(
    found: data.AnalysisState, monkeypatch: pytest.MonkeyPatch
) -> list[tuple[str, dict[str, Any]]]:
    """Analyses are in state `found`; gives the list of those that were started."""
    started: list[tuple[str, dict[str, Any]]] = []
    monkeypatch.setattr(data, "analysis", lambda kind, parameters: found)
    monkeypatch.setattr(
        data, "start_analysis", lambda kind, parameters: started.append((kind, parameters))
    )
    return started


def open_tab(at: AppTest) -> str:
    return str(next(one.value for one in at.segmented_control if one.label == "View"))


# --- t-SNE map


def test_the_demo_opens_on_four_maps_beside_the_scatter_of_all_methods(demo_home):
    at = opened()
    assert open_tab(at) == "map" and len(figures(at)) == 2
    assert not [each.label for each in at.button if each.label.startswith("Draw")]
    drawn = figure(at, "embedding_map")
    heads = [note["text"] for note in drawn["layout"]["annotations"]]
    assert heads[:2] == ["<b>Original</b>", "<b>Retrain</b>"]
    assert heads[4:] == ["forgot", "outputs only"]
    forgotten = [trace for trace in drawn["data"] if trace["name"] == "forgotten"]
    assert [len(trace["customdata"]) for trace in forgotten] == [
        11
    ] * 4  # as the other classes on average
    assert sum(len(t.get("customdata") or ()) for t in figure(at, "pick_map")["data"]) > 30


def test_maps_are_drawn_on_request(keys, monkeypatch):
    started = state_of(data.AnalysisState("absent"), monkeypatch)
    at = opened(view="map", maps=["duck", "salun", "scrub"])  # an address of version 0.2
    chosen = next(box.value for box in at.multiselect if box.label == "Methods to map")
    next(each for each in at.button if each.label.startswith("Draw the maps (about")).click().run()
    ((kind, parameters),) = started
    assert kind == "tsne" and not at.exception
    assert parameters == {
        "keys": [
            keys["original"],
            keys["retrain"],
            *(keys[name.rpartition("-")[0]] for name in chosen),
        ],
        "split": "train",
        "samples": 50,
        "classes": None,
        "seed": 0,
    }


# --- CKA scatter


@pytest.mark.slow
def test_a_clicked_mark_opens_its_run_once(keys, monkeypatch):
    """A selection stays in the figure; a closed drawer must not open again because of it."""

    def chart(drawn: Any, key: str, **_: Any) -> dict:
        points = [{"customdata": [keys["salun"]]}] if key == "cka_scatter" else []
        return {"selection": {"points": points}}

    monkeypatch.setattr("dashboard.widgets.figures.chart", chart)
    at = opened(tab="scatter")
    assert at.query_params["run"] in ([keys["salun"]], keys["salun"])
    assert at.subheader[0].value.startswith("SalUn")
    next(button for button in at.button if button.label == "Close").click().run()
    assert "run" not in at.query_params and not at.subheader


def test_experiments_on_a_method_stay_out_of_the_comparison(home, keys):
    with open_store(home) as store:
        put(store, "duck", noise=0.1)
        put(store, "duck", scope="classifier")
    table = opened(tab="scatter").dataframe[0].value
    assert sorted(table["Method"]) == ["DUCK", "Fine-tune", "Original", "Retrain", "SCRUB", "SalUn"]


# --- layers and last layer


def test_last_layer_compares_a_method_with_itself(home, keys):
    with open_store(home) as store:
        put(store, "duck", scope="classifier", agl=0.2, cka_original_test=1.0)
        # something else than the classifier moved
        put(store, "salun", scope="classifier", agl=0.2, cka_original_test=0.9)
    at = opened(tab="last")
    marks = [t for t in figure(at, "last_layer")["data"] if t.get("customdata")]
    assert [trace["x"] for trace in marks] == [[pytest.approx(NUMBERS["duck"][0])]]
    assert [trace["y"] for trace in marks] == [[pytest.approx(0.3)]]
