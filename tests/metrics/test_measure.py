"""`measure`: which metrics a run gets, their gaps, and properties that whole sets of metrics
share.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mucore import catalog, metrics
from mucore.catalog.cards import WITHHELD
from mucore.metrics import measure
from mucore.outputs import Outputs
from mucore.store.records import Measured

ATTACKS = ("correctness", "confidence", "entropy", "m_entropy", "prob")
SUFFIXES = ("", "_attack_accuracy", "_auc", "_tpr_1", "_forgotten_classes")
FEW = {f"mia_{attack}_tpr_01" for attack in ATTACKS}  # withheld: no 1,000 test samples here
ACCURACIES = {"ta", "ra", "fa", "tfa", "tra", "va"}
MEMBERSHIP = {f"mia_{attack}{suffix}" for attack in ATTACKS for suffix in SUFFIXES}
PREPARATION = {"prepared_seconds", "prepared_for_request_seconds"}
COSTS = PREPARATION | {
    "unlearning_seconds",
    "samples_read",
    "work",
    "optimizer_steps",
    "persistent_bytes",
    "scratch_bytes",
    "peak_memory_bytes",
}
# the others: test_quality_experiment.py
OF_RUNS = {card.id for card in catalog.metrics() if card.group != "experiment"} - FEW
# test_depoisoning.py, test_measured_persons.py and, what only the original tells,
# test_measured_agreement.py
ELSEWHERE = {
    card.id for card in catalog.metrics() if card.group in ("depoisoning", "persons", "downstream")
} | {"efficacy_untrained"}
TO_ORIGINAL = {f"cka_original_{split}" for split in ("forget", "retain", "test")}
DISTANCES = {
    "l2": 0.0,
    "l2_normalised": 0.0,
    "rte": 1.0,
    "rte_work": 1.0,
}  # their value at the reference
AGREEMENT = {"js_divergence": 0.0, "average_gap": 0.0, "average_gap_classes": 0.0, "agl": 1.0}
AGREEMENT |= {f"cka_retrain_{split}": 1.0 for split in ("forget", "retain", "test")}
RELATIVE = DISTANCES | AGREEMENT

# Sets by property; every metric belongs to exactly one of each pair.
OF_PREDICTIONS = ACCURACIES | MEMBERSHIP | TO_ORIGINAL | {"zrf", "linear_probe"}
ON_LOG_SCALE = {"efficacy", "efficacy_bound"}
CKAS = {name for name in OF_RUNS if name.startswith("cka_")}  # unbiased ones fall below 0
IN_UNIT_INTERVAL = (OF_PREDICTIONS | set(AGREEMENT)) - CKAS
NOT_NEGATIVE = COSTS | set(DISTANCES)
INVARIANT_TO_SAMPLE_ORDER = OF_PREDICTIONS | set(AGREEMENT)
BLIND_TO_PREDICTIONS = COSTS | set(DISTANCES) | ON_LOG_SCALE
ZERO_GAP_AT_REFERENCE, FIXED_AT_REFERENCE = OF_PREDICTIONS | COSTS | ON_LOG_SCALE, set(RELATIVE)


@pytest.fixture
def of_retrain(make_inputs) -> dict[str, Measured]:
    """The numbers of the Retrain that `make_inputs` compares with."""
    inputs = make_inputs()
    reference = {
        "retrained": None,
        "weights": inputs.retrained_weights,
        "retrained_weights": None,
        "retrain_cost": None,
    }
    return measure(
        make_inputs(outputs=inputs.retrained, **reference), scenario="class_wise", method="retrain"
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (IN_UNIT_INTERVAL, NOT_NEGATIVE | ON_LOG_SCALE | (CKAS - ELSEWHERE)),
        (INVARIANT_TO_SAMPLE_ORDER, BLIND_TO_PREDICTIONS),
        (ZERO_GAP_AT_REFERENCE, FIXED_AT_REFERENCE),
    ],
)
def test_every_metric_has_declared_its_properties(one, other):
    assert one | other == OF_RUNS - ELSEWHERE and not one & other


def test_every_card_has_a_function_and_every_function_a_card():
    assert set(metrics.TABLE) == OF_RUNS | FEW


def test_cards_have_what_a_page_needs():
    for card in catalog.metrics():
        assert card.title and card.source and card.meaning.endswith("."), card.id
        assert card.caveat, card.id
        assert card.ideal in ("retrain", "high", "low", "none"), card.id
        assert card.low is None or card.high is None or card.low < card.high, card.id
        # a data set's id is as long as it is
        assert len(card.short) <= (20 if card.downstream else 16), card.id
    heads = [card.short for card in catalog.metrics()]
    assert len(set(heads)) == len(heads)


def test_a_class_wise_run_gets_every_metric_within_its_range(make_inputs, of_retrain):
    measured = measure(
        make_inputs(retrain_metrics=of_retrain), scenario="class_wise", method="finetune"
    )
    assert set(measured) - FEW == OF_RUNS - ELSEWHERE
    assert all((measured.pop(name).error or "").startswith(WITHHELD) for name in FEW)
    for name, entry in measured.items():
        assert entry.error is None and entry.value is not None, name
        card = catalog.metric(name)
        assert card.low is None or entry.value >= card.low, name
        assert card.high is None or entry.value <= card.high, name
    assert all(0 <= (measured[name].value or 0.0) <= 1 for name in IN_UNIT_INTERVAL)
    assert all((measured[name].value or 0.0) >= 0 for name in NOT_NEGATIVE)


def test_accuracies_read_the_right_split(make_inputs):
    inputs = make_inputs()
    measured = measure(inputs, scenario="class_wise", method="finetune")
    for name, split in {"ta": "test", "ra": "retain", "fa": "forget", "va": "validation"}.items():
        outputs = inputs.outputs[split]
        assert measured[name].value == np.mean(outputs.logits.argmax(axis=1) == outputs.labels), (
            name
        )
    right = inputs.outputs["test"].logits.argmax(axis=1) == inputs.outputs["test"].labels
    labels = inputs.outputs["test"].labels
    assert measured["tfa"].value == np.mean(right[labels == 1])
    assert measured["tra"].value == np.mean(right[labels != 1])
    assert len({measured[name].value for name in ACCURACIES}) == 6, (
        "the splits must differ for this test to tell them apart"
    )


def test_a_scenario_that_keeps_classes_has_no_metrics_of_forgotten_ones(make_inputs):
    measured = measure(make_inputs(forgotten_classes=()), scenario="one_class", method="finetune")
    missing = {"tfa", "tra", "average_gap_classes", "agl", "linear_probe"} | {
        f"mia_{attack}_forgotten_classes" for attack in ATTACKS
    }
    assert set(measured) - FEW == OF_RUNS - missing - ELSEWHERE


def test_the_training_of_the_original_gets_what_makes_sense(make_inputs):
    outputs = make_inputs().outputs
    trained = Outputs(
        {"train": outputs["retain"], "validation": outputs["validation"], "test": outputs["test"]}
    )
    nothing = {
        "original": None,
        "retrained": None,
        "retrained_weights": None,
        "retrain_cost": None,
        "forgotten_classes": (),
    }
    measured = measure(make_inputs(outputs=trained, **nothing), scenario=None, method="original")
    accuracies = {f"mia_{attack}_attack_accuracy" for attack in ATTACKS}
    assert (
        set(measured)
        == {
            "ta",
            "ra",
            "va",
            "unlearning_seconds",
            "work",
            "samples_read",
            "optimizer_steps",
            "peak_memory_bytes",
        }
        | accuracies
    )
    assert all(entry.error is None and entry.gap is None for entry in measured.values())


def test_the_original_row_of_a_scenario_has_no_cost(make_inputs):
    measured = measure(make_inputs(), scenario="class_wise", method="original")
    assert not {"rte", *COSTS} & set(measured) and measured["l2"].value is not None


def test_retrain_is_its_own_reference(make_inputs):
    measured = measure(
        make_inputs(retrained=None, retrained_weights=None, retrain_cost=None),
        scenario="class_wise",
        method="retrain",
    )
    assert {name: measured[name].value for name in RELATIVE} == pytest.approx(RELATIVE)
    assert all(entry.gap is None for entry in measured.values())


def test_gap_is_value_minus_retrains(make_inputs):
    reference = {
        "fa": Measured(0.25),
        "ta": Measured(None, error="It failed."),
        "samples_read": Measured(1000.0),
        "l2": Measured(0.0),
    }
    measured = measure(
        make_inputs(retrain_metrics=reference), scenario="one_class", method="finetune"
    )
    assert measured["fa"].value is not None
    assert measured["fa"].gap == pytest.approx(measured["fa"].value - 0.25)
    assert measured["samples_read"].gap == 160 - 1000
    assert measured["ta"].gap is None and measured["ra"].gap is None and measured["l2"].gap is None


def test_seconds_have_a_gap_under_equal_conditions_only(make_inputs, cost):
    reference = {"unlearning_seconds": Measured(12.0), "samples_read": Measured(500.0)}
    equal = measure(make_inputs(retrain_metrics=reference), scenario="one_class", method="finetune")
    assert equal["unlearning_seconds"].gap == 3.0 - 12.0
    other = make_inputs(retrain_metrics=reference, retrain_cost=cost(seconds=12.0, device="cuda"))
    unequal = measure(other, scenario="one_class", method="finetune")
    assert unequal["unlearning_seconds"].gap is None and unequal["samples_read"].gap == -340
    assert unequal["rte"].value is None
    assert "device cuda instead of cpu" in (unequal["rte"].error or "")


def test_a_method_that_gives_retrain_has_no_gap_to_it(make_inputs):
    inputs = make_inputs()
    reference = measure(inputs, scenario="class_wise", method="retrain")
    copies = {
        "retrained": inputs.outputs,
        "retrained_weights": inputs.weights,
        "retrain_cost": inputs.cost,
    }
    same = replace(inputs, **copies, retrain_metrics=reference)
    measured = measure(same, scenario="class_wise", method="finetune")
    assert {name for name, entry in measured.items() if entry.gap == 0.0} == ZERO_GAP_AT_REFERENCE
    assert {name: measured[name].value for name in FIXED_AT_REFERENCE} == pytest.approx(RELATIVE)


def test_correctness_efficacy_is_the_complement_of_forget_accuracy(make_inputs):
    """Where right answers mark members."""
    measured = measure(make_inputs(), scenario="one_class", method="finetune")
    assert measured["fa"].value is not None
    assert measured["mia_correctness"].value == pytest.approx(1 - measured["fa"].value)


def test_what_is_missing_says_why(make_inputs, cost):
    bare = make_inputs(weights=None, retrain_cost=None, cost=cost(peak_memory_bytes=None))
    measured = measure(bare, scenario="one_class", method="finetune")
    assert "ensemble" in (measured["l2"].error or "")
    assert "Run Retrain" in (measured["rte"].error or "")
    assert "not recorded" in (measured["peak_memory_bytes"].error or "")
    without = measure(make_inputs(retrained_weights=None), scenario="one_class", method="finetune")
    assert "Run Retrain" in (without["l2_normalised"].error or "")


def test_a_metric_that_breaks_leaves_the_others_alone(make_inputs, monkeypatch):
    def broken(inputs):
        raise ZeroDivisionError("by nought")

    monkeypatch.setitem(metrics.TABLE, "fa", broken)
    monkeypatch.setitem(metrics.TABLE, "va", lambda inputs: float("nan"))
    measured = measure(make_inputs(), scenario="one_class", method="finetune")
    assert measured["fa"] == Measured(
        None, error="The computation failed: ZeroDivisionError: by nought"
    )
    assert (
        measured["va"].error
        == "The computation failed: the value is nan, not a number that can be shown."
    )
    assert measured["ta"].value is not None
