"""Training records: what some methods need from the training beyond its final weights.

A card names its records. A recorder rides along `engine.loop.fit` on the hooks that fit offers
anyway; it looks at batches, gradients and weights and changes none of them, so a recorded training
ends in the same bits as any other. `runner/training_records.py` replays the training of an original
with a recorder, outside every method's clock, and keeps the record beside the weights. A record is
a flat dictionary of CPU tensors by name.

- `initial`: a function that gives the network before training; regenerated from its seed, so it
  takes no space.
- `running_sum`: the sum of the updates of those steps whose batch met the forget set, which must be
  known beforehand.
- `per_step`: every step's update and the ids of its batch, for any later request.
- `final_epochs`: mean gradient and weights at the end of the last epoch but one, mean gradient of
  the last.
- `shards`: checkpoints of another training altogether, in shards and slices (blocks/shards.py); one
  record for each way to cut.
- `learning_events`: mean probability of each sample's label over the steps that learned it (RUM's
  proxy of memorisation).
- `omp`, `imp`, `synflow`: another original with few weights (blocks/pruning.py); one record for
  each share and epoch.
- `layer_moments`: second moments of the inputs of every convolution and linear layer over the
  training set (blocks/layer_moments.py).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from mucore.blocks import pruning
from mucore.blocks.shards import record_name
from mucore.catalog.cards import MethodCard
from mucore.engine.batch import Batch
from mucore.engine.losses import cross_entropy
from mucore.engine.state import hooked, state_bytes
from mucore.errors import BadValue
from mucore.runs import records_of

Record = dict[str, Tensor]


class Recorder:
    """Watches a training and changes nothing in it. A subclass overrides what it wants to see."""

    def start(self, model: nn.Module, *, epochs: int, steps: int) -> None:
        """Before the first of `steps` steps in `epochs` epochs.

        Raises `BadValue` where the training cannot be recorded.
        """

    def see(self, batch: Batch) -> None:
        """A batch is about to be learned."""

    def before_step(self, model: nn.Module) -> None:
        """Gradients are there, weights are still the old ones."""

    def after_step(self, model: nn.Module) -> None: ...

    def after_epoch(self, model: nn.Module, epoch: int) -> None:
        """After a 0-based epoch."""

    def record(self) -> Record:
        return {}

    def watch(
        self, loss: Callable[[nn.Module, Batch], Tensor]
    ) -> Callable[[nn.Module, Batch], Tensor]:
        def watched(model: nn.Module, batch: Batch) -> Tensor:
            self.see(batch)
            return loss(model, batch)

        return watched


class RunningSum(Recorder):
    """`sum/<parameter>`, added up in double precision and kept in the parameter's own; `steps`: how
    many there were, how many counted.
    """

    def __init__(self, forget: Tensor):
        self.forget = forget
        self.met = False
        self.before: Record = {}
        self.sum: Record = {}
        self.steps = [0, 0]

    def start(self, model: nn.Module, *, epochs: int, steps: int) -> None:
        self.sum = {name: torch.zeros_like(_wide(p)) for name, p in model.named_parameters()}
        self.kinds = {name: p.dtype for name, p in model.named_parameters()}

    def see(self, batch: Batch) -> None:
        self.met = bool(torch.isin(batch.ids, self.forget).any())

    def before_step(self, model: nn.Module) -> None:
        self.before = {name: _wide(p) for name, p in model.named_parameters()} if self.met else {}

    def after_step(self, model: nn.Module) -> None:
        if self.met:
            for name, p in model.named_parameters():
                self.sum[name] += _wide(p) - self.before[name]
        self.steps = [self.steps[0] + 1, self.steps[1] + self.met]

    def record(self) -> Record:
        return {f"sum/{name}": t.to("cpu", self.kinds[name]) for name, t in self.sum.items()} | {
            "steps": torch.tensor(self.steps)
        }


class PerStep(Recorder):
    """`update/<parameter>` (steps, ...) and `ids` (steps, largest batch), filled up with -1. `cap`:
    bytes it may take.
    """

    def __init__(self, cap: float):
        self.cap = cap
        self.before: Record = {}
        self.updates: dict[str, list[Tensor]] = {}
        self.ids: list[Tensor] = []

    def start(self, model: nn.Module, *, epochs: int, steps: int) -> None:
        need = steps * state_bytes(model.parameters())
        if need > self.cap:
            raise BadValue(
                f"A log of all {steps} training steps takes {need / 1e9:.3g} GB, more than the "
                f"{self.cap / 1e9:.3g} GB allowed. Use store=running_sum or store=replay, or "
                "raise disk_cap."
            )

    def see(self, batch: Batch) -> None:
        self.ids.append(batch.ids)

    def before_step(self, model: nn.Module) -> None:
        self.before = {name: p.detach().clone() for name, p in model.named_parameters()}

    def after_step(self, model: nn.Module) -> None:
        for name, p in model.named_parameters():
            self.updates.setdefault(name, []).append((p.detach() - self.before[name]).cpu())

    def record(self) -> Record:
        updates = {f"update/{name}": torch.stack(parts) for name, parts in self.updates.items()}
        return updates | {
            "ids": nn.utils.rnn.pad_sequence(self.ids, batch_first=True, padding_value=-1)
        }


class FinalEpochs(Recorder):
    """`gradient_before/`, `weights_before/`, `gradient_last/<parameter>`. The weights after the
    last epoch are the original's own.
    """

    def __init__(self) -> None:
        self.total: Record = {}
        self.count = 0
        self.epoch = 0
        self.kept: Record = {}

    def start(self, model: nn.Module, *, epochs: int, steps: int) -> None:
        if epochs < 2:
            raise BadValue(
                f"The last two epochs of training are needed, but the recipe has {epochs}. Train "
                "for 2 epochs at least."
            )
        self.epochs = epochs

    def before_step(self, model: nn.Module) -> None:
        if self.epoch < self.epochs - 2:
            return
        for name, p in model.named_parameters():
            gradient = _wide(torch.zeros_like(p) if p.grad is None else p.grad)
            self.total[name] = gradient if self.count == 0 else self.total[name] + gradient
        self.count += 1

    def after_epoch(self, model: nn.Module, epoch: int) -> None:
        self.epoch = epoch + 1
        if self.count:
            which = "last" if self.epoch == self.epochs else "before"
            for name, p in model.named_parameters():
                self.kept[f"gradient_{which}/{name}"] = (self.total[name] / self.count).to(
                    "cpu", p.dtype
                )
                if which == "before":
                    self.kept[f"weights_before/{name}"] = p.detach().cpu().clone()
        self.count = 0

    def record(self) -> Record:
        return self.kept


class LearningEvents(Recorder):
    """`confidence` (n,) float32 by sample id: the mean, over the epochs, of exp(-loss) as training
    saw the sample; NaN where it never did.

    That is the probability of its label, and for attributes the geometric mean of theirs. Training
    mode and augmented images, as in the official code, so no sample is read for it.
    """

    def __init__(self) -> None:
        self.total, self.count = torch.zeros(0, dtype=torch.float64), torch.zeros(0)

    def watch(
        self, loss: Callable[[nn.Module, Batch], Tensor]
    ) -> Callable[[nn.Module, Batch], Tensor]:
        def watched(model: nn.Module, batch: Batch) -> Tensor:
            said: list[Tensor] = []
            hook = model.register_forward_hook(
                lambda module, inputs, output: said.append(output.detach())
            )
            with hooked([hook]):
                value = loss(model, batch)
            self.add(
                batch.ids,
                torch.exp(-cross_entropy(said[0].float(), batch.y, reduction="none")).cpu(),
            )
            return value

        return watched

    def add(self, ids: Tensor, confidence: Tensor) -> None:
        more = int(ids.max()) + 1 - len(self.total)
        if more > 0:
            self.total, self.count = (
                torch.cat([t, t.new_zeros(more)]) for t in (self.total, self.count)
            )
        self.total.index_add_(0, ids, confidence.double())
        self.count.index_add_(0, ids, torch.ones(len(ids)))

    def record(self) -> Record:
        return {"confidence": (self.total / self.count).float()}


# Records that a replay of the training makes: (the ids to forget, the method's parameters) ->
# recorder.
REPLAYED: Mapping[str, Callable[[Tensor, Mapping[str, Any]], Recorder]] = {
    "running_sum": lambda forget, parameters: RunningSum(forget),
    "per_step": lambda forget, parameters: PerStep(parameters["disk_cap"] * 1e9),
    "final_epochs": lambda forget, parameters: FinalEpochs(),
    "learning_events": lambda forget, parameters: LearningEvents(),
}
PER_REQUEST = frozenset({"running_sum"})  # records that depend on the forget set
NAMES = frozenset({"initial", "layer_moments", "shards", *pruning.KINDS, *REPLAYED})


def needed(card: MethodCard, parameters: Mapping[str, Any]) -> list[str]:
    """The full names of the card's records that have to be made for these parameters."""

    def in_full(name: str) -> str:
        if name == "shards":
            return record_name(*(parameters[part] for part in ("shards", "slices", "epochs")))
        if name in pruning.KINDS:
            return pruning.record_name(name, parameters["prune"], parameters["rewind"])
        return name

    return [in_full(name) for name in records_of(card, parameters)]


def key(original: str, name: str, forget: str) -> str:
    """Under which a record is stored: 24 hexadecimal digits from the original's model key, its
    name, and the forget set if that matters.
    """
    content = {
        "original": original,
        "record": name,
        "forget": forget if name in PER_REQUEST else "",
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:24]


def named(record: Record, group: str) -> Record:
    """The tensors `<group>/<parameter>` of a record, by parameter."""
    return {
        name.removeprefix(f"{group}/"): t
        for name, t in record.items()
        if name.startswith(f"{group}/")
    }


def _wide(t: Tensor) -> Tensor:
    """A detached copy in double precision, on the CPU where the device has none."""
    return t.detach().to("cpu" if t.device.type == "mps" else t.device, torch.float64, copy=True)
