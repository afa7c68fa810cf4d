"""All metrics of one run, from stored arrays: no model, no file, no device.

`measure` fills the table of a result: one `Measured` for each metric card that applies. The numbers themselves are plain functions in
accuracy.py, membership.py, distance.py and cost.py; `TABLE` says which id is which function. Values are fractions in 0..1, seconds,
bytes or counts; gap = value − value of Retrain.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from mucore import catalog
from mucore.catalog.cards import MetricCard
from mucore.catalog.metrics.experiments import EXPERIMENT
from mucore.catalog.metrics.representation import DOWNSTREAM_SETS
from mucore.errors import BadValue, MucoreError
from mucore.metrics import accuracy, cost, depoisoning, distance, divergence, efficacy, membership, nomus, representation, retention
from mucore.metrics.pairing import paired_features, paired_logits
from mucore.metrics.probed import Probed
from mucore.outputs import DOWNSTREAM, Outputs, SplitOutputs, answers, cross_entropy, probabilities
from mucore.poison import flipped_classes
from mucore.store.records import Measured

PROBE_PER_CLASS = 200  # training samples of each class that a linear probe learns from
FAILED = "The computation failed: "  # opens the error of a metric that broke, unlike one that cannot exist


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """Everything a metric may look at. Weights are trainable parameters by name; cost mappings are as in cost.py.

    `outputs` has the splits forget, retain, validation and test; for the original's training job train, validation and test. What is None
    could not be had, and the metrics that need it say so; a cost that nobody knows has a sentence under `missing`.
    """

    outputs: Outputs
    original: Outputs | None  # the original model's, on the same splits and, as it was trained, on `train`
    retrained: Outputs | None
    classes: int
    forgotten_classes: tuple[int, ...] = ()
    weights: Mapping[str, np.ndarray] | None
    original_weights: Mapping[str, np.ndarray] | None = None
    retrained_weights: Mapping[str, np.ndarray] | None
    cost: Mapping[str, Any]
    retrain_cost: Mapping[str, Any] | None
    retrain_metrics: Mapping[str, Measured] | None
    evaluation_seed: int
    mia_samples: int
    poison: Mapping[str, Any] = field(default_factory=dict)  # `RunSpec.poison`; the outputs then have its splits too
    probed: Probed | None = None


class Workings:
    """Evidence, with the intermediate results that several metrics share."""

    def __init__(self, evidence: Evidence):
        self.evidence = evidence
        self._probabilities: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self._attacks: dict[tuple[str, bool], membership.Attacked] = {}
        self._elsewhere: dict[tuple[str, str], float] = {}

    def split(self, name: str) -> SplitOutputs:
        """A split by name; `retain` is the whole training set where nothing was forgotten."""
        outputs = self.evidence.outputs
        name = "train" if name == "retain" and "retain" not in outputs else name
        if name not in outputs:
            raise BadValue(f"This metric needs the predictions on the {name} set, but they were not kept.")
        return outputs[name]

    def predictions(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """(probabilities, labels) of a split in the order of its sample ids, so that no draw depends on how a file is sorted."""
        if name not in self._probabilities:
            split = self.split(name)
            order = np.argsort(split.ids, kind="stable")
            self._probabilities[name] = probabilities(split.logits[order], split.task), split.labels[order]
        return self._probabilities[name]

    def attack(self, name: str, *, forgotten_classes: bool = False) -> membership.Attacked:
        """One attack with retained samples as members and the test set, or its forgotten classes alone, as non-members."""
        key = name, forgotten_classes
        if key not in self._attacks:
            nonmembers = self.predictions("test")
            if forgotten_classes:
                chosen = np.isin(nonmembers[1], self.evidence.forgotten_classes)
                nonmembers = nonmembers[0][chosen], nonmembers[1][chosen]
            members = self.predictions("retain")
            self._attacks[key] = membership.run_attack(
                name,
                forget=self.predictions("forget") if "forget" in self.evidence.outputs else None,
                members=members,
                nonmembers=nonmembers,
                split=membership.split_attack_data(
                    members=len(members[1]),
                    nonmembers=len(nonmembers[1]),
                    cap=self.evidence.mia_samples,
                    evaluation_seed=self.evidence.evaluation_seed,
                ),
            )
        return self._attacks[key]

    def beside(self, model: str, name: str) -> tuple[SplitOutputs, SplitOutputs]:
        """A split as this model sees it, and as "retrain" or "original" does."""
        outputs = self.evidence.retrained if model == "retrain" else self.evidence.original
        if outputs is None or name not in outputs:
            other = "Retrain" if model == "retrain" else "the original"
            raise BadValue(f"This compares with {other} on the {name} set, but {other} has no result or its predictions were removed.")
        return self.split(name), outputs[name]

    def both_values(self, metrics: tuple[str, ...]) -> dict[str, dict[str, float]]:
        """Those of `metrics` that exist, of this model and of Retrain."""
        reference = self.evidence.retrain_metrics
        own = {name: value for name in metrics if (value := TABLE[name](self)) is not None}
        if reference is None and self.evidence.retrained is not self.evidence.outputs:
            raise BadValue("This compares with Retrain's numbers, but Retrain has no result yet. Run Retrain.")
        if reference is None:
            return {"unlearned": own, "retrained": own}
        known = {name: entry.value for name in metrics if (entry := reference.get(name)) is not None and entry.value is not None}
        return {"unlearned": own, "retrained": known}

    def features(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """(features, labels) of a split's samples that have features, in the order of their ids."""
        return _features(self.split(name))

    @cached_property
    def forgetting_score(self) -> float:
        """|M - 0.5| of the attack on the losses of forgotten and unseen persons."""
        if "unseen" not in self.evidence.outputs:
            raise BadValue("This compares forgotten persons with persons nobody has seen, but the data set has no images of such persons.")
        losses = {}
        for name in ("forget", "unseen"):
            split = self.split(name)
            losses[name] = cross_entropy(split.logits, split.labels)[np.argsort(split.ids, kind="stable")]
        found = nomus.attack_accuracy(**losses, evaluation_seed=self.evidence.evaluation_seed)
        return nomus.forgetting_score(attack_accuracy=found)

    @property
    def downstream(self) -> list[str]:
        """Names of the downstream sets that were looked at, sorted."""
        names = [name.removeprefix(DOWNSTREAM) for name in self.evidence.outputs if name.startswith(DOWNSTREAM)]
        return sorted({name.rpartition("/")[0] for name in names})

    def looked_at(self, name: str) -> bool:
        """Whether the downstream set was looked at; any of them for ""."""
        return name in self.downstream if name else bool(self.downstream)

    def knn(self, name: str) -> float:
        """k-NN accuracy on one downstream set."""
        if ("knn", name) not in self._elsewhere:
            parts = [self.split(f"{DOWNSTREAM}{name}/{part}") for part in ("train", "test")]
            self._elsewhere["knn", name] = _knn_accuracy(*parts)
        return self._elsewhere["knn", name]

    def downstream_cka(self, model: str, name: str) -> float:
        """CKA to "retrain" or to "original" on the test images of one downstream set."""
        if (model, name) not in self._elsewhere:
            self._elsewhere[model, name] = _cka(self, model=model, split=f"{DOWNSTREAM}{name}/test")
        return self._elsewhere[model, name]

    @cached_property
    def agr(self) -> float:
        gaps = {}
        for name in self.downstream:
            retrained = _knn_accuracy(*(self.beside("retrain", f"{DOWNSTREAM}{name}/{part}")[1] for part in ("train", "test")))
            gaps[name] = representation.knn_gap(unlearned=self.knn(name), retrained=retrained)
        return representation.agr(knn_gaps=gaps, ckas={name: self.downstream_cka("retrain", name) for name in gaps})

    @property
    def probed(self) -> Probed:
        if self.evidence.probed is None:
            raise BadValue("This is measured on the model itself, but its weights were removed before it could be.")
        return self.evidence.probed

    @property
    def gradients(self) -> tuple[np.ndarray, float]:
        """Squared norms of the forgotten samples' gradients, and that of their mean."""
        each, mean = self.probed.squared_norms, self.probed.squared_norm_of_mean
        if each is None or mean is None:
            raise BadValue(self.probed.missing)
        return each, mean

    @property
    def untrained_gradients(self) -> np.ndarray:
        """Squared norms of the forgotten samples' gradients in the network before training."""
        if self.probed.untrained_squared_norms is None:
            raise BadValue(self.probed.missing or "The network before training was not looked at.")
        return self.probed.untrained_squared_norms

    @cached_property
    def remaining_classes(self) -> list[int]:
        return [c for c in range(self.evidence.classes) if c not in self.evidence.forgotten_classes]

    @property
    def both_weights(self) -> dict[str, Mapping[str, np.ndarray]]:
        unlearned, retrained = self.evidence.weights, self.evidence.retrained_weights
        if unlearned is None:
            raise BadValue("There is no single set of weights to compare: the model is an ensemble, or its weights were removed.")
        if retrained is None:
            raise BadValue("Weights are compared with Retrain's, but Retrain has no result or its weights were removed. Run Retrain.")
        return {"unlearned": unlearned, "retrained": retrained}

    @property
    def both_costs(self) -> dict[str, Mapping[str, Any]]:
        if self.evidence.retrain_cost is None:
            raise BadValue("Time is compared with Retrain's, but Retrain has no result yet. Run Retrain.")
        return {"unlearned": self.evidence.cost, "retrained": self.evidence.retrain_cost}


def _features(split: SplitOutputs) -> tuple[np.ndarray, np.ndarray]:
    if split.features is None:
        raise BadValue("This needs the features before the last layer, but the model has none: it is an ensemble.")
    order = np.argsort(split.ids[: len(split.features)], kind="stable")
    return split.features[order], split.labels[order]


def _knn_accuracy(train: SplitOutputs, test: SplitOutputs) -> float:
    (known, classes), (asked, labels) = _features(train), _features(test)
    return representation.knn_accuracy(train=known, train_labels=classes, test=asked, test_labels=labels)


def _cka(w: Workings, *, model: str, split: str) -> float:
    return representation.linear_cka(*paired_features(*w.beside(model, split)))


def _paired_answers(first: SplitOutputs, second: SplitOutputs) -> list[np.ndarray]:
    return [answers(probabilities(logits, first.task), first.task) for logits in paired_logits(first, second)]


def _js_divergence(w: Workings) -> float:
    unlearned, retrained = _paired_answers(*w.beside("retrain", "forget"))
    return divergence.js_to_retrain(unlearned=unlearned, retrained=retrained)


def _zrf(w: Workings) -> float:
    assert w.probed.incompetent is not None
    unlearned, incompetent = _paired_answers(w.split("forget"), w.probed.incompetent)
    return divergence.zrf(unlearned=unlearned, incompetent=incompetent)


def _linear_probe(w: Workings) -> float:
    (forgotten, gone), (retained, kept), (test, asked) = (w.features(name) for name in ("forget", "retain", "test"))
    features, labels = np.concatenate([forgotten, retained]), np.concatenate([gone, kept])
    # As many of each class, so that the probe has no leaning of its own.
    rows = np.concatenate([np.flatnonzero(labels == each)[:PROBE_PER_CLASS] for each in np.unique(labels)])
    return retention.linear_probe_accuracy(
        train=features[rows], train_labels=labels[rows], test=test, test_labels=asked, classes=np.unique(gone).tolist()
    )


def _attack_success(w: Workings, *, others: bool) -> float:
    target = w.evidence.poison["target"]
    return depoisoning.attack_success(confusion=w.split("triggered").confusion, target=target, others=others)


def _attack_value(w: Workings, *, attack: str, field: str, forgotten_classes: bool = False) -> float | None:
    return getattr(w.attack(attack, forgotten_classes=forgotten_classes), field)


def _attack_rows(attack: str) -> dict[str, Callable[[Workings], float | None]]:
    ids = {"": "efficacy", "_attack_accuracy": "attack_accuracy", "_auc": "auc", "_tpr_01": "tpr_01", "_tpr_1": "tpr_1"}
    rows = {f"mia_{attack}{suffix}": partial(_attack_value, attack=attack, field=field) for suffix, field in ids.items()}
    return {**rows, f"mia_{attack}_forgotten_classes": partial(_attack_value, attack=attack, field="efficacy", forgotten_classes=True)}


def _downstream_rows(name: str) -> dict[str, Callable[[Workings], float]]:
    ckas = {f"cka_{model}_{name}": partial(Workings.downstream_cka, model=model, name=name) for model in ("retrain", "original")}
    return {f"knn_{name}": partial(Workings.knn, name=name), **ckas}


TABLE: dict[str, Callable[[Workings], float | None]] = {
    "ta": lambda w: accuracy.accuracy(confusion=w.split("test").confusion),
    "ra": lambda w: accuracy.accuracy(confusion=w.split("retain").confusion),
    "fa": lambda w: accuracy.accuracy(confusion=w.split("forget").confusion),
    "tfa": lambda w: accuracy.accuracy_of_classes(confusion=w.split("test").confusion, classes=w.evidence.forgotten_classes),
    "tra": lambda w: accuracy.accuracy_of_classes(confusion=w.split("test").confusion, classes=w.remaining_classes),
    "va": lambda w: accuracy.accuracy(confusion=w.split("validation").confusion),
    "asr": lambda w: _attack_success(w, others=False),
    "asr_others": lambda w: _attack_success(w, others=True),
    "fa_true": lambda w: accuracy.accuracy(confusion=w.split("forget_true").confusion),
    "ta_flipped": lambda w: accuracy.accuracy_of_classes(
        confusion=w.split("test").confusion, classes=flipped_classes(w.evidence.poison, w.evidence.classes)
    ),
    **{metric: function for attack in membership.ATTACKS for metric, function in _attack_rows(attack).items()},
    "l2": lambda w: distance.l2(**w.both_weights),
    "l2_normalised": lambda w: distance.l2_normalised(**w.both_weights),
    **{
        f"cka_{model}_{split}": partial(_cka, model=model, split=split)
        for model in ("retrain", "original")
        for split in ("forget", "retain", "test")
    },
    "js_divergence": _js_divergence,
    "zrf": _zrf,
    "linear_probe": _linear_probe,
    "knn_accuracy": lambda w: float(np.mean([w.knn(name) for name in w.downstream])),
    "agr": lambda w: w.agr,
    "h_lr": lambda w: representation.h_lr(agl=representation.agl(**w.both_values(representation.CLASS_ACCURACIES)), agr=w.agr),
    **{metric: function for name in DOWNSTREAM_SETS for metric, function in _downstream_rows(name).items()},
    "top2": lambda w: accuracy.top_accuracy(logits=w.split("test").logits, labels=w.split("test").labels, k=2),
    "forgetting_score": lambda w: w.forgetting_score,
    "nomus": lambda w: nomus.nomus(accuracy=accuracy.accuracy(confusion=w.split("test").confusion), forgetting_score=w.forgetting_score),
    "efficacy": lambda w: efficacy.log10_efficacy(squared_norms=w.gradients[0]),
    "efficacy_bound": lambda w: efficacy.log10_bound(squared_norm_of_mean=w.gradients[1]),
    "efficacy_untrained": lambda w: efficacy.log10_efficacy(squared_norms=w.untrained_gradients),
    "average_gap": lambda w: representation.average_gap(
        **w.both_values(representation.SAMPLE_ACCURACIES), over=representation.SAMPLE_ACCURACIES
    ),
    "average_gap_classes": lambda w: representation.average_gap(
        **w.both_values(representation.CLASS_ACCURACIES), over=representation.CLASS_ACCURACIES
    ),
    "agl": lambda w: representation.agl(**w.both_values(representation.CLASS_ACCURACIES)),
    "rte": lambda w: cost.rte(**w.both_costs),
    "unlearning_seconds": lambda w: w.evidence.cost["seconds"],
    "prepared_seconds": lambda w: cost.prepared(cost=w.evidence.cost, what="prepared_seconds"),
    "prepared_for_request_seconds": lambda w: cost.prepared(cost=w.evidence.cost, what="prepared_for_request_seconds"),
    "samples_read": lambda w: cost.samples_read(cost=w.evidence.cost),
    "optimizer_steps": lambda w: w.evidence.cost["steps"],
    "persistent_bytes": lambda w: w.evidence.cost["persistent_bytes"],
    "scratch_bytes": lambda w: w.evidence.cost["scratch_bytes"],
    "peak_memory_bytes": lambda w: w.evidence.cost["peak_memory_bytes"],
}

# Comparisons with Retrain already: the gap would say the same again.
RELATIVE_TO_RETRAIN = frozenset(
    {"l2", "l2_normalised", "rte", "js_divergence", "average_gap", "average_gap_classes", "agl", "agr", "h_lr"}
    | {f"cka_retrain_{where}" for where in ("forget", "retain", "test", *DOWNSTREAM_SETS)}
)
# Their difference to Retrain's means something only where both were measured under the same conditions.
MACHINE_DEPENDENT = frozenset({"unlearning_seconds", "prepared_seconds", "prepared_for_request_seconds", "peak_memory_bytes"})
# What can be said about the original's training, when nobody has asked to forget yet.
OF_TRAINING = frozenset(
    {"ta", "ra", "va", "unlearning_seconds", "samples_read", "optimizer_steps", "peak_memory_bytes"}
    | {f"mia_{attack}_attack_accuracy" for attack in membership.ATTACKS}
)


def applies(card: MetricCard, *, scenario: str | None, method: str) -> bool:
    """Whether a metric says something about a run: the original row of a scenario, for one, has no cost, because nothing was unlearned."""
    if scenario is None:
        return card.id in OF_TRAINING
    if card.group == EXPERIMENT or (method == "original" and card.group == "cost"):
        return False
    if card.id == "efficacy_untrained" and method != "original":
        return False  # the same for all models of a training seed, so it is kept once
    return catalog.serves(card, scenario)


def measure(evidence: Evidence, *, scenario: str | None, method: str, seconds: dict[str, float] | None = None) -> dict[str, Measured]:
    """Every metric that applies, in the order of the cards. Never raises: what cannot be had is a `Measured` with a sentence instead.

    Into `seconds`, if given, goes what each group of cards took; what several groups share counts for the one that asked first.

    The reference Retrain is compared with itself: its distances are 0, its relative time 1, and it has no gaps. A Retrain of other settings
    is a method like any other.
    """
    if method == "retrain" and evidence.retrain_metrics is None:
        evidence = replace(
            evidence, retrained=evidence.outputs, retrained_weights=evidence.weights, retrain_cost=evidence.cost, retrain_metrics=None
        )
    workings = Workings(evidence)
    found: dict[str, Measured] = {}
    for card in catalog.metrics():
        if applies(card, scenario=scenario, method=method) and (card.group != "downstream" or workings.looked_at(card.downstream)):
            began = time.perf_counter()
            found[card.id] = _one(workings, card.id, has_gap=scenario is not None)
            if seconds is not None:
                seconds[card.group] = seconds.get(card.group, 0.0) + time.perf_counter() - began
    return found


def _one(workings: Workings, metric: str, *, has_gap: bool) -> Measured:
    try:
        missing = workings.evidence.cost.get("missing")
        if missing and catalog.metric(metric).group == "cost":
            raise BadValue(missing)
        value = TABLE[metric](workings)
        if value is None:
            raise BadValue("This was not recorded on the device of the run.")
        if not np.isfinite(value):
            return Measured(None, error=f"{FAILED}the value is {value}, not a number that can be shown.")
        return Measured(float(value), gap=_gap(workings.evidence, metric, float(value)) if has_gap else None)
    except MucoreError as error:
        return Measured(None, error=str(error))
    except Exception as error:  # a broken metric must not take the run's other numbers with it
        return Measured(None, error=f"{FAILED}{type(error).__name__}: {error}")


def _gap(evidence: Evidence, metric: str, value: float) -> float | None:
    reference = (evidence.retrain_metrics or {}).get(metric)
    if reference is None or reference.value is None or metric in RELATIVE_TO_RETRAIN:
        return None
    if metric in MACHINE_DEPENDENT:
        other = evidence.retrain_cost
        if other is None or not cost.comparable(unlearned=evidence.cost, retrained=other):
            return None
    return value - reference.value


def held_out(evidence: Evidence) -> int:
    """Samples that tested the attacks of `measure`, both sides together; 0 where there was no attack."""
    members = evidence.outputs.get("retain") or evidence.outputs.get("train")
    test = evidence.outputs.get("test")
    return 2 * (min(len(members), len(test), evidence.mia_samples) // 2) if members is not None and test is not None else 0
