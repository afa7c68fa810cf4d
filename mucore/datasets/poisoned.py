"""Poisoned training data: `poisoned(load(name), poison) -> Splits`, with what evaluation and
methods may know about the poison.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mucore.datasets.splits import Split, Splits
from mucore.scenarios import poison as rules


def poisoned(splits: Splits, poison: rules.Poison) -> Splits:
    """The data set as the poisoned original sees it; the clean one is left as it is.

    Validation and test stay clean. `true_labels` are those of training before the poison; for
    `backdoor`, `triggered` is the whole test set under the patch, with its true labels, and
    `trigger` says which pixels the patch covers. Mean, deviation and `data_hash` are those of the
    clean data. Raises `BadValue` where data and poison do not go together.
    """
    train, true = splits.train, splits.train.labels
    ids = rules.poisoned_ids(poison, true.numpy(), train.ids.numpy(), splits.classes)
    chosen = np.isin(train.ids.numpy(), ids)
    labels = torch.from_numpy(rules.poisoned_labels(poison, true.numpy(), chosen, splits.classes))
    changes: dict[str, Any] = {}
    if poison["scenario"] == "backdoor":
        trigger = torch.from_numpy(rules.trigger_mask(poison, *splits.shape[1:]))
        train = replace(
            train, pixels=stamped(train.pixels, torch.from_numpy(chosen), trigger, poison["value"])
        )
        changes = {
            "trigger": trigger,
            "triggered": _triggered(splits.test, trigger, poison["value"]),
        }
    note = rules.note(poison, true.numpy(), chosen, splits.classes)
    return replace(
        splits,
        train=replace(train, labels=labels),
        true_labels=true,
        notes=(*splits.notes, note),
        **changes,
    )


def _triggered(split: Split, trigger: Tensor, value: int) -> Split:
    everything = torch.ones(len(split), dtype=torch.bool)
    return replace(split, pixels=stamped(split.pixels, everything, trigger, value))


def stamped(pixels: Any, chosen: Tensor, trigger: Tensor, value: int) -> Any:
    """A copy of uint8 `pixels` (n, c, h, w) in which the images `chosen` (n,) have `value` where
    `trigger` (h, w) is True.
    """
    if not isinstance(pixels, Tensor):
        return Stamped(pixels, chosen, trigger, value)
    return torch.where(
        chosen.view(-1, 1, 1, 1) & trigger, torch.tensor(value, dtype=torch.uint8), pixels
    )


@dataclass(frozen=True, eq=False)
class Stamped:
    """Images that are read from files when they are needed, and stamped then."""

    images: Any
    chosen: Tensor
    trigger: Tensor
    value: int

    def __len__(self) -> int:
        return len(self.images)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.images.shape

    def take(self, positions: Tensor) -> Tensor:
        """uint8 pixels (n, c, h, w) for int64 positions (n,)."""
        pixels = self.images.take(positions)
        chosen = self.chosen[positions.cpu()].to(pixels.device)
        return stamped(pixels, chosen, self.trigger.to(pixels.device), self.value)
