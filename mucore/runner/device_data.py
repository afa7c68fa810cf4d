"""A process's device and the data that lie on it: the last data set, as a run's recipe cuts it, and
the downstream sets that go with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import torch

from mucore import catalog, datasets
from mucore.datasets.poisoned import poisoned
from mucore.engine.data import Samples, on_device
from mucore.engine.device import describe, identity, resolve_device, resolve_precision, settle
from mucore.engine.run import NO_CALLBACKS, Callbacks, Run
from mucore.errors import BadFile, BadValue, MucoreError
from mucore.outputs import DOWNSTREAM
from mucore.rng import numpy_rng
from mucore.runner.cache import Kept
from mucore.runs import RunSpec
from mucore.store import Store
from mucore.store.result_rows import setting_columns
from mucore.store.transient_errors import awaited

# of each downstream set, so that they stay a small part of an evaluation
DOWNSTREAM_SAMPLES = {"train": 1000, "test": 500}


def some_of(samples: Samples, count: int) -> Samples:
    """Up to so many of the samples, the same ones in every run."""
    kept = np.sort(numpy_rng(0, "evaluation_sample").permutation(len(samples))[:count])
    return samples[torch.from_numpy(kept)]


class DeviceData:
    """The part of a session that holds device and data. It keeps the last data set only."""

    def __init__(
        self, store: Store, device: str = "auto", *, number: int = 0, gpu_share: float = 1.0
    ):
        self.store = store
        self.gpu_share = gpu_share  # of its memory; the rest is others'
        self.device = resolve_device(device, number)
        settle(self.device)
        self.device_name = describe(self.device)
        self.device_id = identity(self.device)
        self.on_checkpoint: Callable[[], None] = lambda: None
        self._splits: datasets.Splits | None = None
        self._of: tuple[Any, ...] = ()  # what the data set was loaded for
        self._samples: dict[str, Samples] = {}
        self.kept = Kept()

    def run(self, spec: RunSpec, seed: int, callbacks: Callbacks = NO_CALLBACKS) -> Run:
        return Run(
            seed=seed,
            device=self.device,
            precision=self._precision(spec),
            on_progress=callbacks.on_progress,
            cancelled=callbacks.cancelled,
        )

    def _precision(self, spec: RunSpec) -> Literal["fp32", "bf16"]:
        """`auto` is decided once for a data set, model and recipe, by the first that is trained:
        what runs later on another machine follows, so that all that is compared has one precision.
        """
        if spec.recipe.precision == "auto":
            original = self.store.get_model(spec.original().model_key)
            found = original.precision if original is not None else self._usual_precision(spec)
            if found is not None:
                return "bf16" if found == "bf16" else "fp32"
        return resolve_precision(spec.recipe.precision, self.device)

    def _usual_precision(self, spec: RunSpec) -> str | None:
        """That of the stored results of the same data set, model and recipe, of any seed."""
        recipe = setting_columns(spec.model_dump(mode="json"))["recipe"]
        stored = self.store.summaries(dataset=spec.dataset, model=spec.model)
        alike = stored.loc[stored["recipe"] == recipe, "precision"]
        return None if alike.empty else str(alike.iloc[0])

    def splits(self, spec: RunSpec) -> datasets.Splits:
        """The data set of a spec, poisoned where its scenario poisons it. Raises `BadFile`,
        `BadValue`.
        """
        wanted = spec.dataset, spec.data_hash, spec.poison, spec.recipe.cut()
        if self._splits is None or self._of != wanted:
            # free the device before the next set comes
            self._splits, self._samples = None, {}
            splits = datasets.load(spec.dataset, **spec.recipe.cut())
            if spec.data_hash and splits.data_hash != spec.data_hash:
                raise BadFile(
                    f"The files of {spec.dataset} have changed since this run was planned. Plan "
                    "it again to run on what is there now."
                )
            splits = poisoned(splits, spec.poison) if spec.poison else splits
            self._splits, self._of = splits, wanted
            self._samples = {name: on_device(splits, name, self.device) for name in splits.names}
        return self._splits

    def samples(self, spec: RunSpec, name: str) -> Samples:
        self.splits(spec)
        samples = self._samples[name]
        return samples if spec.recipe.augment else replace(samples, natural=False)

    def downstream(self, spec: RunSpec) -> tuple[dict[str, Samples], tuple[str, ...]]:
        """Parts of the downstream sets that go with a run, by the names of their splits in
        `Outputs`, and a note of each that is missing.

        Of a scenario that names one, that one alone; else all that the data set's card names. Where
        the files are not there, a run goes on without: its numbers on other samples do not need
        them. Trouble that passes is raised.
        """
        named = spec.scenario_parameters.get("downstream")
        chosen = [named] if named else catalog.dataset(spec.dataset).downstream
        key = (spec.dataset, repr(self.splits(spec).mean), repr(self.splits(spec).std), *chosen)
        return self.kept.get(key, lambda: self._downstream(spec, chosen))

    def _downstream(
        self, spec: RunSpec, chosen: Sequence[str]
    ) -> tuple[dict[str, Samples], tuple[str, ...]]:
        found, notes = {}, []
        for name in chosen:
            try:
                found |= self._parts(spec, name)
            except MucoreError as error:
                if awaited(error) is not None:  # a note would stay with the result
                    raise
                notes.append(f"Without the downstream set {name}: {error}")
        return found, tuple(notes)

    def _parts(self, spec: RunSpec, name: str) -> dict[str, Samples]:
        other = self._alike(spec, name)
        parts = {}
        for part, count in DOWNSTREAM_SAMPLES.items():
            samples = on_device(other, part, self.device)
            parts[f"{DOWNSTREAM}{name}/{part}"] = some_of(samples, count)
        return parts

    def _alike(self, spec: RunSpec, name: str) -> datasets.Splits:
        """A downstream set, normalised as the data set of `spec` is, for that is how the network
        knows images. Raises `BadValue`.
        """
        splits, other = self.splits(spec), datasets.load(name)
        if other.shape != splits.shape:
            raise BadValue(
                f"A downstream set must have images of the shape {list(splits.shape)} of "
                f"{spec.dataset}, but those of {name} have {list(other.shape)}. Choose another."
            )
        return replace(other, mean=splits.mean, std=splits.std)
