"""The page about encoders as a reader meets it: what each section shows, says and opens, on stores
of every fill.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import facts
import numpy as np
import pytest
from builders import make_result, make_spec_row
from pages import figures, lines_with, open_page, words_on
from streamlit.testing.v1 import AppTest

from dashboard import data
from mucore import catalog, titles
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
    """One run that forgot class 0 of digits; returns its key."""
    spec = make_spec_row(scenario="class_wise", method=method).model_copy(
        update={"noise": noise, "scope": scope}
    )
    kept = None if outputs is None else store.artifacts.put_outputs(outputs)
    result = make_result(spec, metrics=metrics(method, **values), outputs=kept)
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


def test_similarity_answers_first(keys):
    at = opened(scenario="class_wise")
    words = words_on(at)
    assert "#### 3 of 4" in words and "#### DUCK" in words and "#### Hardly" in words
    scatter, bars = figures(at)
    assert "CKA to Retrain, test set" in scatter["layout"]["yaxis"]["title"]["text"]
    assert bars["data"][0]["y"] == ["SalUn", "DUCK", "SCRUB", "Fine-tune"]
    assert "One training seed" in words


def test_the_address_chooses_split_zoom_and_the_papers_values(keys):
    at = opened(split="forget", zoom="near", paper="1", methods=["duck", "scrub"])
    scatter, bars = figures(at)
    assert "forget set" in scatter["layout"]["xaxis"]["title"]["text"]
    printed = [trace["name"] for trace in scatter["data"] if trace["name"].startswith("The paper,")]
    assert len(printed) == 1 and "CKA to Retrain" in printed[0]
    assert bars["data"][0]["y"] == ["DUCK", "SCRUB"]
    assert lines_with(at, "The paper prints", "CKA to Retrain")


def test_a_run_in_the_address_opens_its_drawer(keys):
    at = opened(run=keys["duck"])
    assert at.subheader[0].value.startswith("DUCK, training seed 0")
    assert "python -m mucore run" in str(at.code[0].value)
    next(button for button in at.button if button.label == "Close").click().run()
    assert "run" not in at.query_params


def test_a_clicked_mark_opens_its_run_once(keys, monkeypatch):
    """A selection stays in the figure; a closed drawer must not open again because of it, nor a
    ghost open anything.
    """
    clicked = {"cka_scatter": [keys["salun"]], "gap_and_ratio": ["SCRUB"]}

    def chart(figure: Any, key: str, **_: Any) -> dict:
        return {"selection": {"points": [{"customdata": clicked[key]}] if key in clicked else []}}

    monkeypatch.setattr("dashboard.widgets.figures.chart", chart)
    at = opened()
    assert at.query_params["run"] in ([keys["salun"]], keys["salun"])
    assert at.subheader[0].value.startswith("SalUn")
    next(button for button in at.button if button.label == "Close").click().run()
    assert "run" not in at.query_params and not at.subheader


def test_experiments_on_a_method_stay_out_of_the_comparison(home, keys):
    with open_store(home) as store:
        put(store, "duck", noise=0.1)
        put(store, "duck", scope="classifier")
    at = opened()
    assert figures(at)[1]["data"][0]["y"] == ["SalUn", "DUCK", "SCRUB", "Fine-tune"]
    assert lines_with(at, "2 runs", "noise", "classifier")


def test_the_papers_table_stands_beside_ours_off_and_on(home):
    with open_store(home) as store:
        for method in NUMBERS:
            put(store, method, agl=0.9, agr=0.5, h_lr=0.7, knn_accuracy=0.8125)

    def table(**query: str) -> Any:
        found = [
            one.value
            for one in opened(view="agreement", **query).dataframe
            if "k-NN, %, paper" in one.value
        ]
        return found[0].set_index("Method") if found else None

    assert table() is None
    beside = table(paper="1")
    # Table 3: DUCK's k-NN accuracies 79.8, 39.0 and 82.5, or 82.7 in Table 13, which is taken
    assert list(beside.drop(columns="Verdict").loc["DUCK"]) == [
        "81.2",
        "67.2",
        "0.900",
        "0.960",
        "0.500",
        "0.850",
        "0.700",
        "0.900",
    ]
    assert table(paper="1", paper_set="Swin-T").loc["SCRUB", "AGL, paper"] == "0.200"


@pytest.fixture
def letters(home: Path) -> None:
    """Runs on letters with two of their three downstream sets measured; of Fine-tune one alone."""
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
            if method != "finetune":
                values |= {"knn_glyphs-hand": 0.615, "cka_retrain_glyphs-hand": 0.7031}
            store.put_result(
                make_result(spec, metrics=metrics(method, agl=0.9, agr=0.5, h_lr=0.7, **values))
            )


def test_downstream_sets_stand_by_themselves_and_the_papers_below(letters):
    """The layout of Table 3."""

    def tables(**query: str) -> list[Any]:
        found = [one.value for one in opened(view="agreement", **query).dataframe]
        return [
            one.set_index("Method")
            for one in found
            if any(str(name).startswith("CKA, ") for name in one.columns)
        ]

    (ours,) = tables()
    assert list(ours.columns) == [
        "k-NN, Glyphs, serif",
        "k-NN, Glyphs, hand",
        "CKA, Glyphs, serif",
        "CKA, Glyphs, hand",
    ]
    assert list(ours.loc["SCRUB"]) == ["80.0", "61.5", "0.870", "0.703"]
    assert list(ours.loc["Fine-tune"]) == ["80.0", "–", "0.880", "–"]
    both = tables(paper="1")
    assert list(both[1].columns)[:3] == ["k-NN, Office-Home", "k-NN, CUB", "k-NN, DomainNet"]
    assert list(both[1].loc["Fine-tune"]) == ["78.4", "39.0", "81.6", "0.876", "0.790", "0.799"]
    assert list(tables(paper="1", paper_set="top-CUB")[1].columns) == ["k-NN, CUB", "CKA, CUB"]
    assert len(tables(paper="1", paper_set="Swin-T")) == 1, "Table 7 has averages alone"


@pytest.fixture
def near(home: Path) -> None:
    """DUCK and Retrain on letters near two downstream sets, 12 and 24 classes: 0.9 on the one, 0.5
    on the other.
    """
    with open_store(home) as store:
        for of, value in (("glyphs-serif", 0.9), ("glyphs-hand", 0.5)):
            for method in ("retrain", "duck"):
                for number in (12, 24):
                    chosen = {"n": number, "downstream": of}
                    spec = make_spec_row(
                        dataset="glyphs",
                        model="resnet9-small",
                        scenario="top_classes",
                        method=method,
                        scenario_parameters=chosen,
                    )
                    store.put_result(
                        make_result(
                            spec,
                            metrics={"agl": value, "agr": value / 2, "cka_original_test": value},
                        )
                    )


def test_sensitivity_keeps_downstream_sets_apart(near):
    at = opened(view="sensitivity", of="duck", over="forget set.n")
    lines, counts = figures(at)
    scenario = catalog.scenario("top_classes").title
    assert {trace["name"]: trace["y"] for trace in counts["data"]} == {
        f"{scenario}, Glyphs, hand": [0.5, 0.5],
        f"{scenario}, Glyphs, serif": [0.9, 0.9],
    }
    box = next(one for one in at.selectbox if one.label == "Runs with")
    assert box.options == ["Glyphs, hand", "Glyphs, serif"]
    assert next(trace["y"] for trace in lines["data"] if trace["name"] == "AGL") == [0.5, 0.5]
    box.select_index(1).run()
    shown = {trace["name"]: trace["y"] for trace in figures(at)[0]["data"]}
    assert shown["AGL"] == shown["Original and Retrain: CKA"] == [0.9, 0.9]


def test_every_forget_set_in_one_figure(near):
    at = opened(view="agreement", sets="every")
    (figure,) = figures(at)
    assert [trace["y"] for trace in figure["data"]] == [
        [0.5, 0.5, 0.9, 0.9],
        [0.25, 0.25, 0.45, 0.45],
    ]
    places = [text.replace("<br>", " ") for text in figure["layout"]["xaxis2"]["ticktext"]]
    assert places == [f"{n} near Glyphs, {each}" for each in ("hand", "serif") for n in (12, 24)]
    assert "Provenance: 8 runs" in [one.label for one in at.expander]
    printed = figures(opened(view="agreement", sets="every", paper="1", paper_count="300"))[0]
    (note,) = [each["text"] for each in printed["layout"]["annotations"]]
    assert all(fact in note for fact in ("paper", " 300 classes", "ImageNet-1K", "computed"))
    assert [round(each, 2) for each in printed["data"][1]["y"]] == [0.96, 0.94, 0.8, 0.96]


def test_two_data_sets_in_one_figure(near, home):
    at = opened(view="agreement", sets="two")
    assert lines_with(at, "two data sets", "same methods") and not at.get("plotly_chart")
    with open_store(home) as store:
        put(store, "duck", agl=0.95)
        put(store, "salun", agl=0.4)
    at = opened(view="agreement", sets="two", scenario="class_wise", x="digits", y="glyphs")
    assert not at.exception
    (figure,) = figures(at)
    assert f"AGL on {titles.dataset('digits')}" in figure["layout"]["xaxis"]["title"]["text"]
    marks = [
        trace
        for trace in figure["data"]
        if trace["mode"] == "markers" and trace["name"] != "Retrain"
    ]
    assert [(trace["x"], trace["y"]) for trace in marks] == [([0.95], [0.5])]
    words = words_on(at)
    of = [
        (titles.dataset(name), titles.model(model))
        for name, model in (("digits", "mlp"), ("glyphs", "resnet9-small"))
    ]
    assert "#### 1 of 1" in words
    assert f"{': '.join(of[0])}, class 0. {': '.join(of[1])}, 12 near Glyphs, hand." in words
    assert lines_with(at, "1 method with AGL", "one of the two")


def test_similarity_on_a_downstream_set(letters):
    at = opened(split="glyphs-serif")
    scatter = figures(at)[0]
    title = scatter["layout"]["xaxis"]["title"]["text"]
    assert title.startswith("CKA to the original") and "Glyphs, serif" in title
    assert lines_with(at, "CKA 0.880", "Glyphs, serif")
    (samples,) = [box for box in at.selectbox if box.label == "Samples"]
    assert samples.options == [
        "Forget set",
        "Retain set",
        "Test set",
        "Glyphs, serif",
        "Glyphs, outline",
        "Glyphs, hand",
    ]
    samples.select("glyphs-outline").run()
    assert not at.exception and not at.get("plotly_chart")
    assert lines_with(at, "CKA on the", "Glyphs, outline", "mucore remeasure")


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


def test_a_map_is_drawn_on_request(keys, monkeypatch):
    started = state_of(data.AnalysisState("absent"), monkeypatch)
    at = opened(view="map", part="train", samples="25")
    button = next(each for each in at.button if each.label.startswith("Draw the map (about"))
    button.click().run()
    ((kind, parameters),) = started
    assert (
        kind == "tsne"
        and parameters["split"] == "train"
        and parameters["samples"] == 25
        and parameters["classes"] is None
    )
    assert parameters["keys"][:2] == [keys["original"], keys["retrain"]] and set(
        parameters["keys"]
    ) == set(keys.values())
    assert not at.exception


def test_a_failed_map_says_why_and_can_be_tried_again(keys, monkeypatch):
    started = state_of(
        data.AnalysisState("failed", error="The machine ran out of <memory>."), monkeypatch
    )
    at = opened(view="map")
    assert "ran out of" in at.error[0].value and "<memory>" not in at.error[0].value
    next(button for button in at.button if button.label == "Try again").click().run()
    assert len(started) == 1


def test_a_map_that_is_there(keys, monkeypatch):
    value: dict[str, Any] = {key: np.arange(8.0).reshape(4, 2) for key in keys.values()}
    value |= {
        "ids": np.arange(4),
        "labels": np.array([0, 1, 2, 3]),
        "forgotten": np.array([True, False, False, False]),
        "note": "4 of 4.",
    }
    state_of(data.AnalysisState("ready", value, 1.0), monkeypatch)
    at = opened(view="map")
    titles = [note["text"] for note in figures(at)[0]["layout"]["annotations"]]
    assert titles[:2] == ["Original", "Retrain"] and set(titles[2:]) == {
        "DUCK",
        "SCRUB",
        "Fine-tune",
        "SalUn",
    }
    assert lines_with(at, "1 sample to forget", "orange", "class 0")


@pytest.mark.parametrize("view", ["map", "neighbours"])
def test_what_reads_features_opens_on_a_forget_set_that_has_them(home, view):
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

    at, usual = opened(view=view), forget_set(opened(view="similarity"))
    assert not lines_with(at, *NOT_KEPT) and forget_set(at) != usual
    assert lines_with(opened(view=view, set=usual), *NOT_KEPT)


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
    at = opened(view="layers")
    words = words_on(at)
    assert "#### pool" in words and "CKA 0.550 to the original's" in words and "#### 0.900" in words
    assert [trace["type"] for trace in figures(at)[0]["data"]].count("heatmap") == 2


def test_neighbours_of_a_forgotten_query(keys, monkeypatch):
    monkeypatch.setattr(
        data, "images", lambda spec, ids, triggered=False: np.zeros((len(ids), 8, 8, 1), np.uint8)
    )
    at = opened(view="neighbours", part="train")
    (figure,) = figures(at)
    titles = [note["text"] for note in figure["layout"]["annotations"]]
    assert {"Query", "Original", "Retrain"} <= set(titles)
    assert len(figure["layout"]["images"]) == 16  # the query and five neighbours under three models
    assert lines_with(at, "100 of 100 training samples")
    query = at.selectbox(key="url:query")
    assert len(query.options) == 10 and all(option.endswith("class 0") for option in query.options)
    shown = query.options[3].split(",")[0].removeprefix("sample ")
    query.select_index(3).run()
    assert not at.exception and at.query_params["query"] in ([shown], shown)


def test_sensitivity_draws_noise(home, keys):
    with open_store(home) as store:
        put(store, "duck", noise=0.001, agl=0.4)
        put(store, "duck", noise=1.0, agl=0.1)
    at = opened(view="sensitivity")
    assert (
        at.selectbox(key="url:of").value == "duck"
        and at.selectbox(key="url:over").value == "method.gradient_noise"
    )
    figure = figures(at)[0]
    agl = next(trace for trace in figure["data"] if trace["name"] == "AGL")
    assert agl["y"] == [0.5, 0.4, 0.1] and figure["layout"]["xaxis"]["ticktext"] == [
        "0",
        "0.001",
        "1",
    ]
    assert lines_with(at, "Not measured", ": H-LR, AGR")


def test_sensitivity_draws_the_number_of_classes(home, keys):
    with open_store(home) as store:
        for number, cka in ((1, 0.95), (3, 0.8)):
            for method in ("retrain", "duck"):
                spec = make_spec_row(
                    scenario="random_classes", method=method, scenario_parameters={"n": number}
                )
                store.put_result(
                    make_result(
                        spec,
                        metrics={
                            "cka_original_test": cka if method == "retrain" else 0.9,
                            "agl": 0.5,
                        },
                    )
                )
    at = opened(view="sensitivity", scenario="random_classes")
    lines, counts = figures(at)
    reference = next(
        trace for trace in lines["data"] if trace["name"] == "Original and Retrain: CKA"
    )
    assert reference["y"] == [0.95, 0.8] and reference["line"]["dash"] == "dash"
    assert counts["data"][0]["x"] == [1.0, 3.0] and counts["data"][0]["y"] == [0.95, 0.8]


def test_last_layer_compares_a_method_with_itself(home, keys):
    with open_store(home) as store:
        put(store, "duck", scope="classifier", agl=0.2, cka_original_test=1.0)
        # something else than the classifier moved
        put(store, "salun", scope="classifier", agl=0.2, cka_original_test=0.9)
    at = opened(view="last")
    (figure,) = figures(at)
    marks = [trace for trace in figure["data"] if trace["mode"] == "markers"]
    assert [trace["x"] for trace in marks] == [[pytest.approx(NUMBERS["duck"][0])]]
    assert [trace["y"] for trace in marks] == [[pytest.approx(0.3)]]
    assert lines_with(at, "Not drawn", "AGL or CKA", ": SalUn.")


def test_the_cost_of_measuring_stands_in_parts_beside_retrains_time(home):
    with open_store(home) as store:
        for method, parts in (
            ("retrain", {"predicting": 1.0}),
            ("duck", {"predicting": 3.0, "representation": 0.5}),
            ("scrub", {}),
        ):
            spec = make_spec_row(scenario="class_wise", method=method)
            cost = {"seconds": 50.0, "measuring_seconds": parts} if parts else {"seconds": 5.0}
            store.put_result(make_result(spec, metrics=metrics(method), cost=cost))
    at = opened(view="cost")
    words = words_on(at)
    (said,) = lines_with(at, "2.5 s for one model")
    assert facts.numbers(said)[:3] == ["2.5", "2", "5"] and "5 % of a Retrain" in said
    assert "Logit metrics" not in words, "no run had both kinds"
    (bars,) = figures(at)
    assert dict(zip(bars["data"][0]["y"], bars["data"][0]["x"], strict=True)) == {
        "Predicting": 2.0,
        "Representation": 0.5,
    }


def test_the_map_that_the_demo_opens_on_is_drawn(demo_home):
    at = opened(view="map")
    assert len(figures(at)) == 1
    assert not [each.label for each in at.button if each.label.startswith("Draw")]
