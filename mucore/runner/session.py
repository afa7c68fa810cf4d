"""Data on the device, the original model, the forget set: what runs share, made once a process or
read from the store.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from mucore import catalog, datasets, models, training
from mucore.datasets.poisoned import poisoned
from mucore.engine import ensemble
from mucore.engine.collect import BATCH, collect
from mucore.engine.data import Samples, UnlearningData, on_device
from mucore.engine.device import describe, identity, resolve_device, resolve_precision
from mucore.engine.features import prototypes
from mucore.engine.run import NO_CALLBACKS, Callbacks, Run
from mucore.errors import BadFile, BadValue, MucoreError, StoreError
from mucore.forget_sets.identity import internal, to_rows
from mucore.forget_sets.saved import forget_hash
from mucore.outputs import DOWNSTREAM, cross_entropy
from mucore.rng import numpy_rng
from mucore.runner import checkpoint_pixels
from mucore.runner.cache import Kept
from mucore.runs import RunSpec, refuse_task
from mucore.scenarios import select
from mucore.store import Store
from mucore.store.heartbeat import host
from mucore.store.result_rows import setting_columns
from mucore.store.retry import awaited
from mucore.store.rows import Model, Result
from mucore.userfiles import weights

# of each downstream set, so that they stay a small part of an evaluation
DOWNSTREAM_SAMPLES = {"train": 1000, "test": 500}
PART = 10 * BATCH  # whole batches, so that they are what they would be at once
Trained = tuple[nn.Module, Model]  # a network on the device, and its row in the store
MADE_ELSEWHERE = "These weights came in a file, and what it cost to make them is not known here."


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


class Session:
    """One process's view of store and device. Keeps the last data set on the device; everything
    else comes from the store.
    """

    def __init__(
        self, store: Store, device: str = "auto", *, number: int = 0, gpu_share: float = 1.0
    ):
        self.store = store
        self.gpu_share = gpu_share  # of its memory; the rest is others'
        self.device = resolve_device(device, number)
        self.device_name = describe(self.device)
        self.device_id = identity(self.device)
        self.on_checkpoint: Callable[[], None] = lambda: None
        self._splits: datasets.Splits | None = None
        # the poison, and how the recipe cuts the data set
        self._division: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
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
        if (
            self._splits is None
            or self._splits.name != spec.dataset
            or self._division != (spec.poison, spec.recipe.cut())
            or (spec.data_hash and self._splits.data_hash != spec.data_hash)
        ):
            # free the device before the next set comes
            self._splits, self._samples = None, {}
            splits = datasets.load(spec.dataset, **spec.recipe.cut())
            if spec.data_hash and splits.data_hash != spec.data_hash:
                raise BadFile(
                    f"The files of {spec.dataset} have changed since this run was planned. Plan "
                    "it again to run on what is there now."
                )
            splits = poisoned(splits, spec.poison) if spec.poison else splits
            self._splits, self._division = splits, (spec.poison, spec.recipe.cut())
            self._samples = {name: on_device(splits, name, self.device) for name in splits.names}
        return self._splits

    def check_task(self, spec: RunSpec) -> None:
        """Raise `Refused` where the method or the scenario does not serve the data set's kind of
        labels.
        """
        task = self.splits(spec).task
        refuse_task(catalog.method(spec.method), task)
        if spec.scenario is not None:
            refuse_task(catalog.scenario(spec.scenario), task)

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
            kept = np.sort(numpy_rng(0, "evaluation_sample").permutation(len(samples))[:count])
            parts[f"{DOWNSTREAM}{name}/{part}"] = samples[torch.from_numpy(kept)]
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

    def checkpoints(self, spec: RunSpec) -> training.DiskCheckpoints:
        path = self.store.home / "checkpoints" / f"{spec.model_key}.pt"
        return _Checkpoints(path, self.on_checkpoint)

    # -- models

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
        record = Model(
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
        record = replace(record, **others)
        self.store.put_model(record)
        return record

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

    def uploaded_model(self, spec: RunSpec, sha256: str, run: Run) -> Trained:
        """A network with the weights of an uploaded file, stored as the model of `spec`.
        Raises `BadFile`.
        """
        file = f"a file with the hash {sha256[:12]}"
        model, found = self.given(spec, self.store.artifacts.file(sha256), f"The model in {file}")
        for note in (f"Weights from {file}.", *found.notes):
            run.note(note)
        cost = self.cost(run) | {
            "seconds": None,
            "processor_seconds": None,
            "peak_memory_bytes": None,
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
        cost = run.cost
        return {
            "seconds": cost.seconds,
            "processor_seconds": cost.processor_seconds if run.device.type == "cpu" else None,
            "steps": cost.steps,
            "reads": dict(cost.reads),
            "prepared_seconds": cost.prepared_seconds,
            "prepared_for_request_seconds": cost.prepared_for_request_seconds,
            "persistent_bytes": cost.persistent_bytes,
            "scratch_bytes": cost.scratch_bytes,
            "peak_memory_bytes": cost.peak_memory_bytes,
            "device": self.device_name,
            "precision": run.precision,
            "threads": torch.get_num_threads(),
            "shared_device": self.gpu_share < 1 or self._has_company(),
        }

    def _has_company(self) -> bool:
        """Whether another worker computes on this device, too, by what the store knows."""
        busy = [
            worker
            for worker in self.store.workers()
            if worker.state == "busy"
            and worker.id.startswith(f"{host()}-")
            and worker.facts.get("device_id") == self.device_id
        ]
        return len(busy) > 1

    # -- the forget set

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


class _Checkpoints(training.DiskCheckpoints):
    """Tells of each that is written."""

    def __init__(self, path: Path, written: Callable[[], None]):
        super().__init__(path)
        self.written = written

    def save(self, state: dict) -> bool:
        if saved := super().save(state):
            self.written()
        return saved


def elsewhere(splits: datasets.Splits) -> np.ndarray:
    """The persons of all splits but training, sorted; empty where those splits do not say."""
    others = [getattr(splits, name).identities for name in splits.names if name != "train"]
    known = [identities.numpy() for identities in others if identities is not None]
    return np.unique(np.concatenate(known)) if known else np.empty(0, np.int64)


def check_uploaded(specs: Sequence[RunSpec], files: Sequence[str], store: Store) -> None:
    """Raise `BadFile` now, not after the first training, where the weights that a user uploaded for
    some of the specs cannot be used.
    """
    session = Session(store, "cpu")
    for text in files:
        sha256, path = weights.file_hash(text, what="A run"), weights.stored(store.artifacts, text)
        needing = [s for s in specs if sha256 in (s.original_hash, *s.parameters.values())]
        for spec in needing[:1]:
            session.given(spec, path, str(path))
