"""Metrics of a result that compare models sample by sample, through `measure`: what they read, and
what they say where it is missing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from builders import value
from facts import numbers

from mucore.metrics import measure
from mucore.metrics.inputs import GradientNorms
from mucore.outputs import Outputs
from mucore.store.records import Measured

CKAS = [
    f"cka_{model}_{split}"
    for model in ("retrain", "original")
    for split in ("forget", "retain", "test")
]


def with_forget(inputs, **changes):
    """The model's outputs with another forget split."""
    return Outputs({**inputs.outputs, "forget": replace(inputs.outputs["forget"], **changes)})


def test_cka_compares_the_same_samples_whatever_their_order_and_number(make_inputs):
    inputs = make_inputs()
    turn, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(6, 6)))
    rows = np.arange(len(inputs.outputs["forget"]))[::-1]
    theirs = inputs.retrained["forget"]
    # Retrain's own features, turned, in reverse order, and only of the first thirty.
    turned = (theirs.features[rows].astype(np.float64) @ turn * 3)[:30]
    outputs = with_forget(
        inputs,
        ids=theirs.ids[rows],
        logits=theirs.logits[rows],
        labels=theirs.labels[rows],
        features=turned,
    )
    measured = measure(make_inputs(outputs=outputs), scenario="one_class", method="finetune")
    assert value(measured, "cka_retrain_forget") == pytest.approx(1, abs=1e-6)
    assert value(measured, "cka_retrain_test") < 0.9
    assert value(measured, "cka_original_forget") < 0.9


def test_cka_by_hand_and_of_too_few_samples(make_inputs):
    """n samples ±1 at right angles: ‖YᵀX‖² = 0 and all squares are 1, so that the U-statistic is
    −n² / (n − 1), that of each with itself n² (n − 2) / (n − 1): together −1 / (n − 2).
    """
    inputs = make_inputs()
    forget = inputs.outputs["forget"]
    first, second = (
        np.tile(np.array(each, np.float16), 10)[:, None]
        for each in ([1, -1, 1, -1], [1, 1, -1, -1])
    )
    theirs = Outputs({**inputs.retrained, "forget": replace(forget, features=second)})
    outputs = with_forget(inputs, features=first)
    measured = measure(
        make_inputs(outputs=outputs, retrained=theirs), scenario="one_class", method="finetune"
    )
    assert value(measured, "cka_retrain_forget") == pytest.approx(-1 / 38)
    counts = np.zeros((4, 4), int)
    counts[0, 0] = 31
    few = make_inputs(outputs=with_forget(inputs, confusion=counts))
    for name in ("cka_retrain_forget", "cka_original_forget"):
        found = measure(few, scenario="one_class", method="finetune")[name]
        assert found.value is None and numbers(found.error or "") == ["32", "31"]


def test_js_divergence_by_hand(make_inputs):
    """Certain of one class against certain of another is 1 bit; half of the samples agree, so the
    mean is one half.
    """
    inputs = make_inputs()
    n = len(inputs.outputs["forget"])
    mine, theirs = np.full((n, 4), -1000, np.float32), np.full((n, 4), -1000, np.float32)
    mine[:, 0], theirs[: n // 2, 0], theirs[n // 2 :, 1] = 1000, 1000, 1000
    retrained = Outputs(
        {**inputs.retrained, "forget": replace(inputs.retrained["forget"], logits=theirs)}
    )
    measured = measure(
        make_inputs(outputs=with_forget(inputs, logits=mine), retrained=retrained),
        scenario="one_class",
        method="ssd",
    )
    assert value(measured, "js_divergence") == pytest.approx(0.5)


def test_average_gaps_and_agl_by_hand(make_inputs):
    inputs = make_inputs()
    names = ("fa", "ra", "ta", "mia_confidence", "tfa", "tra")
    own = measure(inputs, scenario="class_wise", method="finetune")
    gaps = {"fa": 0.1, "ra": -0.2, "ta": 0.3, "mia_confidence": 0.0, "tfa": 0.05, "tra": -0.05}
    reference = {name: Measured(value(own, name) - gaps[name]) for name in names}
    measured = measure(
        make_inputs(retrain_metrics=reference), scenario="class_wise", method="finetune"
    )
    assert value(measured, "average_gap") == pytest.approx((0.1 + 0.2 + 0.3 + 0) / 4)
    assert value(measured, "average_gap_classes") == pytest.approx((0.1 + 0.2 + 0.05 + 0.05) / 4)
    assert value(measured, "agl") == pytest.approx(0.9 * 0.8 * 0.95 * 0.95)
    del reference["tra"]
    lacking = measure(
        make_inputs(retrain_metrics=reference), scenario="class_wise", method="finetune"
    )
    assert "tra cannot be had" in (lacking["agl"].error or "")
    assert lacking["average_gap"].value is not None


def test_efficacy_and_its_bound_by_hand(make_inputs):
    """Information is the mean of the squared norms: (0.04 + 0 + 0.02) / 3 = 0.02, whose inverse is
    50; the bound is 1 / 0.001.
    """
    measured = measure(make_inputs(), scenario="one_class", method="finetune")
    assert value(measured, "efficacy") == pytest.approx(np.log10(50))
    assert value(measured, "efficacy_bound") == pytest.approx(3)


def test_efficacy_before_training_is_told_by_the_original_alone(make_inputs):
    gradient_norms = GradientNorms(
        squared_norms=np.array([0.5]),
        squared_norm_of_mean=0.5,
        untrained_squared_norms=np.array([0.003, 0.001]),
    )
    measured = measure(
        make_inputs(gradient_norms=gradient_norms), scenario="one_class", method="original"
    )
    assert value(measured, "efficacy_untrained") == pytest.approx(np.log10(500))
    assert "efficacy_untrained" not in measure(
        make_inputs(gradient_norms=gradient_norms), scenario="one_class", method="finetune"
    )
    older = measure(make_inputs(), scenario="one_class", method="original")["efficacy_untrained"]
    assert "network before training" in (older.error or "")


def test_efficacy_beyond_the_range_of_a_float_is_a_number_and_infinity_a_sentence(make_inputs):
    tiny = GradientNorms(squared_norms=np.array([1e-320]), squared_norm_of_mean=0.0)
    measured = measure(make_inputs(gradient_norms=tiny), scenario="one_class", method="finetune")
    assert value(measured, "efficacy") == pytest.approx(320, abs=0.1)
    assert "infinite" in (measured["efficacy_bound"].error or "")


def test_zrf_by_hand(make_inputs):
    """Certain of one class against an even chance of two: 1 − the divergence h(3/4) − 1/2 in
    bits.
    """
    forget = make_inputs().outputs["forget"]
    certain, even = np.full_like(forget.logits, -1000), np.full_like(forget.logits, -1000)
    certain[:, 0], even[:, :2] = 1000, 1000
    gradient_norms = GradientNorms(incompetent=replace(forget, logits=even))
    outputs = with_forget(make_inputs(), logits=certain)
    measured = measure(
        make_inputs(outputs=outputs, gradient_norms=gradient_norms),
        scenario="one_class",
        method="ssd",
    )
    entropy = -(0.75 * np.log2(0.75) + 0.25 * np.log2(0.25))
    assert value(measured, "zrf") == pytest.approx(1 - (entropy - 0.5))


def test_a_linear_probe_finds_what_the_classifier_hides(make_inputs):
    """Features that give class 1 away, under a classifier that never names it; then features in
    which class 1 looks like class 0.
    """
    inputs = make_inputs()

    def with_features(hidden: bool) -> Outputs:
        splits = {}
        for name, split in inputs.outputs.items():
            seen = np.where(split.labels == 1, 0, split.labels) if hidden else split.labels
            never = np.delete(np.insert(split.confusion, 1, 0, axis=1), 2, axis=1)
            splits[name] = replace(
                split, features=np.eye(4, dtype=np.float16)[seen], confusion=never
            )
        forget, retain = splits["forget"], splits["retain"]
        return Outputs(
            {
                **splits,
                "forget": _rows(forget, forget.labels == 1),
                "retain": _rows(retain, retain.labels != 1),
            }
        )

    open_, shut = (
        measure(make_inputs(outputs=with_features(hidden)), scenario="class_wise", method="ssd")
        for hidden in (False, True)
    )
    assert value(open_, "tfa") == 0.0 and value(open_, "linear_probe") == 1.0
    assert value(shut, "linear_probe") == 0.0, (
        "of two classes that look the same it names the one with more samples"
    )


def _rows(split, chosen):
    return replace(
        split,
        **{name: getattr(split, name)[chosen] for name in ("logits", "labels", "ids", "features")},
    )
