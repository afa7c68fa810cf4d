"""Metrics of several yes-or-no labels an image: by hand, and against the two classes that a single
attribute is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mucore import outputs
from mucore.metrics import MetricInputs, measure, mia
from mucore.metrics.accuracy import accuracy, per_class
from mucore.metrics.sanity import flags
from mucore.outputs import Outputs, SplitOutputs

LABELS = np.array([[1, 0, 1], [0, 0, 1]])
P = np.array([[0.75, 0.25, 0.5], [0.25, 0.75, 0.9]])


def split_of(labels: np.ndarray, logits: np.ndarray, first: int = 0) -> SplitOutputs:
    counts = outputs.confusion(labels, (logits > 0).astype(np.int64), labels.shape[1])
    return SplitOutputs(
        logits=logits.astype(np.float32),
        labels=labels,
        ids=np.arange(first, first + len(labels)),
        confusion=counts,
    )


def drawn(
    seed: int,
    *,
    attributes: int = 3,
    margins: tuple[float, float, float, float] = (2.0, 4.0, 2.0, 2.0),
) -> Outputs:
    rng = np.random.default_rng(seed)
    found = {}
    for number, (name, count) in enumerate(
        {"forget": 40, "retain": 120, "validation": 30, "test": 80}.items()
    ):
        labels = (np.arange(count)[:, None] + np.arange(attributes)) % 2
        logits = rng.normal(size=labels.shape) + margins[number] * (2 * labels - 1)
        found[name] = split_of(labels, logits, 1000 * number)
    return Outputs(found)


@pytest.fixture
def inputs(make_inputs: Callable[..., MetricInputs]) -> Callable[..., MetricInputs]:
    def make(**changes: object) -> MetricInputs:
        return make_inputs(
            **(
                {
                    "outputs": drawn(1),
                    "original": drawn(0),
                    "retrained": drawn(2),
                    "classes": 3,
                    "forgotten_classes": (),
                }
                | changes
            )
        )

    return make


# -- counts and accuracy


def test_confusion_has_one_table_an_attribute():
    counts = outputs.confusion(LABELS, np.array([[1, 0, 0], [0, 1, 1]]), 3)
    # attribute 0: one no, one yes, both right; 1: two noes, one of them called yes; 2: two yeses,
    # one of them called no
    assert counts.tolist() == [[[1, 0], [0, 1]], [[1, 1], [0, 0]], [[0, 0], [1, 1]]]
    assert accuracy(confusion=counts) == pytest.approx(4 / 6)
    np.testing.assert_allclose(per_class(confusion=counts), [1, 1 / 2, 1 / 2])
    split = split_of(LABELS, np.log(P / (1 - P)))
    assert split.task == "attributes" and split.total == 2 and len(split) == 2


def test_losses_and_probabilities_are_those_of_the_sigmoid():
    logits = np.log(P / (1 - P))
    np.testing.assert_allclose(outputs.probabilities(logits, "attributes"), P)
    own = np.array([[0.75, 0.75, 0.5], [0.75, 0.25, 0.9]])
    np.testing.assert_allclose(outputs.cross_entropy(logits, LABELS), -np.log(own).mean(axis=1))
    # far out neither overflows, and each loss is the distance to the boundary
    far = np.array([[800.0, -800.0]])
    np.testing.assert_array_equal(outputs.sigmoid(far), [[1.0, 0.0]])
    np.testing.assert_allclose(outputs.cross_entropy(far, np.array([[0, 1]])), [800.0])
    np.testing.assert_allclose(
        outputs.answers(P, "attributes"), np.stack([1 - P.ravel(), P.ravel()], axis=1)
    )


# -- membership features


def test_features_by_hand():
    def of(attack: str) -> np.ndarray:
        return mia.feature(attack, probabilities=P, labels=LABELS)

    own = np.array([[0.75, 0.75, 0.5], [0.75, 0.25, 0.9]])
    # a probability of one half is a tie, and ties are noes
    np.testing.assert_allclose(of("correctness")[:, 0], [2 / 3, 2 / 3])
    np.testing.assert_allclose(of("confidence")[:, 0], own.prod(axis=1) ** (1 / 3))
    np.testing.assert_allclose(
        of("confidence")[:, 0], np.exp(-outputs.cross_entropy(np.log(P / (1 - P)), LABELS))
    )
    np.testing.assert_allclose(
        of("entropy")[:, 0], -(P * np.log(P) + (1 - P) * np.log(1 - P)).mean(axis=1)
    )
    np.testing.assert_allclose(of("m_entropy")[:, 0], (-2 * (1 - own) * np.log(own)).mean(axis=1))
    np.testing.assert_array_equal(of("prob"), P)


# -- the whole table


def test_every_metric_of_a_scenario_of_samples_is_there_and_within_its_range(
    inputs: Callable[..., MetricInputs],
):
    found = measure(inputs(), scenario="all_classes", method="finetune")
    wanted = (
        "ta",
        "ra",
        "fa",
        *(f"mia_{attack}" for attack in mia.ATTACKS),
        "mia_prob_auc",
        "l2",
        "rte",
    )
    assert {name: found[name].error for name in wanted} == dict.fromkeys(wanted)
    values = {name: measured.value or 0.0 for name, measured in found.items()}
    assert values["ra"] > values["fa"] > 0.9
    test = drawn(1)["test"]
    assert values["ta"] == pytest.approx(((test.logits > 0) == test.labels).mean())
    # members have the larger margin, so the attack by confidence sees them
    assert values["mia_confidence_attack_accuracy"] > 0.7
    # the forget set has the margin of the test set
    assert values["mia_confidence"] > 0.6 and abs(values["mia_confidence_auc"] - 0.5) < 0.15
    assert "tfa" not in found


# -- flags


def constant(answer: float, share: float) -> SplitOutputs:
    """A test split where everything gets one answer and `share` of the samples have each
    attribute.
    """
    labels = (np.arange(100)[:, None] < 100 * share).astype(np.int64).repeat(3, axis=1)
    return split_of(labels, np.full(labels.shape, answer))


def test_one_answer_for_everything_is_a_collapse_unless_the_truth_is_that_one_sided(
    inputs: Callable[..., MetricInputs],
):
    def collapsed(test: SplitOutputs) -> list[str]:
        found = inputs(outputs=Outputs({**drawn(1), "test": test}))
        return [flag for flag in flags(found, {}, method="finetune") if "collapsed" in flag]

    assert collapsed(constant(1.0, 0.5)) == [
        (
            "The model collapsed: it gives each attribute one and the same answer for at least "
            "100 % of the test set."
        )
    ]
    assert not collapsed(constant(1.0, 0.95)) and not collapsed(drawn(1)["test"])
    half = constant(1.0, 0.5)
    logits = half.logits.copy()
    logits[:, 0] = 2.0 * half.labels[:, 0] - 1  # one attribute is still told apart
    assert not collapsed(split_of(half.labels, logits))
