"""The forget set of a run: its scenario applied to the training data, and what a method gets of
them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import nn

from mucore import catalog, datasets, training
from mucore.engine.collect import BATCH, collect
from mucore.engine.data import UnlearningData, on_device
from mucore.engine.features import prototypes
from mucore.engine.run import Run
from mucore.errors import BadValue
from mucore.forget_sets.identity import internal, to_rows
from mucore.forget_sets.saved import forget_hash
from mucore.outputs import cross_entropy
from mucore.runner.device_data import DeviceData
from mucore.runs import RunSpec
from mucore.scenarios import select

PART = 10 * BATCH  # whole batches, so that they are what they would be at once


@dataclass(frozen=True, eq=False)
class ForgetSet:
    """A scenario applied: sorted sample ids, their hash, and the classes that go entirely.

    In a sequence of requests, `before` are the ids that earlier ones had forgotten, sorted, and
    `classes_before` the classes that went with them; they are in no set any more. `gone` are all
    classes that are gone by now.
    """

    ids: np.ndarray
    hash: str
    classes: tuple[int, ...]
    before: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    classes_before: tuple[int, ...] = ()

    @property
    def gone(self) -> tuple[int, ...]:
        return tuple(sorted({*self.classes_before, *self.classes}))


class ForgetSets(DeviceData):
    """The part of a session that applies scenarios."""

    def forget_set(self, spec: RunSpec, original: nn.Module | None, run: Run) -> ForgetSet:
        """Apply the scenario to the training split, or to what earlier requests left of it. Raises
        `BadValue` where it cannot be applied.

        `original` is the one that training made, also for a later request; it may be None where no
        scenario looks at it.
        """
        assert spec.scenario is not None
        splits = self.splits(spec)
        card = catalog.scenario(spec.scenario)
        true = splits.train.labels if splits.true_labels is None else splits.true_labels
        labels, ids, identities = true.numpy(), splits.train.ids.numpy(), splits.train.identities
        losses, means, downstream = None, None, None
        if card.needs & {"losses", "downstream"}:
            assert original is not None
            if "losses" in card.needs:
                losses = self._train_losses(spec, original, run)
            else:
                means, downstream = self._prototypes(spec, original)
        earlier = self.forget_set(spec.after, original, run) if spec.after is not None else None
        before = (
            np.empty(0, np.int64) if earlier is None else np.union1d(earlier.before, earlier.ids)
        )
        parameters = internal(spec, splits)
        if len(again := np.intersect1d(before, parameters.get("ids", []))):
            raise BadValue(
                f"Sample {to_rows(splits, again[:1])[0]} was forgotten by an earlier request of "
                "the sequence. Take it out of this one."
            )
        left = ~np.isin(ids, before)
        forget = select.select(
            card.id,
            parameters,
            labels=labels[left],
            ids=ids[left],
            classes=splits.classes,
            losses=None if losses is None else losses[left],
            identities=None if identities is None else identities.numpy()[left],
            elsewhere=None if identities is None else elsewhere(splits),
            prototypes=means,
            downstream=downstream,
        )
        classes = select.forgotten_classes(card.id, labels[np.isin(ids, forget)])
        return ForgetSet(
            forget, forget_hash(forget), classes, before, () if earlier is None else earlier.gone
        )

    def unlearning_data(self, spec: RunSpec, forget: ForgetSet) -> UnlearningData:
        splits = self.splits(spec)
        train = self.samples(spec, "train")
        fresh_model, initial = training.networks(spec, splits, self.device)
        forgotten, before = (
            torch.from_numpy(np.isin(splits.train.ids.numpy(), ids))
            for ids in (forget.ids, forget.before)
        )
        validation = self.samples(spec, "validation")
        if forget.classes_before:
            validation = validation[
                ~torch.isin(validation.labels, torch.tensor(forget.classes_before))
            ]
        return UnlearningData(
            forget=replace(train[forgotten], role="forget"),
            retain=replace(train[~forgotten & ~before], role="retain"),
            validation=validation,
            classes=splits.classes,
            # a class that went before must not come back
            forgotten_classes=forget.gone if forget.classes else (),
            recipe=spec.recipe,
            fresh_model=fresh_model,
            training_seed=spec.training_seed,
            record={"initial": initial},
            task=splits.task,
            true_labels=None if splits.true_labels is None else splits.true_labels[forgotten],
            trigger=splits.trigger,
            classes_before=forget.classes_before,
        )

    def _train_losses(self, spec: RunSpec, original: nn.Module, run: Run) -> np.ndarray:
        """Loss of the original on every training sample, in order; eval mode, no augmentation
        (MUBox, worst and best case).
        """
        train = self.samples(spec, "train")
        # float32, and counted for nobody: choosing the forget set is no method's cost
        quiet = Run(seed=0, device=self.device)

        def losses() -> np.ndarray:
            found = []
            # a part at a time, since (n, C) in double precision would not fit for a million images
            for rows in torch.arange(len(train)).split(PART):
                outputs = collect(
                    original, train[rows], self.splits(spec).classes, quiet, keep=None, features=0
                )
                found.append(cross_entropy(outputs.logits, outputs.labels))
            return np.concatenate(found)

        return self.kept.get(("losses", spec.original().model_key), losses)

    def _prototypes(self, spec: RunSpec, original: nn.Module) -> tuple[np.ndarray, np.ndarray]:
        """Class means (C, d) of the original's features over the training samples, and (K, d) over
        those of the downstream set.
        """
        name = spec.scenario_parameters["downstream"]

        def means() -> tuple[np.ndarray, np.ndarray]:
            splits, other = self.splits(spec), self._alike(spec, name)
            quiet = Run(seed=0, device=self.device)
            there = on_device(other, "train", self.device)
            own = prototypes(original, self.samples(spec, "train"), splits.classes, quiet)
            far = prototypes(original, there, other.classes, quiet)[other.train.labels.unique()]
            return own.numpy(), far.numpy()

        return self.kept.get(("means", spec.original().model_key, name), means)


def elsewhere(splits: datasets.Splits) -> np.ndarray:
    """The persons of all splits but training, sorted; empty where those splits do not say."""
    others = [getattr(splits, name).identities for name in splits.names if name != "train"]
    known = [identities.numpy() for identities in others if identities is not None]
    return np.unique(np.concatenate(known)) if known else np.empty(0, np.int64)
