"""Stored models of a run with its data, for analyses that need more than predictions. Imports
torch: kinds import this when they run.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from torch import nn

from mucore.analysis.features import result_of
from mucore.engine.collect import collect
from mucore.engine.data import Samples
from mucore.engine.ensemble import Ensemble
from mucore.errors import BadValue
from mucore.metrics.accuracy import accuracy
from mucore.rng import numpy_rng
from mucore.runner.session import Session
from mucore.runs import RunSpec, stored_spec
from mucore.store import Store


class Loaded:
    """A run's spec, its original, and its data. Raises `BadValue` where weights are gone,
    `MucoreError` where the data are.
    """

    def __init__(self, results: Store, key: str, session: Session | None = None):
        result = result_of(results, key)
        self.spec = stored_spec(result.spec)
        if self.spec.scenario is None:
            raise BadValue(
                f"The run {key} is the training of an original, before anybody asked to forget. "
                "Choose a run under a scenario."
            )
        self.session = session or Session(results)
        self.run = self.session.run(self.spec, self.spec.evaluation_seed)
        self.original = self.model(self.spec.original())
        self.forget = self.session.forget_set(self.spec, self.original, self.run)
        if self.forget.hash != result.forget_hash:
            raise BadValue(
                f"The scenario of {key} chooses other samples now, so it cannot be looked at "
                "again. Run it again."
            )
        self.data = self.session.unlearning_data(self.spec, self.forget)

    @property
    def classes(self) -> int:
        return self.session.splits(self.spec).classes

    def model(self, spec: RunSpec) -> nn.Module:
        found = self.session.load_model(spec)
        if found is None:
            raise BadValue(
                f"The weights of {spec.method} (training seed {spec.training_seed}) are not in "
                "the store: they were removed to save space, or the results came without them. "
                "Compute the run again in another home (--home)."
            )
        if isinstance(found[0], Ensemble):
            raise BadValue(
                f"{spec.method} is an ensemble of several networks, which cannot be looked at as "
                "one. Choose another run."
            )
        return found[0]

    def accuracy(self, model: nn.Module, samples: Samples) -> float:
        """Accuracy in 0..1 of a model on samples."""
        found = collect(model, samples, self.classes, self.run, keep=0, features=0)
        return accuracy(confusion=found.confusion)

    def samples(
        self, split: Literal["forget", "retain", "train", "test"], count: int, seed: int
    ) -> Samples:
        """Up to `count` samples of a split, sorted by place; the same for every model of a
        scenario.
        """
        if split == "test":
            every = self.session.samples(self.spec, "test")
        elif split == "train":
            every = self.session.samples(self.spec, "train")
        else:
            every = self.data.forget if split == "forget" else self.data.retain
        kept = np.sort(numpy_rng(seed, "evaluation_sample").permutation(len(every))[:count])
        return every[torch.from_numpy(kept)]
