"""Depoisoning: the numbers by hand, the page as a reader meets it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import facts
import numpy as np
import pytest
from builders import make_result, make_spec_row
from numpy.typing import ArrayLike
from pages import figures, judged, lines_with, open_page, words_on

from dashboard import frames
from dashboard.frames import depoisoning as depoisoning_frames
from mucore.outputs import Outputs, SplitOutputs, confusion
from mucore.scenarios import poison
from mucore.store import Store, open_store

opened = partial(open_page, "depoisoning")
# metric -> method -> value; the attack's success is FA of flipped labels, ASR of a backdoor
FLIP: Mapping[str, Mapping[str, float]] = {
    "ta": {"original": 0.84, "retrain": 0.96, "scrub": 0.95, "ssd": 0.40, "finetune": 0.90},
    "fa": {"original": 0.80, "retrain": 0.02, "scrub": 0.04, "ssd": 0.02, "finetune": 0.50},
    "fa_true": {"original": 0.18, "retrain": 0.97, "scrub": 0.95, "ssd": 0.35, "finetune": 0.45},
}


def put(
    home: Path,
    scenario: str,
    values: Mapping[str, Mapping[str, float]],
    *,
    count: int = 120,
    budget: float = 0.1,
    outputs: Mapping[str, Outputs] | None = None,
) -> None:
    """One run of training seed 0 for each method of `values`, with gaps to Retrain and, where
    `outputs` has them, predictions.
    """
    with open_store(home) as store:
        for method in values["ta"]:
            metrics = {name: column[method] for name, column in values.items()}
            gaps = (
                {name: column[method] - column["retrain"] for name, column in values.items()}
                if method != "retrain"
                else {}
            )
            spec = make_spec_row(
                scenario=scenario, method=method, scenario_parameters={"budget": budget}
            )
            result = make_result(spec, metrics=metrics, gaps=gaps, forget_count=count)
            if outputs is not None and method in outputs:
                result = keep(store, result, outputs[method])
            store.put_result(result)


def keep(store: Store, result: Any, outputs: Outputs) -> Any:
    return replace(result, outputs=store.artifacts.put_outputs(outputs))


def predictions(
    ids: ArrayLike, labels: ArrayLike, predicted: ArrayLike, classes: int = 10
) -> SplitOutputs:
    answers = np.asarray(predicted)
    logits = np.eye(classes, dtype=np.float32)[answers] * 5
    true = np.asarray(labels, np.int64)
    return SplitOutputs(
        logits=logits,
        labels=true,
        ids=np.asarray(ids, np.int64),
        confusion=confusion(true, answers, classes),
    )


def found(home: Path, scenario: str, count: int = 120) -> list[frames.Row]:
    with open_store(home) as store:
        summaries, values = (
            store.summaries(scenario=scenario),
            store.metric_values(scenario=scenario),
        )
        runs = summaries[summaries["forget_count"] == count]
        metrics = depoisoning_frames.METRICS[scenario]
        rows = frames.metric_rows(runs, values, metrics, judged=judged(store))
        return frames.nearest_first(rows)


# --- numbers
# --------------------------------------------------------------------------------------------------


def test_the_headline_counts_the_healed(home):
    """SCRUB is 1 point below Retrain's accuracy, within 3 % of it; Fine-tune 6, SSD 56 points."""
    put(home, "label_flip", FLIP)
    rows = found(home, "label_flip")
    assert {row.method: row.verdict.word for row in rows if row.verdict} == {
        "original": "did nothing",
        "scrub": "forgot",
        "ssd": "damaged",
        "finetune": "damaged",
    }
    assert facts.numbers(depoisoning_frames.headline(rows)) == ["3"]  # by indication alone: none
    rows = [replace(r, verdict=r.verdict and replace(r.verdict, shown=True)) for r in rows]
    assert facts.numbers(depoisoning_frames.headline(rows)) == ["1", "3"]
    failed = [replace(r, unsound={"diverged": 1}) if r.method == "scrub" else r for r in rows]
    assert facts.numbers(depoisoning_frames.headline(failed)) == ["3"]
    assert depoisoning_frames.headline([row for row in rows if row.reference]) == ""


def test_methods_stand_by_their_distance_to_retrain(home):
    put(home, "label_flip", FLIP)
    rows = found(home, "label_flip")
    assert [row.method for row in rows] == ["original", "retrain", "scrub", "finetune", "ssd"]
    table = depoisoning_frames.numbers(rows, "label_flip").set_index("Method")
    # Fine-tune (6 + 48 + 52) / 3, SSD (56 + 0 + 62) / 3 points
    assert table.loc[["Fine-tune", "SSD"], "Distance (points)"].tolist() == pytest.approx(
        [35.3333, 39.3333], abs=1e-3
    )
    assert table["Verdict"].tolist()[:3] == ["did nothing", "", "forgot?"]
    assert table.loc["SSD", ["TA (%)", "FA (%)"]].tolist() == pytest.approx([40.0, 2.0])


def test_a_weak_attack_is_told(home):
    put(home, "label_flip", FLIP)
    assert not depoisoning_frames.too_weak(found(home, "label_flip"), "label_flip")
    weak = {**FLIP, "fa": {**FLIP["fa"], "original": 0.11}}  # nine points over Retrain
    put(home, "label_flip", weak, count=60, budget=0.05)
    assert depoisoning_frames.too_weak(found(home, "label_flip", 60), "label_flip")


def test_examples_of_flipped_labels_by_hand():
    """Pairs swap c and 9 - c. Sample 4 is not kept by the method; ids come in another order
    there.
    """
    rules = {"scenario": "label_flip", "pairs": None, "budget": 0.1, "seed": 0}
    taught = [7, 0, 5, 3, 1]
    outputs = {
        "Original": predictions([1, 2, 3, 5, 4], taught, [7, 0, 4, 3, 1]),
        "Retrain": predictions([1, 2, 3, 5, 4], taught, [2, 9, 4, 6, 8]),
        "SCRUB": predictions([5, 3, 2, 1], [3, 5, 0, 7], [3, 4, 9, 2]),
    }
    chosen = depoisoning_frames.examples(outputs, rules)
    assert chosen.index.tolist() == [1, 2, 3, 5]
    assert chosen.to_dict("list") == {
        "true": [2, 9, 4, 6],
        "taught": [7, 0, 5, 3],
        "Original": [7, 0, 4, 3],
        "Retrain": [2, 9, 4, 6],
        "SCRUB": [2, 9, 4, 3],
    }


def test_examples_of_a_backdoor_leave_the_target_class_out():
    rules = {"scenario": "backdoor", "target": 3}
    outputs = {
        name: predictions(range(6), [3, 1, 2, 3, 4, 5], [3, 3, 3, 3, 3, 5])
        for name in ("Original", "Retrain", "SSD")
    }
    chosen = depoisoning_frames.examples(outputs, rules)
    assert chosen.index.tolist() == [1, 2, 4, 5] and chosen["taught"].tolist() == [3, 3, 3, 3]


# --- page
# --------------------------------------------------------------------------------------------------


def marks(figure: dict[str, Any], panel: str) -> dict[str, float]:
    """Method -> value in a panel of the figure."""
    (trace,) = (each for each in figure["data"] if each.get("name") == panel)
    return {told[2]: x for told, x in zip(trace["customdata"], trace["x"], strict=True)}


def test_the_largest_poison_size_is_drawn_unless_another_is_chosen(home):
    put(home, "label_flip", FLIP)
    weak = {**FLIP, "fa": {**FLIP["fa"], "original": 0.05}}
    put(home, "label_flip", weak, count=60, budget=0.05)
    at = opened()
    assert not at.exception and "This attack hardly worked" not in words_on(at)
    wide, narrow = figures(at)
    assert marks(wide, "Attack success, ASR (FA)") == marks(narrow, "Attack success, ASR (FA)")
    assert marks(wide, "Attack success, ASR (FA)") == pytest.approx(
        {"Original": 80.0, "Retrain": 2.0, "SCRUB": 4.0, "Fine-tune": 50.0, "SSD": 2.0}
    )
    few = opened(size="60")
    assert marks(figures(few)[0], "Attack success, ASR (FA)")["Original"] == pytest.approx(5.0)
    assert "This attack hardly worked" in words_on(few)


def flipped_outputs() -> dict[str, Outputs]:
    """Predictions of the first five samples that the default flip of digits poisons, under their
    true and flipped labels.
    """
    from mucore.datasets import load

    train = load("digits").train
    rules = {"scenario": "label_flip", "budget": 0.1, "pairs": None, "seed": 0}
    labels, ids = train.labels.numpy(), train.ids.numpy()
    chosen = poison.poisoned_ids(rules, labels, ids, 10)[:5]
    true = labels[chosen]
    taught = 9 - true
    said = {"original": taught, "retrain": true, "scrub": np.where(np.arange(5) < 2, taught, true)}
    return {
        method: Outputs({"forget": predictions(chosen, taught, answers)})
        for method, answers in said.items()
    }


def test_images_come_with_what_each_model_says(home):
    outputs = flipped_outputs()
    put(home, "label_flip", FLIP, outputs=outputs)
    at = opened(method="x")
    assert not at.exception and not at.error
    row = figures(at)[2]
    taught = outputs["scrub"]["forget"].labels.tolist()
    true = [9 - each for each in taught]
    lines = {trace["name"]: trace["text"] for trace in row["data"]}
    assert lines["True label"] == [str(each) for each in true]
    assert lines["Attacker's label"] == [str(each) for each in taught]
    assert lines["Original"] == [f"<b>{each}</b>" for each in taught]
    assert lines["Retrain"] == [str(each) for each in true]
    assert [text.startswith("<b>") for text in lines["SCRUB"]] == [True, True, False, False, False]
    images = row["layout"]["images"]
    assert len(images) == 5 and images[0]["source"].startswith("data:image/png")
    (said,) = lines_with(at, "attacked images")
    assert facts.numbers(said) == ["5", "5"]
    line = next(option for option in at.selectbox if option.label == "Method")
    assert "SCRUB" in line.options
    other = opened(method=frames.row_id("ssd", store_parameters(home, "ssd")))
    assert "no longer has the predictions" in words_on(other) and len(figures(other)) == 2


def store_parameters(home: Path, method: str) -> str:
    with open_store(home) as store:
        return str(store.summaries(method=method).iloc[0]["parameters"])
