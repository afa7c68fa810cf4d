"""Attack success and what is left of a poison, counted by hand; and the flag for an attack that did
not take.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mucore.metrics import measure
from mucore.metrics.accuracy import attack_success
from mucore.metrics.sanity import flags
from mucore.outputs import Outputs, SplitOutputs
from mucore.store.records import Measured

# Ten triggered images of three classes. Class 0 (four): three taken for 0. Class 1 (four): one.
# Class 2 (two): both.
TRIGGERED = np.array([[3, 1, 0], [1, 2, 1], [2, 0, 0]])
BACKDOOR: Mapping[str, Any] = {"scenario": "backdoor", "target": 0}
FLIP: Mapping[str, Any] = {"scenario": "label_flip", "pairs": ["0-2"]}


def counted(counts: np.ndarray) -> SplitOutputs:
    """A split of which nothing but the counts is kept."""
    none = np.zeros(0, np.int64)
    return SplitOutputs(
        logits=np.zeros((0, len(counts)), np.float32), labels=none, ids=none, confusion=counts
    )


def test_attack_success_by_hand():
    """Six of ten, and three of the six that are not of class 0."""
    assert attack_success(confusion=TRIGGERED, target=0, others=False) == 0.6
    assert attack_success(confusion=TRIGGERED, target=0, others=True) == 0.5
    assert attack_success(confusion=TRIGGERED, target=2, others=False) == 0.1


def with_poison(make_inputs, poison: Mapping[str, Any], **splits: SplitOutputs):
    inputs = make_inputs(forgotten_classes=())
    return make_inputs(
        forgotten_classes=(), outputs=Outputs({**inputs.outputs, **splits}), poison=poison
    )


def test_a_backdoor_run_has_attack_success_and_true_labels(make_inputs):
    counts = np.zeros((4, 4), np.int64)
    counts[:3, :3] = TRIGGERED
    inputs = with_poison(
        make_inputs,
        BACKDOOR,
        triggered=counted(counts),
        forget_true=counted(np.diag([1, 2, 0, 0]) + 1),
    )
    measured = measure(inputs, scenario="backdoor", method="finetune")
    assert (measured["asr"].value, measured["asr_others"].value) == (0.6, 0.5)
    assert measured["fa_true"].value == 7 / 19  # sixteen ones, and three more on the diagonal
    assert "ta_flipped" not in measured


def test_a_label_flip_run_has_the_accuracy_of_the_flipped_classes(make_inputs):
    inputs = with_poison(make_inputs, FLIP, forget_true=counted(np.eye(4, dtype=np.int64)))
    measured = measure(inputs, scenario="label_flip", method="finetune")
    test = inputs.outputs["test"]
    right = test.logits.argmax(axis=1) == test.labels
    assert (
        measured["ta_flipped"].value
        == np.mean(right[np.isin(test.labels, [0, 2])])
        != measured["ta"].value
    )
    assert measured["fa_true"].value == 1.0
    assert not {"asr", "asr_others"} & set(measured)


def test_no_other_scenario_has_them_and_outputs_that_were_cleared_away_say_so(make_inputs):
    names = {"asr", "asr_others", "fa_true", "ta_flipped"}
    assert not names & set(measure(make_inputs(), scenario="class_wise", method="finetune"))
    bare = measure(make_inputs(poison=BACKDOOR), scenario="backdoor", method="finetune")
    assert "predictions on the triggered set" in (bare["asr"].error or "")


def test_an_attack_that_did_not_take_raises_a_flag_on_the_original_alone(make_inputs):
    inputs = make_inputs(poison=BACKDOOR)
    weak = {"ra": Measured(0.9), "asr_others": Measured(0.3), "fa": Measured(0.9)}
    assert (
        "The attack failed: the original follows it on 30.0 % of the triggered test images of "
        "other classes"
    ) in flags(inputs, weak, method="original")[0]
    assert (
        flags(inputs, weak, method="finetune")
        == ()
        == flags(make_inputs(), weak, method="original")
    )
    assert flags(inputs, {**weak, "asr_others": Measured(0.99)}, method="original") == ()
    flipped = make_inputs(poison=FLIP)
    assert (
        "on 4.0 % of the poisoned training samples"
        in flags(flipped, {**weak, "fa": Measured(0.04)}, method="original")[0]
    )
    assert flags(flipped, weak, method="original") == ()
