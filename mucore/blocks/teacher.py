"""What a network said before it was changed, for a student to follow or to leave."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mucore.engine.batch import Batch
from mucore.engine.data import Samples, places_of, sent
from mucore.engine.state import frozen_copy, state_bytes


class Teacher:
    """Logits (n, C) of a batch of `sets`, as `model` gives them now: eval mode, no graph.

    Images that are the same in every epoch are asked for once, as far as all logits, float32, take
    no more room than the model; when all are known, the frozen copy of the model is let go.
    `classes` is C, `augment` whether batches come augmented, and `told` whether `learn` will be
    given all of `sets` before the first question. `bytes` is what all of this takes at most.
    """

    def __init__(
        self,
        model: nn.Module,
        *sets: Samples,
        classes: int,
        augment: bool = False,
        told: bool = False,
    ):
        self.ids = torch.cat([samples.ids for samples in sets]).unique()
        self.known = torch.zeros(len(self.ids), dtype=torch.bool)
        self.logits: Tensor | None = None
        moving = augment and any(samples.natural for samples in sets)
        size, room = 4 * classes * len(self.ids), state_bytes(model)
        self.keeps = not moving and size <= room
        told = told and self.keeps
        self.network: nn.Module | None = None if told else frozen_copy(model)
        self.bytes = (0 if told else room) + (size if self.keeps else 0)

    @torch.no_grad()
    def __call__(self, batch: Batch) -> Tensor:
        if not self.keeps:
            assert self.network is not None
            return self.network(batch.x)
        rows = torch.searchsorted(self.ids, batch.ids)
        new = ~self.known[rows]
        if new.any():
            assert self.network is not None
            x = batch.x if new.all() else batch.x[places_of(new, batch.x.device)]
            self._keep(rows[new], self.network(x))
        assert self.logits is not None
        return self.logits[sent(rows, self.logits.device)]

    def learn(self, batch: Batch, logits: Tensor) -> None:
        """Take down what the model said of plain images where somebody else has asked it."""
        if self.keeps:
            self._keep(torch.searchsorted(self.ids, batch.ids), logits.detach())

    def _keep(self, rows: Tensor, logits: Tensor) -> None:
        if self.logits is None:
            self.logits = logits.new_zeros(len(self.ids), logits.shape[1])
        self.logits[sent(rows, logits.device)] = logits
        self.known[rows] = True
        if self.known.all():
            self.network = None
