"""Compare: the page on stores of every size, and what it shows against hand-computed numbers."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from builders import full_results, full_store, make_result, make_spec_row
from streamlit.testing.v1 import AppTest

from dashboard import compare_frames, data
from dashboard.charts import class_gaps, confusion, instance
from mucore.errors import BadFile
from mucore.outputs import Outputs, SplitOutputs
from mucore.outputs import confusion as count
from mucore.store import open_store

ROOT = Path(__file__).resolve().parents[2]
VIEWS = ["classes", "predictions", "confusion", "images"]
CLASSES = 10  # of digits


def split_of(
    predicted: Sequence[int], labels: Sequence[int], ids: Sequence[int], sure: float = 4.0, classes: int = CLASSES
) -> SplitOutputs:
    """A split in which each sample is predicted as asked, `sure` logits above the other classes."""
    logits = np.zeros((len(labels), classes), np.float32)
    logits[np.arange(len(labels)), list(predicted)] = sure
    true = np.asarray(labels, np.int64)
    return SplitOutputs(
        logits=logits, labels=true, ids=np.asarray(ids, np.int64), confusion=count(true, np.asarray(predicted, np.int64), classes)
    )


# --- names and choice of runs


def line(key: str, method: str, **changes) -> dict:
    usual = {
        "key": key,
        "method": method,
        "method_preset": "authors",
        "parameters": "{}",
        "dataset": "digits",
        "model": "mlp",
        "recipe": "{}",
        "scenario": "one_class",
        "scenario_parameters": '{"budget": 0.2}',
        "training_seed": 0,
        "unlearning_seed": 0,
        "evaluation_seed": 0,
        "status": "ok",
        "device": "cpu",
    }
    return usual | changes


def test_labels_say_as_much_as_tells_runs_apart():
    runs = pd.DataFrame(
        [
            line("k1", "salun"),
            line("k2", "salun", training_seed=1),
            line("k3", "salun", training_seed=1, unlearning_seed=2),
            line("k4", "ssd"),
            line("k5", "ssd", scenario="class_wise", scenario_parameters="{}"),
        ]
    )
    short = compare_frames.labels(runs, full=False)
    assert short["k1"] == "SalUn, seed 0" and short["k2"] == "SalUn, seed 1, unlearning 0" and short["k3"] == "SalUn, seed 1, unlearning 2"
    assert short["k4"] == "SSD, Part of one class" and short["k5"] == "SSD, Whole classes"
    full = compare_frames.labels(runs, full=True)
    assert full["k1"] == "SalUn, Part of one class, seed 0"
    assert len(set(full.values())) == len(set(short.values())) == 5
    twins = pd.DataFrame([line("aaaaaaaa", "ssd"), line("bbbbbbbb", "ssd")])
    assert compare_frames.labels(twins, full=False) == {"aaaaaaaa": "SSD, aaaaaa", "bbbbbbbb": "SSD, bbbbbb"}


def test_the_usual_runs_are_the_references_and_the_three_nearest():
    methods = {"salun": 0.3, "ssd": 0.1, "scrub": 0.2, "finetune": 0.05, "fisher": 0.01}
    lines = [line("o", "original"), line("r", "retrain"), line("r1", "retrain", training_seed=1), line("s1", "ssd", training_seed=1)]
    lines += [line(method, method, status="diverged" if method == "fisher" else "ok") for method in methods]
    lines += [line("again", "ssd", unlearning_seed=1)]
    values = [(method, "ta", 0.9, gap, None) for method, gap in methods.items()] + [
        ("s1", "ta", 0.9, 0.0, None),
        ("again", "ta", 0.9, 0, None),
    ]
    frame = pd.DataFrame(values, columns=["key", "metric", "value", "gap", "error"])
    assert compare_frames.usual_keys(pd.DataFrame(lines), frame) == ["o", "r", "finetune", "ssd", "scrub"]
    measured = pd.concat([frame, pd.DataFrame([("salun", "average_gap", 0.0, None, None)], columns=frame.columns)])
    assert (
        compare_frames.usual_keys(pd.DataFrame(lines), measured)[2] == "salun"
    )  # the average over all metrics counts before three of them
    assert compare_frames.usual_keys(pd.DataFrame([line("only", "ssd")]), frame.iloc[:0]) == ["only"]


def test_each_run_has_the_retrain_of_its_own_setting_and_seed():
    runs = pd.DataFrame(
        [
            line("r0", "retrain"),
            line("r1", "retrain", training_seed=1),
            line("w", "retrain", scenario="class_wise", scenario_parameters="{}"),
            line("a", "ssd", training_seed=1),
            line("b", "ssd", scenario="class_wise", scenario_parameters="{}"),
            line("c", "ssd", scenario_parameters='{"budget": 0.4}'),
        ]
    )
    assert [compare_frames.retrain_of(runs, key) for key in ("a", "b", "c", "r0")] == ["r1", "w", None, "r0"]


# --- predictions


def test_predictions_are_compared_on_the_samples_that_all_runs_kept():
    one = Outputs({"test": split_of([0, 1, 2, 3], [0, 1, 2, 3], [10, 11, 12, 13])})
    other = Outputs({"test": split_of([3, 9, 1, 8], [3, 4, 1, 2], [13, 14, 11, 12])})
    found = compare_frames.common([one, other], "test")
    assert found is not None
    assert found.ids.tolist() == [11, 12, 13] and found.labels.tolist() == [1, 2, 3]
    assert [each.tolist() for each in found.predictions] == [[1, 2, 3], [1, 8, 3]]
    assert compare_frames.shared_predictions(found).tolist() == [[1.0, pytest.approx(2 / 3)], [pytest.approx(2 / 3), 1.0]]
    assert compare_frames.accuracies(found) == [1.0, pytest.approx(2 / 3)]
    assert compare_frames.common([one, other], "retain") is None
    assert compare_frames.common([one, Outputs({"test": split_of([0], [0], [99])})], "test") is None


def test_the_most_disputed_samples_come_first():
    """Pairs that differ, of three: sample 5 none, 6 two of three, 7 all three, 8 two of three with less spread in the true label."""
    ids, labels = [5, 6, 7, 8], [0, 1, 2, 3]
    predictions = [[0, 1, 2, 4], [0, 1, 3, 4], [0, 9, 4, 5]]
    found = compare_frames.common([Outputs({"test": split_of(each, labels, ids)}) for each in predictions], "test")
    assert found is not None
    order = compare_frames.most_disputed(found, 10)
    assert [int(found.ids[place]) for place in order] == [7, 6, 8]
    assert len(compare_frames.most_disputed(found, 1)) == 1
    frame = compare_frames.disputed_frame(found, order[:1], ["A", "B", "C"], [])
    sure = round(100 * np.exp(4) / (np.exp(4) + CLASSES - 1))
    assert frame.to_dict("records") == [
        {"Sample": 7, "True label": "2"} | {n: f"{c}, {sure}\u202f%" for n, c in zip("ABC", (2, 3, 4), strict=True)}
    ]


def test_attributes_are_compared_answer_by_answer():
    def attributes(logits: list[list[float]]) -> Outputs:
        labels = np.array([[1, 0], [0, 1]])
        part = SplitOutputs(logits=np.array(logits, np.float32), labels=labels, ids=np.arange(2), confusion=np.zeros((2, 2, 2), int) + 1)
        return Outputs({"test": part})

    found = compare_frames.common([attributes([[3, -3], [-3, 3]]), attributes([[3, 3], [-3, 3]])], "test")
    assert found is not None
    assert compare_frames.shared_predictions(found)[0, 1] == 0.75
    assert found.ids[compare_frames.most_disputed(found, 9)].tolist() == [0]
    frame = compare_frames.disputed_frame(found, np.array([0]), ["A", "B"], ["male", "young"])
    assert frame.iloc[0].tolist() == [0, "male", "male", "male, young"]
    single = compare_frames.instance([attributes([[3, -3], [-3, 3]])], 1)
    assert single is not None and single.label.tolist() == [0, 1]
    info = instance.instance_info(["A"], single.probabilities, single.label, ["male", "young"])
    assert info.true == (1,) and info.panels[0][1][1] == pytest.approx(95.3, abs=0.1)


def test_an_instance_is_found_in_whatever_split_it_stands():
    one = Outputs({"forget": split_of([1], [1], [7]), "retain": split_of([2], [2], [8])})
    other = Outputs({"retain": split_of([0, 2], [1, 2], [7, 8]), "triggered": split_of([0], [1], [9])})
    found = compare_frames.instance([one, other], 7)
    assert found is not None
    assert found.splits == ("forget", "retain") and int(found.label) == 1 and found.places == (0, 1)
    assert [int(each.argmax()) for each in found.probabilities] == [1, 0]
    assert compare_frames.instance([one, other], 9) is None


# --- figures


def test_class_gaps_of_another_split():
    counts = {"retrain": [[8, 2], [0, 10]], "salun": [[4, 6], [0, 10]]}
    results = {name: make_result(method=name, confusion={"forget": c, "test": c[::-1]}) for name, c in counts.items()}
    info = class_gaps.class_gaps_info([("SalUn", [results["salun"]])], [results["retrain"]], ["a", "b"], split="forget")
    assert info.rows == (("SalUn", (pytest.approx(-40.0), pytest.approx(0.0))),) and info.split == "forget"
    assert "forget accuracy" in class_gaps.draw(info, dark=False).layout.xaxis.title.text
    assert "forget accuracy" in class_gaps.alt_text(info)


def test_confusion_is_percent_of_the_true_class():
    counts = [[8, 2, 0], [5, 5, 0], [0, 0, 0]]
    info = confusion.confusion_info([("Run", counts)], ["a", "b", "c"])
    assert info.panels[0].cells == ((80.0, 20.0, 0.0), (50.0, 50.0, 0.0))
    assert info.names == ("a", "b", "c") and info.true == ("a", "b")  # no sample of c
    assert info.worst == (("Run", "b", "a", 50.0),) and info.limit == 100 and not info.difference
    figure = confusion.draw(info, dark=False)
    assert figure.data[0].text[0] == ["80", "20", ""] and figure.layout.coloraxis.cmin == 0
    assert "true b, predicted a, 50" in confusion.alt_text(info)


def test_confusion_less_retrains():
    info = confusion.confusion_info([("Run", [[8, 2], [5, 5]])], [], [[[10, 0], [0, 10]]])
    assert info.panels[0].cells == ((-20.0, 20.0), (50.0, -50.0)) and info.limit == 50 and info.names == ("0", "1")
    figure = confusion.draw(info, dark=True)
    assert figure.data[0].text[1] == ["+50", "−50"] and figure.layout.coloraxis.cmin == -50
    equal = confusion.confusion_info([("Run", [[1, 0], [0, 1]])], [], [[[1, 0], [0, 1]]])
    assert equal.worst == () and equal.limit == confusion.SMALLEST_LIMIT


def test_an_instance_shows_the_true_class_and_the_likely_ones():
    first, second = np.full(20, 0.01), np.full(20, 0.01)
    first[3], second[15] = 0.81, 0.81
    info = instance.instance_info(["A", "B"], [first, second], np.asarray(19), [f"c{place}" for place in range(20)])
    assert len(info.names) == instance.MOST and info.left_out == 10
    assert {"c3", "c15", "c19"} <= set(info.names) and [info.names[place] for place in info.true] == ["c19"]
    assert dict(zip(info.names, info.panels[0][1], strict=True))["c3"] == pytest.approx(81.0)
    figure = instance.draw(info, dark=False)
    assert len(figure.data) == 2 and len(set(figure.data[0].marker.color)) == 2
    assert instance.alt_text(info) == "Probabilities of one sample whose true label is c19. A says c3 with 81 %; B says c15 with 81 %."


# --- the page


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(data, "DEMO", tmp_path / "no-demo")
    monkeypatch.setattr(data, "images", lambda spec, ids, **more: np.zeros((len(ids), 8, 8, 1), np.uint8))
    yield tmp_path / "home"
    st.cache_data.clear()
    st.cache_resource.clear()


LABELS = [number % CLASSES for number in range(20)]


def fill(home: Path, amount: str) -> None:
    """`full` keeps neither counts nor predictions, `kept` both: SalUn takes the 3 of sample 103 for a 5, Fine-tune for a 4."""
    store = open_store(home)
    if amount == "one":
        store.put_result(make_result())
    if amount == "kept":
        for result in full_results(scenarios=("one_class",), seeds=(0,)):
            wrong = {"salun": 5, "finetune": 4}.get(result.spec["method"], 3)
            predicted = [wrong if number == 3 else label for number, label in enumerate(LABELS)]
            ids = [100 + number for number in range(len(LABELS))]
            outputs = Outputs({"test": split_of(predicted, LABELS, ids), "forget": split_of([0, 0], [0, 0], [7, 8])})
            counts = {name: part.confusion.tolist() for name, part in outputs.items()}
            store.put_result(replace(result, outputs=store.artifacts.put_outputs(outputs), confusion=counts))
    store.close()
    if amount == "full":
        full_store(home).close()


def opened(**query: str | list[str]) -> AppTest:
    at = AppTest.from_file(str(ROOT / "dashboard" / "app.py"), default_timeout=60).run()
    at.query_params.update(query)
    return at.switch_page("views/compare.py").run()


def words_on(at: AppTest) -> str:
    parts = [*at.title, *at.subheader, *at.markdown, *at.caption, *at.error, *at.warning, *at.code]
    return "\n".join(str(one.value) for one in parts)


def figure(at: AppTest, number: int = 0) -> dict:
    return json.loads(at.get("plotly_chart")[number].proto.spec)


def key_of(method: str, scenario: str = "one_class") -> str:
    return make_spec_row(method=method, scenario=scenario).key


@pytest.mark.parametrize("amount", ["empty", "one", "full", "kept"])
@pytest.mark.parametrize("view", VIEWS)
def test_page_opens(home, view, amount):
    fill(home, amount)
    at = opened(view=view)
    assert not at.exception and not at.error
    assert at.title[0].value.endswith("?")
    if amount == "kept":
        assert at.get("plotly_chart") or view == "images"
    else:
        assert not at.get("plotly_chart")
        assert any(link.proto.label == "Launch a comparison" for link in at.get("page_link"))


def test_the_usual_runs_are_chosen_and_the_address_stays_silent(home):
    fill(home, "kept")
    at = opened()
    chosen = at.multiselect[0]
    assert set(chosen.value) == {key_of(name) for name in ("original", "retrain", "finetune", "gradient_ascent", "salun")}
    assert chosen.value[:2] == [key_of("original"), key_of("retrain")]
    assert "key" not in at.query_params
    assert list(at.dataframe[-2].value["Run"])[:2] == ["Original", "Retrain"]


def test_class_gaps_show_where_a_method_pays(home):
    fill(home, "kept")
    at = opened(view="classes", key=[key_of("salun"), key_of("original")])
    assert "−50.0 points" in words_on(at) and "SalUn, class 3" in words_on(at)  # one of two threes
    heat = figure(at)["data"][0]
    assert len(heat["x"]) == CLASSES and heat["y"] == ["SalUn", "Original"]
    forget = opened(view="classes", split="forget")
    assert figure(forget)["data"][0]["x"] == ["0"]  # the only class that was forgotten


def test_predictions_that_differ(home):
    fill(home, "kept")
    at = opened(view="predictions", key=[key_of("retrain"), key_of("salun"), key_of("gradient_ascent")])
    assert "Agree least" in words_on(at) and "95.0 %" in words_on(at)
    assert "the same prediction on 100.0 % of 20 samples" in words_on(at)


def test_confusion_less_retrain_leaves_retrain_out(home):
    fill(home, "kept")
    keys = [key_of("retrain"), key_of("salun")]
    plain = opened(view="confusion", key=keys)
    assert len(figure(plain)["data"]) == 2 and "3 taken for 5" in words_on(plain)
    less = opened(view="confusion", key=keys, difference="1")
    assert len(figure(less)["data"]) == 1 and "+50.0 points against Retrain" in words_on(less)


def test_disputed_images_lead_to_their_card(home):
    fill(home, "kept")
    at = opened(view="images")
    words = words_on(at)
    assert "1 of 20" in words and "**3** is true" in words and ":orange[**5, " in words and ":orange[**4, " in words
    assert len(at.get("image")) == 1
    next(button for button in at.button if button.label == "Sample 103").click().run()
    assert at.query_params["sample"] == "103"
    assert "True label: **3**" in words_on(at)
    bars = figure(at)["data"]
    assert [bar["name"] for bar in bars][:2] == ["Original", "Retrain"] and len(bars) == 5
    next(button for button in at.button if button.label == "Close").click().run()
    assert "sample" not in at.query_params and "True label" not in words_on(at)


def test_a_sample_that_nobody_kept_and_images_that_are_not_there(home, monkeypatch):
    fill(home, "kept")
    for sample in ("999", "x", "9" * 30):
        at = opened(sample=sample)
        assert "None of these runs kept a prediction for this sample" in words_on(at) and not at.exception

    def gone(*_, **__):
        raise BadFile("The data set is not here.")

    monkeypatch.setattr(data, "images", gone)
    at = opened(view="images", sample="103")
    assert "The data set is not here." in words_on(at) and not at.exception and at.get("plotly_chart")


def test_runs_without_predictions_are_named(home):
    fill(home, "kept")
    store = open_store(home)
    store.put_result(replace(make_result(method="ssd", metrics={"ta": 0.9}), outputs=None))
    store.close()
    at = opened(view="predictions", key=[key_of("retrain"), key_of("salun"), key_of("ssd")])
    assert "their predictions were not kept" in words_on(at) and "SSD" in words_on(at)
    assert figure(at)["data"][0]["text"][0] == ["100", "95"]


def test_runs_of_another_scenario_can_be_added(home):
    fill(home, "full")
    other = key_of("salun", "class_wise")
    at = opened(key=[key_of("salun"), other], scenario="one_class")
    assert at.multiselect[0].value == [key_of("salun"), other]
    assert "SalUn, Whole classes, seed 0" in at.multiselect[0].options


def test_a_foreign_address_falls_back(home):
    fill(home, "kept")
    for view in ("nowhere", *VIEWS):
        at = opened(view=view, key=["gone", "x"], split="q", left="q", right="q", difference="q", run="gone", scenario="q", set="q")
        assert not at.exception and not at.error


def test_a_run_in_the_address_opens_its_drawer(home):
    fill(home, "kept")
    at = opened(run=key_of("salun"))
    assert any("SalUn, training seed 0" in one.value for one in at.subheader)


@pytest.mark.parametrize("view", VIEWS)
def test_the_demo_opens_every_view(tmp_path, monkeypatch, view):
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path / "home"))
    at = opened(view=view)
    assert not at.exception and not at.error
    assert at.multiselect[0].value
    st.cache_data.clear()
    st.cache_resource.clear()
