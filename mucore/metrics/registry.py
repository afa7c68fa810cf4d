"""Which metric is which function of the inputs.

The numbers themselves are plain functions in accuracy.py, mia.py, distance.py, cost.py and
their neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from mucore.catalog.metrics.representation import DOWNSTREAM_SETS
from mucore.errors import BadValue
from mucore.metrics import (
    accuracy,
    cost,
    distance,
    divergence,
    efficacy,
    mia,
    nomus,
    representation,
    retention,
)
from mucore.metrics.inputs import MetricInputs, features, paired_logits
from mucore.outputs import DOWNSTREAM, SplitOutputs, answers, probabilities
from mucore.scenarios.poison import flipped_classes

PROBE_PER_CLASS = 200  # training samples of each class that a linear probe learns from


def _paired_answers(first: SplitOutputs, second: SplitOutputs) -> list[np.ndarray]:
    return [
        answers(probabilities(logits, first.task), first.task)
        for logits in paired_logits(first, second)
    ]


def _js_divergence(inputs: MetricInputs) -> float:
    unlearned, retrained = _paired_answers(*inputs.beside("retrain", "forget"))
    return divergence.js_to_retrain(unlearned=unlearned, retrained=retrained)


def _zrf(inputs: MetricInputs) -> float:
    assert inputs.living.incompetent is not None
    unlearned, incompetent = _paired_answers(inputs.split("forget"), inputs.living.incompetent)
    return divergence.zrf(unlearned=unlearned, incompetent=incompetent)


def _efficacy(inputs: MetricInputs, *, of: str) -> float:
    """Of the squared gradient norms that have this name."""
    norms = getattr(inputs.living, of)
    if norms is None:
        raise BadValue(inputs.living.missing or "The network before training was not looked at.")
    return efficacy.log10_efficacy(squared_norms=np.atleast_1d(norms))


def _linear_probe(inputs: MetricInputs) -> float:
    (forgotten, gone), (retained, kept), (test, asked) = (
        features(inputs.split(name)) for name in ("forget", "retain", "test")
    )
    seen, labels = np.concatenate([forgotten, retained]), np.concatenate([gone, kept])
    # As many of each class, so that the probe has no leaning of its own.
    rows = np.concatenate(
        [np.flatnonzero(labels == each)[:PROBE_PER_CLASS] for each in np.unique(labels)]
    )
    return retention.linear_probe_accuracy(
        train=seen[rows],
        train_labels=labels[rows],
        test=test,
        test_labels=asked,
        classes=np.unique(gone).tolist(),
    )


def _both_values(inputs: MetricInputs, metrics: tuple[str, ...]) -> dict[str, dict[str, float]]:
    """Those of `metrics` that exist, of this model and of Retrain."""
    reference = inputs.retrain_metrics
    own = {name: value for name in metrics if (value := TABLE[name](inputs)) is not None}
    if reference is None and inputs.retrained is not inputs.outputs:
        raise BadValue(
            "This compares with Retrain's numbers, but Retrain has no result yet. Run Retrain."
        )
    if reference is None:
        return {"unlearned": own, "retrained": own}
    known = {
        name: entry.value
        for name in metrics
        if (entry := reference.get(name)) is not None and entry.value is not None
    }
    return {"unlearned": own, "retrained": known}


def _accuracy(inputs: MetricInputs, split: str) -> float:
    return accuracy.accuracy(confusion=inputs.split(split).confusion)


def _test_accuracy(inputs: MetricInputs, classes: Sequence[int]) -> float:
    return accuracy.accuracy_of_classes(confusion=inputs.split("test").confusion, classes=classes)


def _attack_success(inputs: MetricInputs, *, others: bool) -> float:
    return accuracy.attack_success(
        confusion=inputs.split("triggered").confusion, target=inputs.poison["target"], others=others
    )


def _attack_value(
    inputs: MetricInputs, *, attack: str, field: str, forgotten_classes: bool
) -> float | None:
    return getattr(inputs.attack(attack, forgotten_classes=forgotten_classes), field)


def _attack_rows(attack: str) -> dict[str, Callable[[MetricInputs], float | None]]:
    ids = {
        "": "efficacy",
        "_attack_accuracy": "attack_accuracy",
        "_auc": "auc",
        "_tpr_01": "tpr_01",
        "_tpr_1": "tpr_1",
    }
    rows = {suffix: (field, False) for suffix, field in ids.items()}
    rows["_forgotten_classes"] = "efficacy", True
    return {
        f"mia_{attack}{suffix}": partial(
            _attack_value, attack=attack, field=field, forgotten_classes=forgotten_classes
        )
        for suffix, (field, forgotten_classes) in rows.items()
    }


def _downstream_rows(name: str) -> dict[str, Callable[[MetricInputs], float]]:
    ckas = {
        f"cka_{model}_{name}": partial(
            MetricInputs.cka, model=model, split=f"{DOWNSTREAM}{name}/test"
        )
        for model in ("retrain", "original")
    }
    return {f"knn_{name}": partial(MetricInputs.knn, name=name), **ckas}


TABLE: dict[str, Callable[[MetricInputs], float | None]] = {
    "ta": partial(_accuracy, split="test"),
    "ra": partial(_accuracy, split="retain"),
    "fa": partial(_accuracy, split="forget"),
    "tfa": lambda inputs: _test_accuracy(inputs, inputs.forgotten_classes),
    "tra": lambda inputs: _test_accuracy(
        inputs, sorted({*range(inputs.classes)} - {*inputs.forgotten_classes})
    ),
    "va": partial(_accuracy, split="validation"),
    "asr": lambda inputs: _attack_success(inputs, others=False),
    "asr_others": lambda inputs: _attack_success(inputs, others=True),
    "fa_true": partial(_accuracy, split="forget_true"),
    "ta_flipped": lambda inputs: _test_accuracy(
        inputs, flipped_classes(inputs.poison, inputs.classes)
    ),
    **{
        metric: function
        for attack in mia.ATTACKS
        for metric, function in _attack_rows(attack).items()
    },
    "l2": lambda inputs: distance.l2(**inputs.both_weights),
    "l2_normalised": lambda inputs: distance.l2_normalised(**inputs.both_weights),
    **{
        f"cka_{model}_{split}": partial(MetricInputs.cka, model=model, split=split)
        for model in ("retrain", "original")
        for split in ("forget", "retain", "test")
    },
    "js_divergence": _js_divergence,
    "zrf": _zrf,
    "linear_probe": _linear_probe,
    "knn_accuracy": lambda inputs: float(np.mean([inputs.knn(name) for name in inputs.downstream])),
    "agr": lambda inputs: inputs.agr,
    "h_lr": lambda inputs: representation.h_lr(
        agl=representation.agl(**_both_values(inputs, representation.CLASS_ACCURACIES)),
        agr=inputs.agr,
    ),
    **{
        metric: function
        for name in DOWNSTREAM_SETS
        for metric, function in _downstream_rows(name).items()
    },
    "top2": lambda inputs: accuracy.top_accuracy(
        logits=inputs.split("test").logits, labels=inputs.split("test").labels, k=2
    ),
    "forgetting_score": lambda inputs: inputs.forgetting_score,
    "nomus": lambda inputs: nomus.nomus(
        accuracy=_accuracy(inputs, "test"), forgetting_score=inputs.forgetting_score
    ),
    "efficacy": partial(_efficacy, of="squared_norms"),
    "efficacy_bound": partial(_efficacy, of="squared_norm_of_mean"),
    "efficacy_untrained": partial(_efficacy, of="untrained_squared_norms"),
    "average_gap": lambda inputs: representation.average_gap(
        **_both_values(inputs, representation.SAMPLE_ACCURACIES),
        over=representation.SAMPLE_ACCURACIES,
    ),
    "average_gap_classes": lambda inputs: representation.average_gap(
        **_both_values(inputs, representation.CLASS_ACCURACIES),
        over=representation.CLASS_ACCURACIES,
    ),
    "agl": lambda inputs: representation.agl(
        **_both_values(inputs, representation.CLASS_ACCURACIES)
    ),
    "rte": lambda inputs: cost.rte(**inputs.both_costs),
    "rte_work": lambda inputs: cost.relative_work(**inputs.both_costs),
    "unlearning_seconds": lambda inputs: cost.taken(inputs.cost),
    "prepared_seconds": lambda inputs: inputs.cost["prepared_seconds"],
    "prepared_for_request_seconds": lambda inputs: inputs.cost["prepared_for_request_seconds"],
    "work": lambda inputs: cost.work(cost=inputs.cost),
    "samples_read": lambda inputs: cost.samples_read(cost=inputs.cost),
    "optimizer_steps": lambda inputs: inputs.cost["steps"],
    "persistent_bytes": lambda inputs: inputs.cost["persistent_bytes"],
    "scratch_bytes": lambda inputs: inputs.cost["scratch_bytes"],
    "peak_memory_bytes": lambda inputs: inputs.cost["peak_memory_bytes"],
}

# Comparisons with Retrain already: the gap would say the same again.
RELATIVE_TO_RETRAIN = frozenset(
    {
        "l2",
        "l2_normalised",
        "rte",
        "rte_work",
        "js_divergence",
        "average_gap",
        "average_gap_classes",
        "agl",
        "agr",
        "h_lr",
    }
    | {f"cka_retrain_{where}" for where in ("forget", "retain", "test", *DOWNSTREAM_SETS)}
)
# Their difference to Retrain's means something only where both were measured under the same
# conditions.
MACHINE_DEPENDENT = frozenset(
    {"unlearning_seconds", "prepared_seconds", "prepared_for_request_seconds", "peak_memory_bytes"}
)
