"""Sanity flags: sentences that a reader must see beside a result before believing it (specification
of metrics, section 10).

What needs several runs at once (a metric outside [Original, Retrain] by more than the seed
interval) is in mucore/statistics/outliers.py, what needs the images (copies of forgotten ones
elsewhere) in mucore/datasets/splits.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from mucore import catalog
from mucore.errors import BadValue
from mucore.metrics import FAILED, MetricInputs, accuracy, held_out, mia
from mucore.metrics.cost import clock
from mucore.store.records import Measured

COLLAPSED_SHARE = 0.9
ATTACK_TOOK = 0.5
GUESS = (
    "The attack only guesses here: its own accuracy lies within the 95 % interval of 50 %, "
    "so that what it says of the forget set is no evidence."
)
_COLLAPSED = "The model collapsed"
_BLIND = (
    "These membership attacks cannot tell members from non-members here, so their efficacy "
    "is not evidence: "
)


def flags(inputs: MetricInputs, metrics: Mapping[str, Measured], *, method: str) -> tuple[str, ...]:
    """Sentences about what is suspicious in one result; empty if nothing is."""
    return tuple(
        [
            *_unchanged(inputs, method),
            *_collapsed(inputs, metrics),
            *_poor_retrain(inputs, method),
            *_unfit_original(metrics, method),
            *_failed_attack(inputs, metrics, method),
            *_failed(metrics),
        ]
    )


def cautions(inputs: MetricInputs, metrics: Mapping[str, Measured]) -> tuple[str, ...]:
    """Sentences on how to read some of the numbers; unlike a flag, none of them says that something
    went wrong.
    """
    return (*_blind_attacks(inputs, metrics), *_shared_device(inputs))


def _unchanged(inputs: MetricInputs, method: str) -> Iterator[str]:
    if catalog.method(method).family == "reference":
        return
    before, after = inputs.original_weights, inputs.weights
    if before is not None and after is not None and before.keys() == after.keys():
        if all(np.array_equal(before[name], after[name]) for name in after):
            yield (
                "The method changed nothing: its weights equal the original's. Its parameters may "
                "be too cautious for this run."
            )


def is_collapsed(flags: Iterable[str]) -> bool:
    """Whether the flags of a result say that the network gives nearly every sample one class."""
    return any(flag.startswith(_COLLAPSED) for flag in flags)


def _collapsed(inputs: MetricInputs, metrics: Mapping[str, Measured]) -> Iterator[str]:
    test = inputs.outputs.get("test")
    if test is not None and test.total and test.task == "attributes":
        predicted, true = (
            test.confusion.sum(axis=axis).max(axis=1) / test.total for axis in (1, 2)
        )
        telling = true <= COLLAPSED_SHARE
        if telling.any() and (predicted[telling] > COLLAPSED_SHARE).all():
            share = 100 * predicted[telling].min()
            yield (
                f"{_COLLAPSED}: it gives each attribute one and the same answer for at least "
                f"{share:.0f} % of the test set."
            )
    elif test is not None and test.total:
        predicted, true = (
            test.confusion.sum(axis=0) / test.total,
            test.confusion.sum(axis=1) / test.total,
        )
        favourite = int(predicted.argmax())
        # A test set that is itself almost one class says nothing about the model.
        if predicted[favourite] > COLLAPSED_SHARE >= true[favourite]:
            yield (
                f"{_COLLAPSED}: {100 * predicted[favourite]:.0f} % of its test predictions are "
                f"class {favourite}."
            )
    ra = metrics.get("ra")
    # Twice chance, but never above half way from chance to 1: for two classes, twice chance is
    # perfection.
    chance = 1 / (2 if test is not None and test.task == "attributes" else inputs.classes)
    least = min(2 * chance, (1 + chance) / 2)
    if ra is not None and ra.value is not None and ra.value < least:
        low = f"below {100 * least:.1f} %, where chance is {100 * chance:.1f} %"
        yield f"{_COLLAPSED}: retain accuracy is {100 * ra.value:.1f} %, {low}."


def _poor_retrain(inputs: MetricInputs, method: str) -> Iterator[str]:
    """Losing a share s of the training data should not cost Retrain more than that share of test
    accuracy, three standard errors allowed.

    The rule is ours. Forgotten classes are left out of the comparison: losing them is what was
    asked for.
    """
    if method != "retrain" or not {"test", "forget", "retain"} <= inputs.outputs.keys():
        return
    if inputs.original is None or "test" not in inputs.original:
        return
    test = inputs.outputs["test"]
    counts, total = (inputs.original["test"].confusion, test.confusion), test.total
    try:
        if test.task == "attributes":
            before, after = (accuracy.accuracy(confusion=each) for each in counts)
        else:
            kept = [c for c in range(inputs.classes) if c not in inputs.forgotten_classes]
            before, after = (
                accuracy.accuracy_of_classes(confusion=each, classes=kept) for each in counts
            )
            total = test.confusion[kept].sum()
    except BadValue:
        return
    forgotten, retained = inputs.outputs["forget"].total, inputs.outputs["retain"].total
    error = np.sqrt((before * (1 - before) + after * (1 - after)) / total)
    expected = forgotten / (forgotten + retained) + 3 * error
    if before - after > expected:
        yield (
            "Retrain is worse than the original by more than expected: test accuracy fell from "
            f"{100 * before:.1f} % to {100 * after:.1f} %. The recipe may not have converged."
        )


def _unfit_original(metrics: Mapping[str, Measured], method: str) -> Iterator[str]:
    ra = metrics.get("ra")
    if method == "original" and ra is not None and ra.value is not None and ra.gap is not None:
        yield from filter(None, [unfit(ra.value, ra.value - ra.gap)])


def unfit(original: float, retrain: float) -> str:
    """Why nothing is judged by an original with such a retain accuracy; "" where it may be."""
    # ten points: in the demo, of 29 settings, an original has 2 less than Retrain at most
    left = f"retain accuracy is {100 * original:.1f} %, Retrain's {100 * retrain:.1f} %"
    said = f"The original fits its own training data badly: {left}. Check its file and preprocess."
    return said if retrain - original > 0.1 else ""


def _failed_attack(
    inputs: MetricInputs, metrics: Mapping[str, Measured], method: str
) -> Iterator[str]:
    """A poison that the original hardly took up leaves nothing to remove. The limit is ours."""
    if method != "original" or not inputs.poison:
        return
    backdoor = inputs.poison["scenario"] == "backdoor"
    success = metrics.get("asr_others" if backdoor else "fa")
    if success is not None and success.value is not None and success.value < ATTACK_TOOK:
        of = "triggered test images of other classes" if backdoor else "poisoned training samples"
        yield (
            f"The attack failed: the original follows it on {100 * success.value:.1f} % of the "
            f"{of}, so there is little to remove. Poison more samples or train longer."
        )


def _blind_attacks(inputs: MetricInputs, metrics: Mapping[str, Measured]) -> Iterator[str]:
    n = held_out(inputs)
    blind = []
    for attack in mia.ATTACKS:
        measured = metrics.get(f"mia_{attack}_attack_accuracy")
        # Without an efficacy (the original's training job) there is nothing to mistrust.
        if (
            f"mia_{attack}" in metrics
            and measured is not None
            and measured.value is not None
            and mia.attack_is_blind(measured.value, n)
        ):
            blind.append(attack)
    if blind:
        yield f"{_BLIND}{', '.join(blind)}."


def guesses(notes: Iterable[str]) -> frozenset[str]:
    """The metrics of a result whose attack is a guess: tables have a dash there, and `GUESS`."""
    return frozenset(f"mia_{attack}" for attack in blind_attacks(notes))


def blind_attacks(notes: Iterable[str]) -> frozenset[str]:
    """The membership attacks that the notes of a result call a guess: their own accuracy is in the
    95 % interval of 50 %.
    """
    listed = [note.removeprefix(_BLIND).rstrip(".") for note in notes if note.startswith(_BLIND)]
    return frozenset(name for names in listed for name in names.split(", "))


def _shared_device(inputs: MetricInputs) -> Iterator[str]:
    # processor time does not count what others do
    if inputs.cost.get("shared_device") and clock(inputs.cost) == "wall":
        yield "Times were taken while other work ran on the device."


def _failed(metrics: Mapping[str, Measured]) -> Iterator[str]:
    for name, measured in metrics.items():
        if measured.error is not None and measured.error.startswith(FAILED):
            yield f"{catalog.metric(name).title} is missing. {measured.error}"
