"""Looks at the networks of a run while it goes on, and changes no bit of it."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from torch import nn

from mucore.engine.collect import collect
from mucore.engine.data import Samples
from mucore.engine.features import classifier_layer
from mucore.engine.run import Run
from mucore.metrics import cost
from mucore.outputs import SplitOutputs


@dataclass(frozen=True, eq=False)
class Look:
    """What a network says of each set after `steps` optimiser steps and `work`, samples read since
    the start.

    `sets` is None where its outputs were not finite.
    """

    steps: int
    work: float
    sets: Mapping[str, SplitOutputs] | None


class Watcher:
    """The observer of a run: after each number of steps in `marks` it looks at the network.

    That is whatever network is trained then; `marks` ascend. It asks a copy in eval mode, with a
    run of its own: modes, statistics of batch norms, gradients and random streams of the run stay.
    """

    def __init__(self, run: Run, sets: Mapping[str, Samples], marks: Sequence[int]):
        self.run, self.sets = run, sets
        self.marks = list(marks)  # those to come
        self.taken: list[tuple[nn.Module, Look]] = []  # each look with the network that it is of
        self._quiet = Run(seed=0, device=run.device, precision=run.precision)

    def __call__(self, model: nn.Module) -> None:
        if self.marks and self.run.cost.steps >= self.marks[0]:
            self.marks = [mark for mark in self.marks if mark > self.run.cost.steps]
            self.taken.append((model, self.look(model)))

    def look(self, model: nn.Module) -> Look:
        network = copy.deepcopy(model)
        # may be more than classes while a method is at work
        outputs = classifier_layer(network).out_features
        found = {
            name: collect(network, each, outputs, self._quiet, keep=None)
            for name, each in self.sets.items()
        }
        finite = all(
            np.isfinite(part).all()
            for each in found.values()
            for part in (each.logits, each.features)
            if part is not None
        )
        return Look(self.run.cost.steps, work(self.run), found if finite else None)

    def looks(self, returned: nn.Module, first: Look) -> list[Look]:
        """What was seen of the network that a method returned, from `first` on; the present look at
        it is the last.

        While another network was trained, this one stayed as it was. Empty between the ends where
        it was never trained itself.
        """
        found = [first]
        if any(model is returned for model, _ in self.taken):
            for model, look in self.taken:
                found.append(
                    look if model is returned else Look(look.steps, look.work, found[-1].sets)
                )
        return [*found, self.look(returned)]


def work(run: Run) -> float:
    """What a run has read so far, as `metrics.cost.work` counts it."""
    return cost.work(cost=vars(run.cost))
