"""What a metric is a function of, and the intermediate results that several metrics share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from mucore.errors import BadValue
from mucore.metrics import mia, nomus, representation
from mucore.outputs import DOWNSTREAM, Outputs, SplitOutputs, cross_entropy, probabilities
from mucore.store.records import Measured

T = TypeVar("T")
Arrays = tuple[np.ndarray, np.ndarray]
GRADIENTS = 500  # of the forget set, so that they stay a small part of an evaluation


@dataclass(frozen=True, kw_only=True, eq=False)
class GradientNorms:
    """What metrics need of a living model beyond one pass over the data, measured while it is at
    hand (mucore/runner/evaluate.py): of the same `GRADIENTS` forgotten samples at most the
    squared gradient norms (n,) of each, and that of their mean loss.

    `untrained_squared_norms` are those of the network before training, for the original alone.
    `incompetent` are the predictions of a network of the same kind with random weights. Where the
    gradients are None, `missing` is a sentence that says why.
    """

    squared_norms: np.ndarray | None = None
    squared_norm_of_mean: float | None = None
    untrained_squared_norms: np.ndarray | None = None
    incompetent: SplitOutputs | None = None
    missing: str = ""


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
    _kept: dict[tuple, Any] = field(default_factory=dict, init=False, repr=False)

    def _once(self, key: tuple, make: Callable[[], T]) -> T:
        """What several metrics share is computed once."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def split(self, name: str) -> SplitOutputs:
        """A split by name; `retain` is the whole training set where nothing was forgotten."""
        name = "train" if name == "retain" and "retain" not in self.outputs else name
        if name not in self.outputs:
            raise BadValue(
                f"This metric needs the predictions on the {name} set, but they were not kept."
            )
        return self.outputs[name]

    def predictions(self, name: str) -> Arrays:
        """(probabilities, labels) of a split in the order of its sample ids, so that no draw
        depends on how a file is sorted.
        """

        def make() -> Arrays:
            split = self.split(name)
            order = np.argsort(split.ids, kind="stable")
            return probabilities(split.logits[order], split.task), split.labels[order]

        return self._once(("predictions", name), make)

    def attack(self, name: str, *, forgotten_classes: bool = False) -> mia.Attacked:
        """One attack with retained samples as members and the test set, or its forgotten classes
        alone, as non-members.
        """

        def make() -> mia.Attacked:
            nonmembers = self.predictions("test")
            if forgotten_classes:
                chosen = np.isin(nonmembers[1], self.forgotten_classes)
                nonmembers = nonmembers[0][chosen], nonmembers[1][chosen]
            return mia.run_attack(
                name,
                forget=self.predictions("forget") if "forget" in self.outputs else None,
                members=self.predictions("retain"),
                nonmembers=nonmembers,
                cap=self.mia_samples,
                evaluation_seed=self.evaluation_seed,
            )

        return self._once(("attack", name, forgotten_classes), make)

    def beside(self, model: str, name: str) -> tuple[SplitOutputs, SplitOutputs]:
        """A split as this model sees it, and as "retrain" or "original" does."""
        outputs = self.retrained if model == "retrain" else self.original
        if outputs is None or name not in outputs:
            other = "Retrain" if model == "retrain" else "the original"
            raise BadValue(
                f"This compares with {other} on the {name} set, but {other} has no result or its "
                "predictions were removed."
            )
        return self.split(name), outputs[name]

    @cached_property
    def forgetting_score(self) -> float:
        """|M - 0.5| of the attack on the losses of forgotten and unseen persons."""
        if "unseen" not in self.outputs:
            raise BadValue(
                "This compares forgotten persons with persons nobody has seen, but the data set "
                "has no images of such persons."
            )
        losses = {}
        for name in ("forget", "unseen"):
            split = self.split(name)
            order = np.argsort(split.ids, kind="stable")
            losses[name] = cross_entropy(split.logits, split.labels)[order]
        found = nomus.attack_accuracy(**losses, evaluation_seed=self.evaluation_seed)
        return nomus.forgetting_score(attack_accuracy=found)

    @property
    def downstream(self) -> list[str]:
        """Names of the downstream sets that were looked at, sorted."""
        parts = [name for name in self.outputs if name.startswith(DOWNSTREAM)]
        return sorted({name.removeprefix(DOWNSTREAM).rpartition("/")[0] for name in parts})

    def looked_at(self, name: str) -> bool:
        """Whether the downstream set was looked at; any of them for ""."""
        return name in self.downstream if name else bool(self.downstream)

    def cka(self, *, model: str, split: str) -> float:
        """Unbiased CKA to "retrain" or to "original" on a split."""
        pair = self.beside(model, split)
        return self._once(
            ("cka", model, split), lambda: representation.linear_cka(*paired_features(*pair))
        )

    def knn(self, name: str) -> float:
        """k-NN accuracy on one downstream set."""
        parts = [self.split(f"{DOWNSTREAM}{name}/{part}") for part in ("train", "test")]
        return self._once(("knn", name), lambda: _knn_accuracy(*parts))

    @cached_property
    def agr(self) -> float:
        gaps, ckas = {}, {}
        for name in self.downstream:
            parts = [f"{DOWNSTREAM}{name}/{part}" for part in ("train", "test")]
            retrained = _knn_accuracy(*(self.beside("retrain", part)[1] for part in parts))
            gaps[name] = abs(self.knn(name) - retrained)
            ckas[name] = self.cka(model="retrain", split=parts[1])
        return representation.agr(knn_gaps=gaps, ckas=ckas)

    @property
    def living(self) -> GradientNorms:
        """What was measured on the model itself."""
        if self.gradient_norms is None:
            raise BadValue(
                "This is measured on the model itself, but its weights were removed before it "
                "could be."
            )
        return self.gradient_norms

    @property
    def both_weights(self) -> dict[str, Mapping[str, np.ndarray]]:
        if self.weights is None:
            raise BadValue(
                "There is no single set of weights to compare: the model is an ensemble, or its "
                "weights were removed."
            )
        if self.retrained_weights is None:
            raise BadValue(
                "Weights are compared with Retrain's, but Retrain has no result or its weights "
                "were removed. Run Retrain."
            )
        return {"unlearned": self.weights, "retrained": self.retrained_weights}

    @property
    def both_costs(self) -> dict[str, Mapping[str, Any]]:
        if self.retrain_cost is None:
            raise BadValue(
                "Time is compared with Retrain's, but Retrain has no result yet. Run Retrain."
            )
        return {"unlearned": self.cost, "retrained": self.retrain_cost}


def features(split: SplitOutputs) -> Arrays:
    """(features, labels) of a split's samples that have features, in the order of their ids."""
    if split.features is None:
        raise BadValue(
            "This needs the features before the last layer, but the model has none: it is an "
            "ensemble."
        )
    order = np.argsort(split.ids[: len(split.features)], kind="stable")
    return split.features[order], split.labels[order]


def paired_features(first: SplitOutputs, second: SplitOutputs) -> Arrays:
    """Features (n, d) and (n, e) of the samples that both models have features of, in the order of
    sample ids.

    Raises `BadValue` where a model has none, or both have fewer than two samples in common.
    """
    if first.features is None or second.features is None:
        raise BadValue(
            "Features before the last layer are compared, but one of the models has none: it is "
            "an ensemble."
        )
    rows = _matched(first.ids[: len(first.features)], second.ids[: len(second.features)])
    if len(rows[0]) < 2:
        raise BadValue(
            f"Features are compared on two samples at least, but the models have {len(rows[0])} "
            "in common."
        )
    return first.features[rows[0]], second.features[rows[1]]


def paired_logits(first: SplitOutputs, second: SplitOutputs) -> Arrays:
    """Logits (n, C) of both models for the samples that both have kept, in the order of sample ids.
    Raises `BadValue` for no sample.
    """
    rows = _matched(first.ids, second.ids)
    if not len(rows[0]):
        raise BadValue(
            "Predictions are compared sample by sample, but the models have no sample in common."
        )
    return first.logits[rows[0]], second.logits[rows[1]]


def _matched(first: np.ndarray, second: np.ndarray) -> Arrays:
    _, left, right = np.intersect1d(first, second, assume_unique=True, return_indices=True)
    return left, right


def _knn_accuracy(train: SplitOutputs, test: SplitOutputs) -> float:
    (known, classes), (asked, labels) = features(train), features(test)
    return representation.knn_accuracy(
        train=known, train_labels=classes, test=asked, test_labels=labels
    )
