"""Which metric is which function of the workings.

The numbers themselves are plain functions in accuracy.py, membership.py, distance.py, cost.py and
their neighbours.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from mucore.catalog.metrics.representation import DOWNSTREAM_SETS
from mucore.errors import BadValue
from mucore.metrics import (
    accuracy,
    cost,
    depoisoning,
    distance,
    divergence,
    efficacy,
    membership,
    nomus,
    representation,
    retention,
)
from mucore.metrics.inputs import Workings
from mucore.metrics.matching import paired_logits
from mucore.outputs import SplitOutputs, answers, probabilities
from mucore.scenarios.poison import flipped_classes

PROBE_PER_CLASS = 200  # training samples of each class that a linear probe learns from


def _paired_answers(first: SplitOutputs, second: SplitOutputs) -> list[np.ndarray]:
    return [
        answers(probabilities(logits, first.task), first.task)
        for logits in paired_logits(first, second)
    ]


def _js_divergence(w: Workings) -> float:
    unlearned, retrained = _paired_answers(*w.beside("retrain", "forget"))
    return divergence.js_to_retrain(unlearned=unlearned, retrained=retrained)


def _zrf(w: Workings) -> float:
    assert w.probed.incompetent is not None
    unlearned, incompetent = _paired_answers(w.split("forget"), w.probed.incompetent)
    return divergence.zrf(unlearned=unlearned, incompetent=incompetent)


def _linear_probe(w: Workings) -> float:
    (forgotten, gone), (retained, kept), (test, asked) = (
        w.features(name) for name in ("forget", "retain", "test")
    )
    features, labels = np.concatenate([forgotten, retained]), np.concatenate([gone, kept])
    # As many of each class, so that the probe has no leaning of its own.
    rows = np.concatenate(
        [np.flatnonzero(labels == each)[:PROBE_PER_CLASS] for each in np.unique(labels)]
    )
    return retention.linear_probe_accuracy(
        train=features[rows],
        train_labels=labels[rows],
        test=test,
        test_labels=asked,
        classes=np.unique(gone).tolist(),
    )


def _both_values(w: Workings, metrics: tuple[str, ...]) -> dict[str, dict[str, float]]:
    """Those of `metrics` that exist, of this model and of Retrain."""
    reference = w.evidence.retrain_metrics
    own = {name: value for name in metrics if (value := TABLE[name](w)) is not None}
    if reference is None and w.evidence.retrained is not w.evidence.outputs:
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


def _attack_success(w: Workings, *, others: bool) -> float:
    target = w.evidence.poison["target"]
    return depoisoning.attack_success(
        confusion=w.split("triggered").confusion, target=target, others=others
    )


def _attack_value(
    w: Workings, *, attack: str, field: str, forgotten_classes: bool = False
) -> float | None:
    return getattr(w.attack(attack, forgotten_classes=forgotten_classes), field)


def _attack_rows(attack: str) -> dict[str, Callable[[Workings], float | None]]:
    ids = {
        "": "efficacy",
        "_attack_accuracy": "attack_accuracy",
        "_auc": "auc",
        "_tpr_01": "tpr_01",
        "_tpr_1": "tpr_1",
    }
    rows = {
        f"mia_{attack}{suffix}": partial(_attack_value, attack=attack, field=field)
        for suffix, field in ids.items()
    }
    return {
        **rows,
        f"mia_{attack}_forgotten_classes": partial(
            _attack_value, attack=attack, field="efficacy", forgotten_classes=True
        ),
    }


def _downstream_rows(name: str) -> dict[str, Callable[[Workings], float]]:
    ckas = {
        f"cka_{model}_{name}": partial(Workings.downstream_cka, model=model, name=name)
        for model in ("retrain", "original")
    }
    return {f"knn_{name}": partial(Workings.knn, name=name), **ckas}


TABLE: dict[str, Callable[[Workings], float | None]] = {
    "ta": lambda w: accuracy.accuracy(confusion=w.split("test").confusion),
    "ra": lambda w: accuracy.accuracy(confusion=w.split("retain").confusion),
    "fa": lambda w: accuracy.accuracy(confusion=w.split("forget").confusion),
    "tfa": lambda w: accuracy.accuracy_of_classes(
        confusion=w.split("test").confusion, classes=w.evidence.forgotten_classes
    ),
    "tra": lambda w: accuracy.accuracy_of_classes(
        confusion=w.split("test").confusion, classes=w.remaining_classes
    ),
    "va": lambda w: accuracy.accuracy(confusion=w.split("validation").confusion),
    "asr": lambda w: _attack_success(w, others=False),
    "asr_others": lambda w: _attack_success(w, others=True),
    "fa_true": lambda w: accuracy.accuracy(confusion=w.split("forget_true").confusion),
    "ta_flipped": lambda w: accuracy.accuracy_of_classes(
        confusion=w.split("test").confusion,
        classes=flipped_classes(w.evidence.poison, w.evidence.classes),
    ),
    **{
        metric: function
        for attack in membership.ATTACKS
        for metric, function in _attack_rows(attack).items()
    },
    "l2": lambda w: distance.l2(**w.both_weights),
    "l2_normalised": lambda w: distance.l2_normalised(**w.both_weights),
    **{
        f"cka_{model}_{split}": partial(Workings.cka, model=model, split=split)
        for model in ("retrain", "original")
        for split in ("forget", "retain", "test")
    },
    "js_divergence": _js_divergence,
    "zrf": _zrf,
    "linear_probe": _linear_probe,
    "knn_accuracy": lambda w: float(np.mean([w.knn(name) for name in w.downstream])),
    "agr": lambda w: w.agr,
    "h_lr": lambda w: representation.h_lr(
        agl=representation.agl(**_both_values(w, representation.CLASS_ACCURACIES)), agr=w.agr
    ),
    **{
        metric: function
        for name in DOWNSTREAM_SETS
        for metric, function in _downstream_rows(name).items()
    },
    "top2": lambda w: accuracy.top_accuracy(
        logits=w.split("test").logits, labels=w.split("test").labels, k=2
    ),
    "forgetting_score": lambda w: w.forgetting_score,
    "nomus": lambda w: nomus.nomus(
        accuracy=accuracy.accuracy(confusion=w.split("test").confusion),
        forgetting_score=w.forgetting_score,
    ),
    "efficacy": lambda w: efficacy.log10_efficacy(squared_norms=w.gradients[0]),
    "efficacy_bound": lambda w: efficacy.log10_bound(squared_norm_of_mean=w.gradients[1]),
    "efficacy_untrained": lambda w: efficacy.log10_efficacy(squared_norms=w.untrained_gradients),
    "average_gap": lambda w: representation.average_gap(
        **_both_values(w, representation.SAMPLE_ACCURACIES), over=representation.SAMPLE_ACCURACIES
    ),
    "average_gap_classes": lambda w: representation.average_gap(
        **_both_values(w, representation.CLASS_ACCURACIES), over=representation.CLASS_ACCURACIES
    ),
    "agl": lambda w: representation.agl(**_both_values(w, representation.CLASS_ACCURACIES)),
    "rte": lambda w: cost.rte(**w.both_costs),
    "unlearning_seconds": lambda w: w.evidence.cost["seconds"],
    "prepared_seconds": lambda w: cost.prepared(cost=w.evidence.cost, what="prepared_seconds"),
    "prepared_for_request_seconds": lambda w: cost.prepared(
        cost=w.evidence.cost, what="prepared_for_request_seconds"
    ),
    "samples_read": lambda w: cost.samples_read(cost=w.evidence.cost),
    "optimizer_steps": lambda w: w.evidence.cost["steps"],
    "persistent_bytes": lambda w: w.evidence.cost["persistent_bytes"],
    "scratch_bytes": lambda w: w.evidence.cost["scratch_bytes"],
    "peak_memory_bytes": lambda w: w.evidence.cost["peak_memory_bytes"],
}

# Comparisons with Retrain already: the gap would say the same again.
RELATIVE_TO_RETRAIN = frozenset(
    {
        "l2",
        "l2_normalised",
        "rte",
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
