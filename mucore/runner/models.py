"""Networks of runs: loaded from the store, or made and stored, with what they cost; those that came
in a file among them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from mucore import models, training
from mucore.engine import ensemble
from mucore.engine.run import NO_CALLBACKS, Callbacks, Run
from mucore.errors import BadFile, StoreError
from mucore.models import checkpoint_pixels
from mucore.runner.device_data import DeviceData
from mucore.runs import RunSpec
from mucore.store.records import Model, Result
from mucore.store.transient_errors import awaited
from mucore.store.workers import host

Trained = tuple[nn.Module, Model]  # a network on the device, and its row in the store
MADE_ELSEWHERE = "These weights came in a file, and what it cost to make them is not known here."


class Models(DeviceData):
    """The part of a session that makes and keeps networks."""

    def original(self, spec: RunSpec, callbacks: Callbacks = NO_CALLBACKS) -> Trained:
        """The original that `spec` starts from: loaded, or trained and stored."""
        base = spec.original()
        if (found := self.load_model(base)) is not None:
            return found
        run = self.run(base, base.training_seed, callbacks)
        if base.original_hash:
            run.note(
                "The original came in a file and was not trained here. Retrain is trained by the "
                "recipe all the same."
            )
            if base.poison:
                run.note("It is taken to have been trained on the poisoned data.")
            return self.uploaded_model(base, base.original_hash, run)
        checkpoints = self.checkpoints(base)
        model, _ = training.train_original(base, run, self.splits(base), checkpoints=checkpoints)
        record = self.save_model(base, model, run, self.cost(run))
        checkpoints.discard()
        return model, record

    def load_model(self, spec: RunSpec) -> Trained | None:
        """The weights of a spec from the store, or None as `tensors`."""
        record = self.store.get_model(spec.model_key)
        state = self.tensors(record)
        if record is None or state is None:
            return None
        model = ensemble.restore(
            state, lambda: training.fresh_model(spec, self.splits(spec), 0), self.splits(spec).task
        )
        return model.to(self.device).eval(), record

    def save_model(self, spec: RunSpec, model: nn.Module, run: Run, cost: dict) -> Model:
        return self.keep(spec.model_key, spec, model.state_dict(), run, cost)

    def keep(
        self,
        key: str,
        spec: RunSpec,
        state: Mapping[str, Tensor],
        run: Run,
        cost: dict,
        **others: Any,
    ) -> Model:
        """Store tensors under a key; `others` are fields of the row that do not follow the run."""
        arrays = {name: tensor.detach().cpu().numpy() for name, tensor in state.items()}
        row = Model(
            model_key=key,
            spec=spec.model_dump(mode="json"),
            weights=self.store.artifacts.put_arrays(arrays),
            status=run.status,
            stop_reason=run.stop_reason,
            cost=cost,
            losses=tuple(run.losses),
            diagnostics=dict(run.diagnostics),
            notes=tuple(run.notes),
            device=self.device_name,
            precision=run.precision,
            created=datetime.now(UTC),
        )
        self.store.put_model(record := replace(row, **others))
        return record

    def lacks_files(self, result: Result) -> bool:
        """Whether predictions or weights that a result and its model name are gone, removed by
        another hand than `Store.gc`.
        """
        model = self.store.get_model(result.model_key)
        names = (result.outputs, model.weights if model is not None else None)
        return any(name is not None and not self.store.artifacts.exists(name) for name in names)

    def tensors(self, record: Model | None) -> dict[str, Tensor] | None:
        """Those that a row names; None where they were never made, were cleared away, or are lost
        or damaged: they are made anew then, and the numbers in the store stay.
        """
        if record is None or record.weights is None:
            return None
        try:
            arrays = self.store.artifacts.get_arrays(record.weights)
        except (BadFile, StoreError) as problem:
            if awaited(problem) is not None:
                raise
            return None
        return {name: torch.from_numpy(array) for name, array in arrays.items()}

    def uploaded_model(self, spec: RunSpec, sha256: str, run: Run) -> Trained:
        """A network with the weights of an uploaded file, stored as the model of `spec`.
        Raises `BadFile`.
        """
        file = f"a file with the hash {sha256[:12]}"
        model, found = self.given(spec, self.store.artifacts.file(sha256), f"The model in {file}")
        for note in (f"Weights from {file}.", *found.notes):
            run.note(note)
        cost = self.cost(run) | {
            **dict.fromkeys(("seconds", "processor_seconds", "peak_memory_bytes")),
            "shared_device": False,
            "missing": MADE_ELSEWHERE,
        }
        return model.to(self.device).eval(), self.save_model(spec, model, run, cost)

    def given(self, spec: RunSpec, path: Path, file: str) -> tuple[nn.Module, models.Checkpoint]:
        """A network of the spec with the weights in a file, which people call `file`; and what was
        read. Raises `BadFile`, also for weights that were trained on other inputs.
        """
        model, train = training.fresh_model(spec, self.splits(spec), 0), self.samples(spec, "train")
        return model, checkpoint_pixels.loaded(path, model, train, spec.recipe.preprocess, file)

    def cost(self, run: Run) -> dict:
        """A run's cost as the store keeps it, with what decides whether two timings compare."""
        cost = vars(run.cost) | {"reads": dict(run.cost.reads)}
        if run.device.type != "cpu":
            cost["processor_seconds"] = None
        return cost | {
            "device": self.device_name,
            "precision": run.precision,
            "threads": torch.get_num_threads(),
            "shared_device": self.gpu_share < 1 or self._has_company(),
        }

    def _has_company(self) -> bool:
        """Whether another worker computes on this device, too, by what the store knows."""
        busy = [each for each in self.store.workers() if each.state == "busy"]
        here = [each for each in busy if each.id.startswith(f"{host()}-")]
        return sum(each.facts.get("device_id") == self.device_id for each in here) > 1

    def checkpoints(self, spec: RunSpec) -> training.DiskCheckpoints:
        path = self.store.home / "checkpoints" / f"{spec.model_key}.pt"
        return training.DiskCheckpoints(path, written=self.on_checkpoint)
