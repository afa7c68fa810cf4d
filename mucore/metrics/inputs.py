"""What a metric may look at, and the intermediate results that several metrics share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from mucore.errors import BadValue
from mucore.metrics import membership, nomus, representation
from mucore.metrics.gradient_norms import GradientNorms
from mucore.metrics.matching import paired_features
from mucore.outputs import DOWNSTREAM, Outputs, SplitOutputs, cross_entropy, probabilities
from mucore.store.rows import Measured


@dataclass(frozen=True, kw_only=True, eq=False)
class MetricInputs:
    """Everything a metric may look at. Weights are trainable parameters by name; cost mappings are
    as in cost.py.

    `outputs` has the splits forget, retain, validation and test; for the original's training job
    train, validation and test. What is None could not be had, and the metrics that need it say so;
    a cost that nobody knows has a sentence under `missing`.
    """

    outputs: Outputs
    # the original model's, on the same splits and, as it was trained, on `train`
    original: Outputs | None
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
    # `RunSpec.poison`; the outputs then have its splits too
    poison: Mapping[str, Any] = field(default_factory=dict)
    gradient_norms: GradientNorms | None = None


class PreparedInputs:
    """What a metric is a function of: `raw`, and the intermediate results that several metrics
    share, each computed once.
    """

    def __init__(self, raw: MetricInputs):
        self.raw = raw
        self._probabilities: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self._attacks: dict[tuple[str, bool], membership.Attacked] = {}
        self._elsewhere: dict[tuple[str, str], float] = {}

    def split(self, name: str) -> SplitOutputs:
        """A split by name; `retain` is the whole training set where nothing was forgotten."""
        outputs = self.raw.outputs
        name = "train" if name == "retain" and "retain" not in outputs else name
        if name not in outputs:
            raise BadValue(
                f"This metric needs the predictions on the {name} set, but they were not kept."
            )
        return outputs[name]

    def predictions(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """(probabilities, labels) of a split in the order of its sample ids, so that no draw
        depends on how a file is sorted.
        """
        if name not in self._probabilities:
            split = self.split(name)
            order = np.argsort(split.ids, kind="stable")
            self._probabilities[name] = (
                probabilities(split.logits[order], split.task),
                split.labels[order],
            )
        return self._probabilities[name]

    def attack(self, name: str, *, forgotten_classes: bool = False) -> membership.Attacked:
        """One attack with retained samples as members and the test set, or its forgotten classes
        alone, as non-members.
        """
        key = name, forgotten_classes
        if key not in self._attacks:
            nonmembers = self.predictions("test")
            if forgotten_classes:
                chosen = np.isin(nonmembers[1], self.raw.forgotten_classes)
                nonmembers = nonmembers[0][chosen], nonmembers[1][chosen]
            members = self.predictions("retain")
            self._attacks[key] = membership.run_attack(
                name,
                forget=self.predictions("forget") if "forget" in self.raw.outputs else None,
                members=members,
                nonmembers=nonmembers,
                split=membership.split_attack_data(
                    members=len(members[1]),
                    nonmembers=len(nonmembers[1]),
                    cap=self.raw.mia_samples,
                    evaluation_seed=self.raw.evaluation_seed,
                ),
            )
        return self._attacks[key]

    def beside(self, model: str, name: str) -> tuple[SplitOutputs, SplitOutputs]:
        """A split as this model sees it, and as "retrain" or "original" does."""
        outputs = self.raw.retrained if model == "retrain" else self.raw.original
        if outputs is None or name not in outputs:
            other = "Retrain" if model == "retrain" else "the original"
            raise BadValue(
                f"This compares with {other} on the {name} set, but {other} has no result or its "
                "predictions were removed."
            )
        return self.split(name), outputs[name]

    def features(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """(features, labels) of a split's samples that have features, in the order of their ids."""
        return _features(self.split(name))

    @cached_property
    def forgetting_score(self) -> float:
        """|M - 0.5| of the attack on the losses of forgotten and unseen persons."""
        if "unseen" not in self.raw.outputs:
            raise BadValue(
                "This compares forgotten persons with persons nobody has seen, but the data set "
                "has no images of such persons."
            )
        losses = {}
        for name in ("forget", "unseen"):
            split = self.split(name)
            losses[name] = cross_entropy(split.logits, split.labels)[
                np.argsort(split.ids, kind="stable")
            ]
        found = nomus.attack_accuracy(**losses, evaluation_seed=self.raw.evaluation_seed)
        return nomus.forgetting_score(attack_accuracy=found)

    @property
    def downstream(self) -> list[str]:
        """Names of the downstream sets that were looked at, sorted."""
        names = [
            name.removeprefix(DOWNSTREAM)
            for name in self.raw.outputs
            if name.startswith(DOWNSTREAM)
        ]
        return sorted({name.rpartition("/")[0] for name in names})

    def looked_at(self, name: str) -> bool:
        """Whether the downstream set was looked at; any of them for ""."""
        return name in self.downstream if name else bool(self.downstream)

    def cka(self, *, model: str, split: str) -> float:
        """Unbiased CKA to "retrain" or to "original" on a split."""
        return representation.linear_cka(
            *paired_features(*self.beside(model, split)), unbiased=True
        )

    def knn(self, name: str) -> float:
        """k-NN accuracy on one downstream set."""
        if ("knn", name) not in self._elsewhere:
            parts = [self.split(f"{DOWNSTREAM}{name}/{part}") for part in ("train", "test")]
            self._elsewhere["knn", name] = _knn_accuracy(*parts)
        return self._elsewhere["knn", name]

    def downstream_cka(self, model: str, name: str) -> float:
        """Unbiased CKA to "retrain" or to "original" on the test images of one downstream set."""
        if (model, name) not in self._elsewhere:
            self._elsewhere[model, name] = self.cka(model=model, split=f"{DOWNSTREAM}{name}/test")
        return self._elsewhere[model, name]

    @cached_property
    def agr(self) -> float:
        gaps = {}
        for name in self.downstream:
            retrained = _knn_accuracy(
                *(
                    self.beside("retrain", f"{DOWNSTREAM}{name}/{part}")[1]
                    for part in ("train", "test")
                )
            )
            gaps[name] = abs(self.knn(name) - retrained)
        return representation.agr(
            knn_gaps=gaps, ckas={name: self.downstream_cka("retrain", name) for name in gaps}
        )

    @property
    def gradient_norms(self) -> GradientNorms:
        if self.raw.gradient_norms is None:
            raise BadValue(
                "This is measured on the model itself, but its weights were removed before it "
                "could be."
            )
        return self.raw.gradient_norms

    @property
    def gradients(self) -> tuple[np.ndarray, float]:
        """Squared norms of the forgotten samples' gradients, and that of their mean."""
        each, mean = self.gradient_norms.squared_norms, self.gradient_norms.squared_norm_of_mean
        if each is None or mean is None:
            raise BadValue(self.gradient_norms.missing)
        return each, mean

    @property
    def untrained_gradients(self) -> np.ndarray:
        """Squared norms of the forgotten samples' gradients in the network before training."""
        if self.gradient_norms.untrained_squared_norms is None:
            raise BadValue(
                self.gradient_norms.missing or "The network before training was not looked at."
            )
        return self.gradient_norms.untrained_squared_norms

    @cached_property
    def remaining_classes(self) -> list[int]:
        return [c for c in range(self.raw.classes) if c not in self.raw.forgotten_classes]

    @property
    def both_weights(self) -> dict[str, Mapping[str, np.ndarray]]:
        unlearned, retrained = self.raw.weights, self.raw.retrained_weights
        if unlearned is None:
            raise BadValue(
                "There is no single set of weights to compare: the model is an ensemble, or its "
                "weights were removed."
            )
        if retrained is None:
            raise BadValue(
                "Weights are compared with Retrain's, but Retrain has no result or its weights "
                "were removed. Run Retrain."
            )
        return {"unlearned": unlearned, "retrained": retrained}

    @property
    def both_costs(self) -> dict[str, Mapping[str, Any]]:
        if self.raw.retrain_cost is None:
            raise BadValue(
                "Time is compared with Retrain's, but Retrain has no result yet. Run Retrain."
            )
        return {"unlearned": self.raw.cost, "retrained": self.raw.retrain_cost}


def _features(split: SplitOutputs) -> tuple[np.ndarray, np.ndarray]:
    if split.features is None:
        raise BadValue(
            "This needs the features before the last layer, but the model has none: it is an "
            "ensemble."
        )
    order = np.argsort(split.ids[: len(split.features)], kind="stable")
    return split.features[order], split.labels[order]


def _knn_accuracy(train: SplitOutputs, test: SplitOutputs) -> float:
    (known, classes), (asked, labels) = _features(train), _features(test)
    return representation.knn_accuracy(
        train=known, train_labels=classes, test=asked, test_labels=labels
    )
