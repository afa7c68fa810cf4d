"""t-SNE and CKA as a reader meets it: what each tab shows and opens, on stores of every fill."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders import make_result, make_spec_row
from pages import figure, figures, lines_with, open_page
from streamlit.testing.v1 import AppTest

from dashboard import data
from mucore.outputs import Outputs, SplitOutputs, confusion
from mucore.store import Store, open_store

opened = partial(open_page, "representation")
NOT_KEPT = ("predictions of these runs", "not kept")
# CKA to the original and to Retrain, average gap of class accuracies
NUMBERS = {
    "original": (1.0, 0.9, 0.3),
    "retrain": (0.9, 1.0, 0.0),
    "finetune": (0.99, 0.91, 0.2),
    "scrub": (0.98, 0.94, 0.1),
    "duck": (0.95, 0.97, 0.02),
    "salun": (0.80, 0.72, 0.01),
}
METHODS = [name for name in NUMBERS if name not in ("original", "retrain")]


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


@pytest.mark.slow
def test_a_click_on_a_mark_shows_its_map_beside_the_one_before(keys, monkeypatch):
    picked: list[str] = []
    marks: list[str] = []

    def chart(drawn: Any, key: str, **_: Any) -> dict:
        if key == "pick_map":
            marks[:] = [each[0] for trace in drawn.data for each in trace.customdata or ()]
        points = [{"customdata": picked}] if picked and key == "pick_map" else []
        return {"selection": {"points": points}}

    monkeypatch.setattr("dashboard.widgets.figures.chart", chart)
    state_of(data.AnalysisState("absent"), monkeypatch)
    at = opened()
    first = next(box.value for box in at.multiselect if box.label == "Methods with a map")
    assert len(first) == 2
    titles = next(box.options for box in at.multiselect if box.label == "Methods with a map")
    assert len(titles) == len(METHODS)
    picked.append(next(key for key in marks if key not in first))
    at.run()
    assert at.query_params["maps"] == [first[1], *picked]


def test_maps_are_drawn_on_request(keys, monkeypatch):
    started = state_of(data.AnalysisState("absent"), monkeypatch)
    at = opened(view="map", maps=["duck", "salun", "scrub"])  # an address of version 0.2
    chosen = next(box.value for box in at.multiselect if box.label == "Methods with a map")
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


def test_a_failed_map_says_why_and_can_be_tried_again(keys, monkeypatch):
    failed = data.AnalysisState("failed", error="The machine ran out of <memory>.")
    started = state_of(failed, monkeypatch)
    at = opened()
    assert "ran out of" in at.error[0].value and "<memory>" not in at.error[0].value
    next(button for button in at.button if button.label == "Try again").click().run()
    assert len(started) == 1


def test_a_map_that_is_there(keys, monkeypatch):
    value: dict[str, Any] = {key: np.arange(10.0).reshape(5, 2) for key in keys.values()}
    value |= {
        "ids": np.arange(5),
        "labels": np.array([0, 0, 2, 3, 6]),
        "forgotten": np.array([True, True, False, False, False]),
        "note": "5 of 5.",
    }
    state_of(data.AnalysisState("ready", value, 1.0), monkeypatch)
    at = opened()
    drawn = figure(at, "embedding_map")
    heads = [note["text"] for note in drawn["layout"]["annotations"]]
    assert heads[:2] == ["<b>Original</b>", "<b>Retrain</b>"] and len(heads) == 6
    one = drawn["data"][:4]
    assert [trace["name"] for trace in one] == ["3", "2", "6", "forgotten"]
    assert [len(trace["customdata"]) for trace in one] == [
        1,
        1,
        1,
        1,
    ]  # one forgotten sample of two


@pytest.mark.slow
def test_the_map_opens_on_a_forget_set_that_has_features(home):
    """Class 1 was forgotten by as many methods, and by more runs, but its predictions were not
    kept.
    """
    with open_store(home) as store:
        for number, method in enumerate(NUMBERS):
            put(store, method, outputs=features(number))
            for seed in (0, 1):
                other = make_spec_row(
                    scenario="class_wise",
                    method=method,
                    training_seed=seed,
                    scenario_parameters={"class_ids": (1,)},
                )
                store.put_result(make_result(other, metrics=metrics(method)))

    def forget_set(at: AppTest) -> str:
        return str(next(box.value for box in at.selectbox if box.label == "Forget set"))

    at, usual = opened(tab="map"), forget_set(opened(tab="scatter"))
    assert not lines_with(at, *NOT_KEPT) and forget_set(at) != usual
    assert lines_with(opened(tab="map", set=usual), *NOT_KEPT)


# --- CKA scatter


@pytest.mark.slow
def test_an_old_view_leads_to_the_tab_that_has_it(keys):
    views = {"similarity": "scatter", "agreement": "scatter", "cost": "scatter"}
    views |= {"neighbours": "map", "sensitivity": "last", "layers": "layers", "q": "map"}
    assert {view: open_tab(opened(view=view)) for view in views} == views


def test_the_scatter_has_every_method_at_its_two_numbers(keys):
    at = opened(view="similarity", split="test")
    drawn = figure(at, "cka_scatter")
    marks = {
        each[0]: (x, y)
        for trace in drawn["data"]
        if trace.get("customdata")
        for each, x, y in zip(trace["customdata"], trace["x"], trace["y"], strict=True)
    }
    assert marks == {keys[name]: NUMBERS[name][:2] for name in METHODS}
    table = at.dataframe[0].value.set_index("Method")
    assert list(table.loc["DUCK"][["CKA to Original", "CKA to Retrain", "AGL"]]) == [
        "0.950",
        "0.970",
        "0.500",
    ]
    gap = figure(opened(tab="scatter", measures="gap"), "cka_scatter")
    assert sorted(x for t in gap["data"] if t.get("customdata") for x in t["x"]) == [
        0.01,
        0.02,
        0.1,
        0.2,
    ]
    answers = figure(opened(view="agreement"), "cka_scatter")
    assert {x for t in answers["data"] if t.get("customdata") for x in t["x"]} == {0.5}


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


@pytest.mark.slow
def test_the_papers_numbers_stand_beside_ours(home):
    with open_store(home) as store:
        for method in NUMBERS:
            put(store, method, agl=0.9, agr=0.5, h_lr=0.7, knn_accuracy=0.8125, linear_probe=0.5)

    def table(**query: str) -> Any:
        return opened(tab="scatter", **query).dataframe[0].value.set_index("Method")

    assert not [name for name in table().columns if "paper" in name]
    beside = table(paper="1").loc["DUCK"]
    # Table 3: DUCK's k-NN accuracies 79.8, 39.0 and 82.5, or 82.7 in Table 13, which is taken
    assert list(beside[["k-NN, %", "k-NN, %, paper", "Probe, %"]]) == ["81.2", "67.2", "50.0"]
    assert list(beside[[f"{name}, paper" for name in ("AGL", "AGR", "H-LR")]]) == [
        "0.960",
        "0.850",
        "0.900",
    ]
    assert table(paper="1", paper_set="Swin-T").loc["SCRUB", "AGL, paper"] == "0.200"


@pytest.mark.slow
def test_downstream_sets_stand_in_the_table_and_among_the_samples(home):
    with open_store(home) as store:
        for number, method in enumerate(NUMBERS):
            spec = make_spec_row(
                dataset="glyphs", model="resnet9-small", scenario="random_classes", method=method
            )
            values = {
                "knn_glyphs-serif": 0.8,
                "cka_retrain_glyphs-serif": 0.9 - number / 100,
                "cka_original_glyphs-serif": 0.95,
            }
            store.put_result(make_result(spec, metrics=metrics(method, agl=0.9, agr=0.5, **values)))
    at = opened(tab="scatter", split="glyphs-serif")
    (samples,) = [box for box in at.selectbox if box.label == "Samples"]
    assert samples.options[3:] == ["Glyphs, serif", "Glyphs, outline", "Glyphs, hand"]
    table = at.dataframe[0].value.set_index("Method")
    assert {"80.0", "0.870"} <= set(table.loc["SCRUB"])
    samples.select("glyphs-outline").run()
    assert not at.exception and not at.get("plotly_chart")


@pytest.mark.slow
def test_two_data_sets_in_one_figure(keys, home):
    with open_store(home) as store:
        for method, value in (("retrain", 1.0), ("duck", 0.4)):
            spec = make_spec_row(
                dataset="glyphs",
                model="resnet9-small",
                scenario="random_classes",
                method=method,
                scenario_parameters={"n": 12},
            )
            store.put_result(make_result(spec, metrics={"agl": value}))
    at = opened(view="agreement", sets="two", scenario="class_wise", x="digits", y="glyphs")
    assert not at.exception
    marks = [t for t in figure(at, "two_sets")["data"] if t.get("customdata")]
    assert [(trace["x"], trace["y"]) for trace in marks] == [([0.5], [0.4])]


# --- layers and last layer


def test_layers_of_a_run(keys, monkeypatch):
    original, retrain = np.array([[1.0, 0.7], [0.6, 0.55]]), np.array([[0.95, 0.8], [0.7, 0.85]])
    value = {
        "layers": ["conv", "pool"],
        "original": original,
        "retrain": retrain,
        "original_retrain": np.array([0.97, 0.9]),
        "note": "On 4.",
    }
    state_of(data.AnalysisState("ready", value, 1.0), monkeypatch)
    at = opened(tab="layers")
    assert [trace["type"] for trace in figures(at)[0]["data"]].count("heatmap") == 2
    table = at.dataframe[0].value.set_index("Layer")
    assert list(table.loc["pool"]) == [0.55, 0.85, 0.9]


def test_last_layer_compares_a_method_with_itself(home, keys):
    with open_store(home) as store:
        put(store, "duck", scope="classifier", agl=0.2, cka_original_test=1.0)
        # something else than the classifier moved
        put(store, "salun", scope="classifier", agl=0.2, cka_original_test=0.9)
    at = opened(tab="last")
    marks = [t for t in figure(at, "last_layer")["data"] if t.get("customdata")]
    assert [trace["x"] for trace in marks] == [[pytest.approx(NUMBERS["duck"][0])]]
    assert [trace["y"] for trace in marks] == [[pytest.approx(0.3)]]


def test_below_it_stand_the_settings_that_runs_of_a_method_differ_in(home, keys):
    with open_store(home) as store:
        put(store, "duck", noise=0.001, agl=0.4)
        put(store, "duck", noise=1.0, agl=0.1)
    at = opened(view="sensitivity")
    assert at.selectbox(key="url:of").value == "duck"
    assert at.selectbox(key="url:over").value == "method.gradient_noise"
    drawn = figure(at, "sensitivity")
    agl = next(trace for trace in drawn["data"] if trace["name"] == "AGL")
    assert agl["y"] == [0.5, 0.4, 0.1]
    assert drawn["layout"]["xaxis"]["ticktext"] == ["0", "0.001", "1"]


@pytest.mark.slow
def test_downstream_sets_never_share_a_line(home):
    """DUCK and Retrain on letters near two downstream sets: 0.9 on the one, 0.5 on the other."""
    with open_store(home) as store:
        for of, value in (("glyphs-serif", 0.9), ("glyphs-hand", 0.5)):
            for method in ("retrain", "duck"):
                for number in (12, 24):
                    spec = make_spec_row(
                        dataset="glyphs",
                        model="resnet9-small",
                        scenario="top_classes",
                        method=method,
                        scenario_parameters={"n": number, "downstream": of},
                    )
                    found = {"agl": value, "agr": value / 2, "cka_original_test": value}
                    store.put_result(make_result(spec, metrics=found))
    at = opened(view="sensitivity", of="duck", over="forget set.n")
    box = next(one for one in at.selectbox if one.label == "Runs with")
    assert box.options == ["Glyphs, hand", "Glyphs, serif"]

    def lines() -> dict[str, list[float]]:
        return {trace["name"]: trace["y"] for trace in figure(at, "sensitivity")["data"]}

    assert lines()["AGL"] == [0.5, 0.5]
    box.select_index(1).run()
    assert lines()["AGL"] == lines()["Original and Retrain: CKA"] == [0.9, 0.9]
