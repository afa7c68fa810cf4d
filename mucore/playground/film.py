"""A run watched: copies of the network that it trains, at steps evenly apart.

The observer is the one that Replay uses (`Run.stepped`). How many steps a method takes is known
when it has ended, so copies are taken more often than needed and thinned out on the way.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

from torch import Tensor, nn

from mucore.engine.run import Run
from mucore.probes.trajectory import work


@dataclass(frozen=True, eq=False)
class Shot:
    """The network after `step` optimiser steps, when `share` of the run's work was done."""

    network: nn.Module
    step: int
    share: float


class Film:
    """The observer of `run`. `shots` are at most `most`, the first and the last among them."""

    def __init__(self, run: Run, most: int):
        assert most >= 3
        self.run, self.most, self.stride = run, most, 1
        self._taken: list[tuple[nn.Module, dict[str, Tensor], int, float]] = []

    def __call__(self, model: nn.Module) -> None:
        step = self.run.cost.steps
        if step % self.stride:
            return
        weights = {name: t.detach().clone() for name, t in model.state_dict().items()}
        self._taken.append((model, weights, step, work(self.run)))
        if len(self._taken) > 2 * self.most:
            self.stride *= 2
            self._taken = [each for each in self._taken if each[2] % self.stride == 0]

    def shots(self, first: nn.Module, returned: nn.Module) -> list[Shot]:
        """From `first`, what the run started from, to the network that it `returned`.

        Between them is the returned network alone: while another one was trained, such as a
        teacher, this one stayed as it was. None where it was never trained itself, or had other
        outputs than in the end.
        """
        total, steps = work(self.run), self.run.cost.steps
        shapes = {name: t.shape for name, t in returned.state_dict().items()}
        mine = [
            (weights, step, done)
            for model, weights, step, done in self._taken
            if model is returned
            and step < steps
            and {name: t.shape for name, t in weights.items()} == shapes
        ]
        thin = max(1, -(-len(mine) // (self.most - 2)))
        between = []
        for weights, step, done in mine[thin - 1 :: thin]:
            network = copy.deepcopy(returned)
            network.load_state_dict(weights)
            between.append(Shot(network, step, done / total if total else step / steps))
        return [Shot(first, 0, 0.0), *between, Shot(returned, steps, 1.0)]
