"""Compare: the page on stores of every size, and what it shows against hand-computed numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from builders import full_results, make_result, make_spec_row
from pages import figures, open_page, words_on
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Multiselect

from dashboard import data
from dashboard.frames import compare as compare_frames
from mucore import datasets
from mucore.outputs import Outputs, SplitOutputs
from mucore.outputs import confusion as count
from mucore.store import open_store

opened = partial(open_page, "compare")
CLASSES = 10  # of digits


def split_of(
    predicted: Sequence[int],
    labels: Sequence[int],
    ids: Sequence[int],
    sure: float = 4.0,
    classes: int = CLASSES,
) -> SplitOutputs:
    """A split in which each sample is predicted as asked, `sure` logits above the other classes."""
    logits = np.zeros((len(labels), classes), np.float32)
    logits[np.arange(len(labels)), list(predicted)] = sure
    true = np.asarray(labels, np.int64)
    return SplitOutputs(
        logits=logits,
        labels=true,
        ids=np.asarray(ids, np.int64),
        confusion=count(true, np.asarray(predicted, np.int64), classes),
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
        "hashes": "",
        "scenario": "one_class",
        "scenario_parameters": '{"budget": 0.2}',
        "training_seed": 0,
        "unlearning_seed": 0,
        "evaluation_seed": 0,
        "status": "ok",
        "device": "cpu",
    }
    return usual | changes


def test_the_usual_runs_are_the_references_and_the_first_five():
    near = ["s1", "fisher", "finetune", "ssd", "again", "scrub", "salun"]
    lines = [
        line("o", "original"),
        line("r", "retrain"),
        line("r1", "retrain", training_seed=1),
        line("s1", "ssd", training_seed=1),
    ]
    lines += [
        line(method, method, status="diverged" if method == "fisher" else "ok")
        for method in ("salun", "ssd", "scrub", "finetune", "fisher")
    ]
    lines += [line("again", "ssd", unlearning_seed=1), line("unknown", "duck")]
    found = compare_frames.usual_keys(pd.DataFrame(lines), near)
    assert found == ["o", "r", "finetune", "ssd", "scrub", "salun", "unknown"]
    few = [each for each in lines if each["method"] in ("ssd", "duck")]
    # one of the list comes before others
    assert compare_frames.usual_keys(pd.DataFrame(few), near) == ["ssd", "unknown"]
    assert compare_frames.usual_keys(pd.DataFrame([line("only", "ssd")]), []) == ["only"]


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
    assert [compare_frames.retrain_of(runs, key) for key in ("a", "b", "c", "r0")] == [
        "r1",
        "w",
        None,
        "r0",
    ]


# --- predictions


def test_predictions_are_compared_on_the_samples_that_all_runs_kept():
    one = Outputs({"test": split_of([0, 1, 2, 3], [0, 1, 2, 3], [10, 11, 12, 13])})
    other = Outputs({"test": split_of([3, 9, 1, 8], [3, 4, 1, 2], [13, 14, 11, 12])})
    found = compare_frames.common([one, other], "test")
    assert found is not None
    assert found.ids.tolist() == [11, 12, 13] and found.labels.tolist() == [1, 2, 3]
    assert [each.tolist() for each in found.predictions] == [[1, 2, 3], [1, 8, 3]]
    assert compare_frames.shared_predictions(found).tolist() == [
        [1.0, pytest.approx(2 / 3)],
        [pytest.approx(2 / 3), 1.0],
    ]
    assert compare_frames.common([one, other], "retain") is None
    assert compare_frames.common([one, Outputs({"test": split_of([0], [0], [99])})], "test") is None


def test_the_most_disputed_samples_come_first():
    """Pairs that differ, of three: sample 5 none, 6 two of three, 7 all three, 8 two of three with
    less spread in the true label.
    """
    ids, labels = [5, 6, 7, 8], [0, 1, 2, 3]
    predictions = [[0, 1, 2, 4], [0, 1, 3, 4], [0, 9, 4, 5]]
    found = compare_frames.common(
        [Outputs({"test": split_of(each, labels, ids)}) for each in predictions], "test"
    )
    assert found is not None
    order = compare_frames.most_disputed(found, 10)
    assert [int(found.ids[place]) for place in order] == [7, 6, 8]
    assert len(compare_frames.most_disputed(found, 1)) == 1
    frame = compare_frames.disputed_frame(found, order[:1], ["A", "B", "C"], [], found.ids)
    sure = round(100 * np.exp(4) / (np.exp(4) + CLASSES - 1))
    assert frame.to_dict("records") == [
        {"Sample": 7, "True label": "2"}
        | {n: f"{c}, {sure}\u202f%" for n, c in zip("ABC", (2, 3, 4), strict=True)}
    ]


def test_attributes_are_compared_answer_by_answer():
    def attributes(logits: list[list[float]]) -> Outputs:
        labels = np.array([[1, 0], [0, 1]])
        part = SplitOutputs(
            logits=np.array(logits, np.float32),
            labels=labels,
            ids=np.arange(2),
            confusion=np.zeros((2, 2, 2), int) + 1,
        )
        return Outputs({"test": part})

    found = compare_frames.common(
        [attributes([[3, -3], [-3, 3]]), attributes([[3, 3], [-3, 3]])], "test"
    )
    assert found is not None
    assert compare_frames.shared_predictions(found)[0, 1] == 0.75
    assert found.ids[compare_frames.most_disputed(found, 9)].tolist() == [0]
    frame = compare_frames.disputed_frame(
        found, np.array([0]), ["A", "B"], ["male", "young"], found.ids
    )
    assert frame.iloc[0].tolist() == [0, "male", "male", "male, young"]
    single = compare_frames.instance([attributes([[3, -3], [-3, 3]])], 1)
    assert single is not None and single.label.tolist() == [0, 1]
    assert compare_frames.true_classes(single.label, ["male", "young"]) == ["young"]


def test_an_instance_is_found_in_whatever_split_it_stands():
    one = Outputs({"forget": split_of([1], [1], [7]), "retain": split_of([2], [2], [8])})
    other = Outputs(
        {"retain": split_of([0, 2], [1, 2], [7, 8]), "triggered": split_of([0], [1], [9])}
    )
    found = compare_frames.instance([one, other], 7)
    assert found is not None
    assert found.splits == ("forget", "retain") and int(found.label) == 1 and found.places == (0, 1)
    assert [int(each.argmax()) for each in found.probabilities] == [1, 0]
    assert compare_frames.instance([one, other], 9) is None


# --- the page


@pytest.fixture
def home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(
        data, "images", lambda spec, ids, **more: np.zeros((len(ids), 8, 8, 1), np.uint8)
    )
    return home


LABELS = [number % CLASSES for number in range(20)]


def keep(home: Path) -> None:
    """Runs with counts and predictions: SalUn takes the 3 of sample 103 for a 5, Fine-tune for a
    4.
    """
    with open_store(home) as store:
        for result in full_results(scenarios=("one_class",), seeds=(0,)):
            wrong = {"salun": 5, "finetune": 4}.get(result.spec["method"], 3)
            predicted = [wrong if number == 3 else label for number, label in enumerate(LABELS)]
            ids = [100 + number for number in range(len(LABELS))]
            outputs = Outputs(
                {
                    "test": split_of(predicted, LABELS, ids),
                    "forget": split_of([0, 0], [0, 0], [7, 8]),
                }
            )
            counts = {name: part.confusion.tolist() for name, part in outputs.items()}
            store.put_result(
                replace(result, outputs=store.artifacts.put_outputs(outputs), confusion=counts)
            )


def runs_of(at: AppTest) -> Multiselect:
    """The choice of runs, which stands below the filters."""
    return next(each for each in at.multiselect if each.label.startswith("Runs"))


def key_of(method: str, scenario: str = "one_class") -> str:
    return make_spec_row(method=method, scenario=scenario).key


def test_the_usual_runs_are_chosen_and_the_address_stays_silent(home):
    keep(home)
    at = opened()
    chosen = runs_of(at)
    assert set(chosen.value) == {
        key_of(name) for name in ("original", "retrain", "finetune", "gradient_ascent", "salun")
    }
    assert chosen.value[:2] == [key_of("original"), key_of("retrain")]
    assert "key" not in at.query_params
    assert list(at.dataframe[-2].value["Run"])[:2] == ["Original", "Retrain"]


def test_class_gaps_show_where_a_method_pays(home):
    keep(home)
    at = opened(view="classes", key=[key_of("salun"), key_of("original")])
    heat = figures(at)[0]["data"][0]
    assert heat["text"][0][3] == "−50.0"  # one of two threes
    assert len(heat["x"]) == CLASSES and heat["y"] == ["SalUn", "Original"]
    forget = opened(view="classes", split="forget")
    assert figures(forget)[0]["data"][0]["x"] == ["0"]  # the only class that was forgotten


@pytest.mark.slow
def test_disputed_images_lead_to_their_card(home):
    keep(home)
    at = opened(view="images")
    words = words_on(at)
    assert "True: **3**" in words and ":orange[**5, " in words and ":orange[**4, " in words
    assert len(at.get("image")) == 1
    row = int(datasets.load("digits").train.rows[103])
    assert row != 103
    next(button for button in at.button if button.label == f"Sample {row}").click().run()
    assert at.query_params["sample"] == str(row)
    assert "True label: **3**" in words_on(at)
    bars = figures(at)[0]["data"]
    assert [bar["name"] for bar in bars][:2] == ["Original", "Retrain"] and len(bars) == 5
    next(button for button in at.button if button.label == "Close").click().run()
    assert "sample" not in at.query_params and "True label" not in words_on(at)


def test_samples_are_numbered_by_their_rows_and_found_by_them(home, tmp_path, monkeypatch):
    spec = make_result(method="original").spec
    rows = datasets.load("digits").train.rows
    assert data.numbered(spec, [3, 1199]).tolist() == rows[[3, 1199]].tolist() != [3, 1199]
    assert data.internal(spec, rows[[3, 1199]]).tolist() == [3, 1199]
    assert data.internal(spec, [10**6, -4]).tolist() == [-1, -1]
    assert data.numbered(spec, [10**6]).tolist() == [10**6], "of other data than these"
    monkeypatch.setenv("MUCORE_DATA", str(tmp_path / "none"))
    away = {**spec, "dataset": "cifar10"}
    assert data.sample_numbers(away) is None and data.numbered(away, [3]).tolist() == [3]
