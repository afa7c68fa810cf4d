"""Data on the device, the original model, the forget set: what runs share, made once a process or read from the store."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np
import torch
from torch import nn

from mucore import catalog, datasets, recorders, scenarios, training
from mucore.engine import ensemble, shards
from mucore.engine.collect import collect
from mucore.engine.data import Samples, UnlearningData, on_device
from mucore.engine.device import describe, resolve_device, resolve_precision
from mucore.engine.moments import layer_moments
from mucore.engine.run import ProgressCallback, Run, state_bytes
from mucore.errors import BadFile, BadValue, StoreError
from mucore.metrics.accuracy import accuracy
from mucore.outputs import cross_entropy
from mucore.random import stream_seed
from mucore.recorders import Record
from mucore.spec import RunSpec
from mucore.store import Store
from mucore.store.records import Model


@dataclass(frozen=True, eq=False)
class ForgetSet:
    """A scenario applied: sorted sample ids, their hash, and the classes that go entirely."""

    ids: np.ndarray
    hash: str
    classes: tuple[int, ...]


class Session:
    """One process's view of store and device. Keeps the last data set on the device; everything else comes from the store."""

    def __init__(self, store: Store, device: str = "auto"):
        self.store = store
        self.device = resolve_device(device)
        self.device_name = describe(self.device)
        self._splits: datasets.Splits | None = None
        self._samples: dict[str, Samples] = {}
        self._losses: tuple[str, np.ndarray] | None = None

    def run(self, spec: RunSpec, seed: int, on_progress: ProgressCallback | None, cancelled: Callable[[], bool] | None) -> Run:
        precision = resolve_precision(spec.recipe.precision, self.device)
        return Run(seed=seed, device=self.device, precision=precision, on_progress=on_progress, cancelled=cancelled)

    def splits(self, spec: RunSpec) -> datasets.Splits:
        if self._splits is None or self._splits.name != spec.dataset or (spec.data_hash and self._splits.data_hash != spec.data_hash):
            self._splits, self._samples, self._losses = None, {}, None  # free the device before the next set comes
            splits = datasets.load(spec.dataset)
            if spec.data_hash and splits.data_hash != spec.data_hash:
                raise BadFile(
                    f"The files of {spec.dataset} have changed since this run was planned. Plan it again to run on what is there now."
                )
            self._splits = splits
            self._samples = {name: on_device(splits, name, self.device) for name in ("train", "validation", "test")}
        return self._splits

    def samples(self, spec: RunSpec, name: str) -> Samples:
        self.splits(spec)
        return self._samples[name]

    def checkpoints(self, spec: RunSpec) -> training.DiskCheckpoints:
        return training.DiskCheckpoints(self.store.home / "checkpoints" / f"{spec.model_key}.safetensors")

    # -- models

    def load_model(self, spec: RunSpec) -> tuple[nn.Module, Model] | None:
        """The weights of a spec from the store, or None where they were never made or have been cleared away."""
        record = self.store.get_model(spec.model_key)
        if record is None or record.weights is None:
            return None
        try:
            state = {name: torch.from_numpy(array) for name, array in self.store.artifacts.get_arrays(record.weights).items()}
        except (BadFile, StoreError):  # a lost or damaged file is computed anew; the numbers in the store stay
            return None
        model = ensemble.restore(state, lambda: training.fresh_model(spec, self.splits(spec), 0))
        return model.to(self.device).eval(), record

    def save_model(self, spec: RunSpec, model: nn.Module, run: Run, cost: dict) -> Model:
        arrays = {name: t.detach().cpu().numpy() for name, t in model.state_dict().items()}
        record = Model(
            model_key=spec.model_key,
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
        self.store.put_model(record)
        return record

    def original(
        self, spec: RunSpec, on_progress: ProgressCallback | None, cancelled: Callable[[], bool] | None
    ) -> tuple[nn.Module, Model]:
        """The original that `spec` starts from: loaded, or trained and stored."""
        base = spec.original()
        if (found := self.load_model(base)) is not None:
            return found
        run = self.run(base, base.training_seed, on_progress, cancelled)
        checkpoints = self.checkpoints(base)
        model, _ = training.train_original(base, run, self.splits(base), checkpoints=checkpoints)
        record = self.save_model(base, model, run, self.cost(run))
        checkpoints.discard()
        return model, record

    # -- training records

    def records(
        self,
        spec: RunSpec,
        original: nn.Module,
        forget: ForgetSet,
        run: Run,
        on_progress: ProgressCallback | None,
        cancelled: Callable[[], bool] | None,
    ) -> dict[str, Record]:
        """The records that the spec's method needs: loaded, or made and stored, in no method's time. `run` gets a note of what they are."""
        found = {}
        for name in recorders.needed(catalog.method(spec.method), spec.parameters):
            found[name], made = self._record(spec, name, original, forget, on_progress, cancelled)
            run.note(
                f"Training record {name}: {state_bytes(found[name].values()) / 1e6:.3g} MB, made in {made.cost['seconds']:.3g} s outside "
                "this run's clock and kept."
            )
            if name.startswith("shards/"):
                self._tell_before(spec, found[name], forget, run)
        return found

    def _record(
        self,
        spec: RunSpec,
        name: str,
        original: nn.Module,
        forget: ForgetSet,
        on_progress: ProgressCallback | None,
        cancelled: Callable[[], bool] | None,
    ) -> tuple[Record, Model]:
        base = spec.original()
        key = recorders.key(base.model_key, name, forget.hash)
        kept = self.store.get_model(key)
        if kept is not None and kept.weights is not None:
            with contextlib.suppress(BadFile, StoreError):  # a lost or damaged file is made anew
                arrays = self.store.artifacts.get_arrays(kept.weights)
                return {part: torch.from_numpy(array) for part, array in arrays.items()}, kept
        run = self.run(base, base.training_seed, on_progress, cancelled)
        if name == "layer_moments":
            with run.clock():
                record = layer_moments(original, self.samples(spec, "train"), run)
        elif name.startswith("shards/"):
            with run.clock():
                record = self._sharded(spec).train_all(self.samples(spec, "train"), run)
        else:
            trained = self.store.get_model(base.model_key)
            recorder = recorders.REPLAYED[name](torch.from_numpy(forget.ids), spec.parameters)
            with _threads(trained.cost.get("threads") if trained else None):
                replayed, record = training.train_original(base, run, self.splits(base), recorder=recorder)
            training.check_replay(replayed, original)
        kept = Model(
            model_key=key,
            spec=base.model_dump(mode="json"),
            weights=self.store.artifacts.put_arrays({part: t.cpu().numpy() for part, t in record.items()}),
            status="ok",
            stop_reason=None,
            cost=self.cost(run),
            losses=(),
            diagnostics={},
            notes=(f"training record {name}",),
            device=self.device_name,
            precision=run.precision,
            created=datetime.now(UTC),
        )
        self.store.put_model(kept)
        return {part: t.cpu() for part, t in record.items()}, kept

    def _sharded(self, spec: RunSpec) -> shards.Sharded:
        """How the shards of a spec's method are trained."""
        splits, values = self.splits(spec), spec.parameters
        return shards.Sharded(
            parts=shards.partition(splits.train.ids, values["shards"], values["slices"], spec.training_seed),
            epochs=spec.recipe.epochs if values["epochs"] is None else values["epochs"],
            recipe=spec.recipe,
            fresh_model=lambda seed: training.fresh_model(spec, splits, seed).to(self.device),
            training_seed=spec.training_seed,
        )

    def _tell_before(self, spec: RunSpec, record: Record, forget: ForgetSet, run: Run) -> None:
        """Note how the ensemble did before the request: it is the original of its method, and not the one of the other rows."""
        before = self._sharded(spec).ensemble(record, spec.parameters["vote"]).to(self.device)
        train = self.samples(spec, "train")
        asked = {"ta": self.samples(spec, "test"), "fa": train[torch.isin(train.ids, torch.from_numpy(forget.ids))]}
        quiet = Run(seed=0, device=self.device)  # counted for nobody: the method does not look
        classes = self.splits(spec).classes
        found = {name: accuracy(confusion=collect(before, samples, classes, quiet).confusion) for name, samples in asked.items()}
        run.diagnostics |= {f"own_original_{name}": value for name, value in found.items()}
        run.note(
            f"Before the request this ensemble, its own original, had a test accuracy of {100 * found['ta']:.1f} % "
            f"and {100 * found['fa']:.1f} % on the forget set."
        )

    def cost(self, run: Run) -> dict:
        """A run's cost as the store keeps it, with what decides whether two timings compare."""
        cost = run.cost
        return {
            "seconds": cost.seconds,
            "steps": cost.steps,
            "reads": dict(cost.reads),
            "persistent_bytes": cost.persistent_bytes,
            "scratch_bytes": cost.scratch_bytes,
            "peak_memory_bytes": cost.peak_memory_bytes,
            "device": self.device_name,
            "precision": run.precision,
            "threads": torch.get_num_threads(),
            "shared_device": sum(worker.state == "busy" for worker in self.store.workers()) > 1,
        }

    # -- the forget set

    def forget_set(self, spec: RunSpec, original: nn.Module, run: Run) -> ForgetSet:
        """Apply the scenario to the training split. Raises `BadValue` where scenario and data do not go together."""
        assert spec.scenario is not None
        splits = self.splits(spec)
        card = catalog.scenario(spec.scenario)
        identities = splits.train.identities
        if "identities" in card.needs and identities is None:
            raise BadValue(f"The scenario {card.id} needs identities, and {spec.dataset} has none. Choose a data set with identities.")
        ids = scenarios.select(
            card.id,
            spec.scenario_parameters,
            labels=splits.train.labels.numpy(),
            ids=splits.train.ids.numpy(),
            classes=splits.classes,
            losses=self._train_losses(spec, original, run) if "losses" in card.needs else None,
            identities=None if identities is None else identities.numpy(),
        )
        return ForgetSet(ids, scenarios.forget_hash(ids), scenarios.forgotten_classes(card.id, spec.scenario_parameters))

    def _train_losses(self, spec: RunSpec, original: nn.Module, run: Run) -> np.ndarray:
        """Loss of the original on every training sample, in order; eval mode, no augmentation (MUBox, worst and best case)."""
        key = spec.original().model_key
        if self._losses is None or self._losses[0] != key:
            train = self.samples(spec, "train")
            quiet = Run(seed=0, device=self.device)  # float32, and counted for nobody: choosing the forget set is no method's cost
            outputs = collect(original, train, self.splits(spec).classes, quiet, keep=None, features=0)
            self._losses = key, cross_entropy(outputs.logits, outputs.labels)
        return self._losses[1]

    def unlearning_data(self, spec: RunSpec, forget: ForgetSet) -> UnlearningData:
        splits = self.splits(spec)
        train = self.samples(spec, "train")
        forgotten = torch.from_numpy(np.isin(splits.train.ids.numpy(), forget.ids))
        return UnlearningData(
            forget=replace(train[forgotten], role="forget"),
            retain=replace(train[~forgotten], role="retain"),
            validation=self.samples(spec, "validation"),
            classes=splits.classes,
            forgotten_classes=forget.classes,
            recipe=spec.recipe,
            fresh_model=lambda seed: training.fresh_model(spec, splits, seed).to(self.device),
            training_seed=spec.training_seed,
            record={"initial": lambda: training.fresh_model(spec, splits, stream_seed(spec.training_seed, "init"))},
        )


@contextlib.contextmanager
def _threads(count: int | None) -> Generator[None]:
    """Sums of another number of threads round otherwise, so a training is replayed with as many as it had."""
    before = torch.get_num_threads()
    torch.set_num_threads(count or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)
