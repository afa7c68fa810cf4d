"""Sanity flags: raised when they should be, and silent on a healthy result."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mucore.metrics import measure
from mucore.metrics.sanity import blind_attacks, cautions, flags
from mucore.outputs import Outputs
from mucore.store.records import Measured

HEALTHY = {
    "ra": Measured(0.9),
    "mia_confidence": Measured(0.4),
    "mia_confidence_attack_accuracy": Measured(0.8),
}


def test_a_healthy_result_has_no_flag(make_inputs):
    assert flags(make_inputs(), HEALTHY, method="finetune") == ()


def test_a_method_that_changed_nothing(make_inputs):
    inputs = make_inputs()
    same = make_inputs(weights=inputs.original_weights)
    assert any("changed nothing" in text for text in flags(same, HEALTHY, method="finetune"))
    assert not any("changed nothing" in text for text in flags(same, HEALTHY, method="original"))
    touched = {
        name: array + (name == "first.bias") * np.float32(1e-6)
        for name, array in (inputs.original_weights or {}).items()
    }
    assert not any(
        "changed nothing" in text
        for text in flags(make_inputs(weights=touched), HEALTHY, method="finetune")
    )


def test_a_model_that_predicts_one_class(make_inputs, of_one_class):
    collapsed = make_inputs(outputs=Outputs({**make_inputs().outputs, "test": of_one_class(2)}))
    assert "The model collapsed: 100 % of its test predictions are class 2." in flags(
        collapsed, HEALTHY, method="finetune"
    )


def test_retain_accuracy_near_chance(make_inputs):
    """Four classes: twice chance is 50 %. Two classes: half way from chance to certainty is 75
    %.
    """
    assert (
        "below 50.0 %, where chance is 25.0 %"
        in flags(make_inputs(), {"ra": Measured(0.49)}, method="finetune")[0]
    )
    assert flags(make_inputs(), {"ra": Measured(0.51)}, method="finetune") == ()
    assert (
        flags(
            make_inputs(classes=2, forgotten_classes=()), {"ra": Measured(0.76)}, method="finetune"
        )
        == ()
    )
    assert (
        "below 75.0 %"
        in flags(
            make_inputs(classes=2, forgotten_classes=()), {"ra": Measured(0.74)}, method="finetune"
        )[0]
    )


def test_a_retrain_far_below_the_original(make_inputs, of_one_class):
    good = make_inputs().outputs
    bad = Outputs({**make_inputs().outputs, "test": of_one_class(2)})
    assert any(
        "Retrain is worse than the original" in text
        for text in flags(make_inputs(outputs=bad, original=good), HEALTHY, method="retrain")
    )
    assert flags(make_inputs(outputs=good, original=good), HEALTHY, method="retrain") == ()
    assert not any(
        "Retrain is worse" in text
        for text in flags(make_inputs(outputs=bad, original=good), HEALTHY, method="finetune")
    )


def test_an_original_that_does_not_fit_its_own_training_data(make_inputs):
    for gap, raised in ((-0.09, 0), (-0.11, 1)):
        told = flags(make_inputs(), {"ra": Measured(0.8, gap=gap)}, method="original")
        assert sum("80.0 %" in text and "91.0 %" in text for text in told) == raised
    assert flags(make_inputs(), {"ra": Measured(0.8, gap=-0.5)}, method="finetune") == ()


def test_losing_the_forgotten_class_is_no_fault_of_retrain(make_inputs):
    good = make_inputs().outputs
    counts = good["test"].confusion.copy()
    counts[1] = [counts[1].sum(), 0, 0, 0]
    test = replace(good["test"], confusion=counts)
    inputs = make_inputs(
        outputs=Outputs({**good, "test": test}), original=good, forgotten_classes=(1,)
    )
    assert flags(inputs, HEALTHY, method="retrain") == ()


def test_blind_attacks_are_named_together(make_inputs):
    """80 held-out samples: guessing gives 31 to 49 right in 95 % of cases, so 0.6 is blind and 0.7
    is not.
    """
    rates = {"prob": 0.6, "entropy": 0.5, "confidence": 0.7}
    measured = {f"mia_{attack}_attack_accuracy": Measured(rate) for attack, rate in rates.items()}
    measured |= {f"mia_{attack}": Measured(0.5) for attack in rates}
    (sentence,) = cautions(make_inputs(), measured)
    assert sentence.endswith("their efficacy is not evidence: entropy, prob.")
    assert blind_attacks(["Something else.", sentence]) == {"entropy", "prob"}
    assert blind_attacks(["Something else."]) == frozenset()


def test_shared_device_is_marked(make_inputs, cost):
    assert cautions(make_inputs(cost=cost(shared_device=True)), HEALTHY) == (
        "Times were taken while other work ran on the device.",
    )


def test_a_failed_metric_is_named_and_an_impossible_one_is_not(make_inputs):
    measured = {
        "fa": Measured(None, error="The computation failed: ValueError: x"),
        "rte": Measured(None, error="Retrain has no result yet."),
    }
    assert flags(make_inputs(), measured, method="finetune") == (
        "Forget accuracy is missing. The computation failed: ValueError: x",
    )


def test_flags_read_what_measure_gives(make_inputs):
    inputs = make_inputs()
    for method in ("original", "retrain", "finetune"):
        assert not any(
            "missing" in text or "collapsed" in text
            for text in flags(
                inputs, measure(inputs, scenario="class_wise", method=method), method=method
            )
        )
