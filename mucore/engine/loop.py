"""`fit`: the one training loop.

It owns the optimiser (made from the model it trains), batch-norm mode, precision, batching,
progress, cancelling, counting and the guard against divergence.
A method hands in what differs: phases with their losses, an edit of the gradients, an action after
each step, a rule to stop.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import torch
from torch import Tensor, nn

from mucore.engine import graph, losses
from mucore.engine.batch import Batch
from mucore.engine.data import Samples, Source, sent
from mucore.engine.run import Run
from mucore.engine.state import copy_state, hooked, is_finite
from mucore.errors import BadValue
from mucore.runs import Recipe

BatchNorm = Literal["train", "frozen", "eval"]
# A finite copy of the weights is taken this often (in steps), so that divergence costs little and
# is never returned.
SNAPSHOT_STEPS = 25


def cross_entropy(model: nn.Module, batch: Batch) -> Tensor:
    """Mean cross-entropy of a batch; with attributes the mean over them too (engine/losses.py)."""
    return losses.cross_entropy(model(batch.x), batch.y)


def recipe_loss(samples: Samples, recipe: Recipe) -> Callable[[nn.Module, Batch], Tensor]:
    """The loss with which a recipe trains on `samples`: cross-entropy, or weighted by class.

    A batch is divided by the sum of its weights, as the competition's code does. Raises `BadValue`
    for attributes, which have no classes.
    """
    if not recipe.class_weights:
        return cross_entropy
    weights = samples.weights
    if weights is None:
        raise BadValue(
            "Class weights need a data set with one class an image, but these images have "
            "attributes. Set class_weights=false."
        )

    def weighted(model: nn.Module, batch: Batch) -> Tensor:
        return nn.functional.cross_entropy(
            model(batch.x), batch.y, weight=sent(weights, batch.x.device)
        )

    return weighted


@dataclass(frozen=True, kw_only=True)
class Phase:
    """One pass over a set inside each epoch.

    `data` is a set, or a pure function of the epoch (0-based) that gives one; it is called more
    than once for an epoch. `loss` gets the model and a batch, and a batch of `beside` as a third
    argument where that set is given; `beside` is shuffled and cycled so that each step sees a batch
    of both. `when` says in which epochs the phase takes part. `optimizer` gives the phase an
    optimiser of its own, which lasts over the epochs with its momentum and whose schedule counts
    the steps of this phase alone.
    """

    data: Source | Callable[[int], Source]
    batch_size: int
    loss: Callable[..., Tensor] = cross_entropy
    augment: bool = True
    shuffle: bool = True
    beside: Samples | None = None
    beside_batch_size: int | None = None
    when: Callable[[int], bool] = lambda epoch: True
    optimizer: Optimizer | None = None

    def at(self, epoch: int) -> Source:
        return self.data if isinstance(self.data, Source) else self.data(epoch)


@dataclass(frozen=True, kw_only=True)
class Optimizer:
    """Settings of an optimiser; `fit` makes it from a model's trainable parameters.

    `schedule` may also be a function of the 0-based epoch that gives the factor of the rate.
    """

    lr: float
    name: Literal["sgd", "adam", "adamw"] = "sgd"
    momentum: float = 0.0
    nesterov: bool = False
    weight_decay: float = 0.0
    schedule: Literal["constant", "cosine", "onecycle", "step"] | Callable[[int], float] = (
        "constant"
    )
    # epochs after which the rate is multiplied by rho (schedule "step")
    milestones: Sequence[int] = ()
    rho: float = 0.1
    floor: float = 0.0  # the factor at which the cosine ends
    grad_clip: float | None = None

    @classmethod
    def of(cls, recipe: Recipe) -> Optimizer:
        """As the recipe trains."""
        return cls(
            name=recipe.optimizer,
            lr=recipe.lr,
            momentum=recipe.momentum,
            nesterov=recipe.nesterov,
            weight_decay=recipe.weight_decay,
            schedule=recipe.schedule,
            milestones=recipe.milestones or (recipe.epochs // 2, recipe.epochs * 3 // 4),
        )

    def make(self, parameters: list[nn.Parameter], recorded: bool = False) -> torch.optim.Optimizer:
        """`recorded`: for steps that are replayed (engine/graph.py), with the rate in a tensor."""
        lr: float | Tensor = self.lr
        options: dict[str, Any] = {"weight_decay": self.weight_decay}
        if recorded:
            lr = torch.tensor(lr, device=parameters[0].device if parameters else None)
            options["fused"] = True
        if self.name == "sgd":
            nesterov = self.nesterov and self.momentum > 0
            return torch.optim.SGD(parameters, lr, self.momentum, nesterov=nesterov, **options)
        kind = torch.optim.Adam if self.name == "adam" else torch.optim.AdamW
        return kind(parameters, lr, capturable=recorded, **options)

    def factor(self, step: int, total: int, epoch: int) -> float:
        """What multiplies `lr` at a 0-based step of `total` in a 0-based epoch."""
        done = step / max(total, 1)
        if callable(self.schedule):
            return self.schedule(epoch)
        if self.schedule == "cosine":
            return self.floor + (1 - self.floor) * 0.5 * (1 + math.cos(math.pi * done))
        if self.schedule == "onecycle":  # up over the first quarter, down to zero along a cosine
            return (
                0.04 + 0.96 * done / 0.25
                if done < 0.25
                else 0.5 * (1 + math.cos(math.pi * (done - 0.25) / 0.75))
            )
        if self.schedule == "step":
            return self.rho ** sum(epoch + 1 > milestone for milestone in self.milestones)
        return 1.0


@dataclass
class _Pace:
    """An optimiser at work: its settings, and how many of its steps are done."""

    settings: Optimizer
    engine: torch.optim.Optimizer
    total: int
    step: int = 0

    def set_rate(self, epoch: int) -> None:
        rate = self.settings.lr * self.settings.factor(self.step, self.total, epoch)
        for group in self.engine.param_groups:
            held = group["lr"]
            group["lr"] = held.fill_(rate) if isinstance(held, Tensor) else rate


class Checkpoints(Protocol):
    """Where a long training keeps its state between epochs (on disk: mucore.training)."""

    every: int  # epochs

    def load(self) -> dict | None: ...
    def save(self, state: dict) -> object: ...


def fit(
    model: nn.Module,
    phases: Sequence[Phase],
    run: Run,
    *,
    epochs: int,
    optimizer: Optimizer,
    bn: BatchNorm = "train",
    edit_grads: Callable[[nn.Module], None] | None = None,
    after_step: Callable[[nn.Module], None] | None = None,
    stop: Callable[[nn.Module, int], str | None] | None = None,
    what: str = "unlearning",
    checkpoints: Checkpoints | None = None,
    watched: nn.Module | None = None,
) -> nn.Module:
    """Train `model` in place and return it in eval mode.

    Each epoch runs the phases in order; each batch is one step: loss, backward, noise,
    `edit_grads(model)`, clipping, optimiser step, `after_step(model)`. `stop(model, epoch)` is
    asked after each epoch (0-based) and ends the loop by returning a reason. Only parameters with
    `requires_grad` move; batch-norm layers without such a parameter stay in eval mode.

    `run.noise` is the standard deviation of the Gaussian noise on every gradient (Are We Truly
    Forgetting?, Figure 11, for its scale). The paper leaves open where the noise comes in: here it
    is added to the gradient of a batch, not of a sample, before masks, projections and clipping,
    which hold for it too. Nothing is clipped for its sake, so it is no guarantee of differential
    privacy.

    `watched` is what an observer of the run sees where `model` holds more than the network that
    predicts.

    A non-finite loss or weight restores the last finite snapshot, sets `run.status` to "diverged"
    and ends the loop.
    """
    run.check()  # the first optimiser of a process loads seconds' worth of PyTorch
    parameters = [p for p in model.parameters() if p.requires_grad]
    engine = optimizer.make(parameters, recorded=run.graphs)
    per_epoch = [[phase for phase in phases if phase.when(epoch)] for epoch in range(epochs)]
    shared = _Pace(optimizer, engine, 0)
    own = {
        id(phase): _Pace(phase.optimizer, phase.optimizer.make(parameters, recorded=run.graphs), 0)
        for phase in phases
        if phase.optimizer is not None
    }
    for epoch, active in enumerate(per_epoch):
        for phase in active:
            own.get(id(phase), shared).total += phase.at(epoch).steps(
                phase.batch_size, skip_single=bn == "train"
            )
    total = shared.total + sum(pace.total for pace in own.values())
    assert checkpoints is None or not own, "a checkpoint holds the state of one optimiser"
    step, first = 0, 0
    if checkpoints is not None and (state := checkpoints.load()) is not None:
        model.load_state_dict(state["model"])
        _load_optimizer(engine, state["optimizer"])
        run.restore_rng(state["rng"])
        step, first = state["step"], state["epoch"] + 1
        shared.step = step
        run.losses, run.cost.steps = list(state["losses"]), state["steps"]
        run.cost.seconds += state["seconds"]
        run.cost.processor_seconds += state["processor_seconds"]
        run.cost.reads.update(state["reads"])
        run.note(f"resumed after epoch {first} of {epochs}")
    edited = bool(run.noise) or edit_grads is not None

    def move(pace: _Pace) -> None:
        if run.noise:
            _add_noise(parameters, run)
        if edit_grads is not None:
            edit_grads(model)
        if pace.settings.grad_clip is not None:
            nn.utils.clip_grad_norm_(parameters, pace.settings.grad_clip)
        pace.engine.step()

    def step_of(phase: Phase) -> Callable[[tuple[Batch, ...], int], Tensor]:
        """Gives the loss; what edits gradients may work on the host, and comes after it."""
        pace = own.get(id(phase), shared)

        def done(batches: tuple[Batch, ...], epoch: int = 0) -> Tensor:
            pace.engine.zero_grad(set_to_none=True)
            loss = _backward(model, phase.loss, batches, run)
            if not edited:
                move(pace)
            return loss

        return graph.Recording(done, model, pace.engine, run) if run.graphs else done

    work = {id(phase): step_of(phase) for phase in phases}
    snapshot = copy_state(model)
    check_every = 1 if run.device.type == "cpu" else SNAPSHOT_STEPS
    for epoch in range(first, epochs):
        _set_mode(model, bn)
        loss_sum = torch.zeros((), device=run.device)
        steps_before = step
        for phase in per_epoch[epoch]:
            pace = own.get(id(phase), shared)
            for batches in _steps(phase, epoch, run, skip_single=bn == "train"):
                pace.set_rate(epoch)
                loss = work[id(phase)](batches, epoch)
                if edited:
                    move(pace)
                if after_step is not None:
                    after_step(model)
                step += 1
                pace.step += 1
                run.stepped(model if watched is None else watched)
                loss_sum += loss
                if step % check_every == 0 and not torch.isfinite(loss_sum):
                    return _diverged(model, snapshot, run, epoch)
                if step % SNAPSHOT_STEPS == 0:
                    if not is_finite(model):
                        return _diverged(model, snapshot, run, epoch)
                    snapshot = copy_state(model)
                run.progress(
                    f"{what}: epoch {epoch + 1} of {epochs}", step / max(total, 1), epoch=epoch
                )
        if not torch.isfinite(loss_sum) or not is_finite(model):
            return _diverged(model, snapshot, run, epoch)
        snapshot = copy_state(model)
        run.losses.append(loss_sum.item() / max(step - steps_before, 1))
        run.progress(
            f"{what}: epoch {epoch + 1} of {epochs}",
            step / max(total, 1),
            loss=run.losses[-1],
            epoch=epoch,
            force=True,
        )
        if checkpoints is not None and (epoch + 1) % checkpoints.every == 0 and epoch + 1 < epochs:
            with run.paused():
                checkpoints.save(_training_state(model, shared.engine, run, step=step, epoch=epoch))
        if stop is not None and (reason := stop(model, epoch)) is not None:
            run.stop_reason = reason
            break
    return model.eval()


def _steps(phase: Phase, epoch: int, run: Run, *, skip_single: bool) -> Iterator[tuple[Batch, ...]]:
    data = phase.at(epoch)
    options = {
        "augment": phase.augment,
        "shuffle": phase.shuffle,
        "backward": True,
        "skip_single": skip_single,
    }
    if phase.beside is None:
        for batch in data.batches(run, phase.batch_size, **options):
            yield (batch,)
        return
    size = phase.beside_batch_size or phase.batch_size
    others: Iterator[Batch] = iter(())
    for batch in data.batches(run, phase.batch_size, **options):
        other = next(others, None)
        if other is None:
            others = phase.beside.batches(run, size, **options)
            other = next(others)
        yield batch, other


def _add_noise(parameters: Sequence[nn.Parameter], run: Run) -> None:
    generator = run.rng("gradient_noise")
    for p in parameters:
        if p.grad is not None:
            drawn = torch.randn(p.shape, generator=generator).to(p.grad.dtype)
            p.grad.add_(sent(drawn, p.grad.device), alpha=run.noise)
    run.diagnostics["noisy_steps"] = run.diagnostics.get("noisy_steps", 0) + 1


def _backward(
    model: nn.Module, loss_function: Callable[..., Tensor], batches: tuple[Batch, ...], run: Run
) -> Tensor:
    """Gradients of the mean loss of a step; gives the loss, detached."""
    lone = any(len(batch) == 1 for batch in batches)
    with _lone_samples(model, run) if lone else contextlib.nullcontext(), run.autocast():
        loss = loss_function(model, *batches)
    loss.backward()
    return loss.detach()


@contextlib.contextmanager
def _lone_samples(model: nn.Module, run: Run) -> Generator[None]:
    """While open, a batch norm that meets one value a channel uses its running statistics.

    Torch would refuse to go on. A forget set of one sample is a legal request, and its batch cannot
    be made larger.
    """
    lifted: list[nn.Module] = []

    def before(module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        if module.training and inputs[0].numel() == inputs[0].shape[1]:
            run.note("batch norm used its running statistics for a batch of one sample")
            lifted.append(module.eval())

    def after(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        while lifted:
            lifted.pop().train()

    layers = [
        module for module in model.modules() if isinstance(module, nn.modules.batchnorm._BatchNorm)
    ]
    hooks = (
        hook
        for layer in layers
        for hook in (layer.register_forward_pre_hook(before), layer.register_forward_hook(after))
    )
    with hooked(hooks):
        try:
            yield
        finally:
            while lifted:
                lifted.pop().train()


def _set_mode(model: nn.Module, bn: BatchNorm) -> None:
    model.train(bn != "eval")
    for module in model.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            own = [p for p in module.parameters(recurse=False)]
            if bn == "frozen" or (own and not any(p.requires_grad for p in own)):
                module.eval()


def _diverged(model: nn.Module, snapshot: dict[str, Tensor], run: Run, epoch: int) -> nn.Module:
    model.load_state_dict(snapshot)
    run.mark(
        "diverged",
        f"the loss or the weights stopped being finite in epoch {epoch + 1}; the last finite "
        "weights were restored",
    )
    return model.eval()


def _training_state(
    model: nn.Module, engine: torch.optim.Optimizer, run: Run, *, step: int, epoch: int
) -> dict:
    return {
        "model": model.state_dict(),
        "optimizer": engine.state_dict()["state"],
        "rng": run.rng_states(),
        "step": step,
        "epoch": epoch,
        "losses": run.losses,
        "steps": run.cost.steps,
        "seconds": run.cost.seconds,
        "processor_seconds": run.cost.processor_seconds,
        "reads": dict(run.cost.reads),
    }


def _load_optimizer(engine: torch.optim.Optimizer, state: dict) -> None:
    content = engine.state_dict()
    content["state"] = state
    engine.load_state_dict(content)
    # A file has the values in the usual order. Beside weights of another layout they would be added
    # up by another kernel, and the resumed training would differ in its last bits.
    for parameter, slots in engine.state.items():
        for name, value in slots.items():
            if isinstance(value, Tensor) and value.shape == parameter.shape:
                slots[name] = torch.empty_like(parameter).copy_(value)
