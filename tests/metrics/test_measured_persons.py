"""NoMUS and the forgetting score of a result, through `measure`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from builders import value

from mucore.metrics import measure, nomus
from mucore.outputs import Outputs, cross_entropy


def with_unseen(inputs, margin: float):
    """The outputs with forty unseen samples whose true class leads by `margin`, and forgotten ones
    whose class leads by 4.
    """
    forget = inputs.outputs["forget"]
    splits = {}
    for name, lead, first in (("forget", 4.0, 0), ("unseen", margin, 5000)):
        logits = np.zeros_like(forget.logits)
        logits[np.arange(len(forget)), forget.labels] = lead + np.linspace(0, 0.01, len(forget))
        splits[name] = replace(
            forget, logits=logits, ids=np.arange(first, first + len(forget)), features=None
        )
    return Outputs({**inputs.outputs, **splits})


@pytest.mark.parametrize("scenario", ["identities", "competition"])
def test_losses_that_give_forgotten_persons_away(make_inputs, scenario):
    inputs = make_inputs()
    measured = measure(
        make_inputs(outputs=with_unseen(inputs, -4.0)), scenario=scenario, method="finetune"
    )
    # The attack is always right: the score is its worst value, and NoMUS has half of the test
    # accuracy left.
    assert measured["forgetting_score"].value == 0.5
    assert measured["nomus"].value == pytest.approx(0.5 * value(measured, "ta"))


def test_the_score_is_that_of_the_attack_on_losses(make_inputs):
    outputs = with_unseen(make_inputs(), 4.0)
    measured = measure(make_inputs(outputs=outputs), scenario="identities", method="finetune")
    losses = {
        name: cross_entropy(outputs[name].logits, outputs[name].labels)
        for name in ("forget", "unseen")
    }
    attack = nomus.attack_accuracy(**losses, evaluation_seed=0)
    assert measured["forgetting_score"].value == abs(attack - 0.5)
    assert measured["nomus"].value == pytest.approx(
        0.5 * value(measured, "ta") + 0.5 * (1 - 2 * abs(attack - 0.5))
    )


def test_without_unseen_persons_there_is_a_sentence_and_elsewhere_nothing(make_inputs):
    measured = measure(make_inputs(), scenario="identities", method="finetune")
    assert "no images of such persons" in (measured["nomus"].error or "")
    assert measured["nomus"].error == measured["forgetting_score"].error
    assert "nomus" not in measure(make_inputs(), scenario="one_class", method="finetune")
