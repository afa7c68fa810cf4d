"""Originals with few weights: which are cut, and the training that keeps those at zero.

Jia, Liu, Ram et al., NeurIPS 2023, prune before they unlearn. One-shot and iterative magnitude
pruning (OMP, IMP) cut the smallest weights of a trained network, put the others back to an early
epoch and train them again (Frankle et al., 2020). SynFlow chooses before any training and without
data (Tanaka et al., NeurIPS 2020). Only convolutions are pruned, and linear layers where there are
none.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn

from mucore.blocks.masks import MaskedStep, top_fraction
from mucore.engine.data import Samples
from mucore.engine.layers import WEIGHT_LAYERS
from mucore.engine.loop import Optimizer, Phase, fit, recipe_loss
from mucore.engine.run import Run
from mucore.errors import BadValue, MucoreError
from mucore.runs import Recipe

Kind = Literal["omp", "imp", "synflow"]
KINDS: tuple[str, ...] = get_args(Kind)
IMP_ROUND = 0.2  # of what is left, in each round of IMP
SYNFLOW_ROUNDS = 100
Masks = dict[str, Tensor]


def magnitudes(model: nn.Module) -> Masks:
    """The absolute values of all weights that may be pruned, by name."""
    return {name: p.detach().abs() for name, p in _prunable(model).items()}


def cut(model: nn.Module, masks: Mapping[str, Tensor]) -> MaskedStep:
    """Put the weights outside `masks` to zero, in place; gives what holds them there in `fit`."""
    with torch.no_grad():
        for name, mask in masks.items():
            model.get_parameter(name).mul_(mask)
    return MaskedStep(model, masks)


def synflow_masks(model: nn.Module, shape: tuple[int, ...], keep: float) -> Masks:
    """True for the floor(keep · d) weights that SynFlow keeps, cut in 100 rounds of equal ratio.

    A weight's score is |θ · ∂R/∂θ| with R the sum of the logits for an image of ones of `shape` (c,
    h, w), all parameters and buffers replaced by their absolute values, in eval mode and double
    precision: R overflows float32 in deep networks.
    """
    network = copy.deepcopy(model).cpu().double().eval().requires_grad_(True)
    for t in network.state_dict().values():
        t.abs_()
    weights = _prunable(network)
    image = torch.ones(1, *shape, dtype=torch.float64)
    masks = {name: torch.ones_like(p, dtype=torch.bool) for name, p in weights.items()}
    for number in range(1, SYNFLOW_ROUNDS + 1):
        slopes = torch.autograd.grad(network(image).sum(), list(weights.values()))
        # below every score: what was cut once stays cut
        scores = {
            n: torch.where(masks[n], (p * g).detach().abs(), -1.0)
            for (n, p), g in zip(weights.items(), slopes, strict=True)
        }
        masks = top_fraction(scores, keep ** (number / SYNFLOW_ROUNDS))
        cut(network, masks)
    return masks


def record_name(kind: str, share: float, rewind: float) -> str:
    """The name of the training record that holds a sparse original."""
    return f"{kind}/{share}" if kind == "synflow" else f"{kind}/{share}/{rewind}"


@dataclass(frozen=True, kw_only=True)
class SparseTraining:
    """How a sparse original is made: `share` of the weights is cut, the others go back to the share
    `rewind` of training and go on.
    """

    kind: str
    share: float
    rewind: float
    recipe: Recipe

    @classmethod
    def of(cls, name: str, recipe: Recipe) -> SparseTraining:
        """From the name of its record."""
        kind, share, rewind = [*name.split("/"), "0"][:3]
        return cls(kind=kind, share=float(share), rewind=float(rewind), recipe=recipe)

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise BadValue(
                f"Training a sparse original by {self.kind} needs a share to prune between 0 and "
                f"1, but prune is {self.share:g}. Set prune, 0.95 in the official code, or "
                "pruning=magnitude."
            )

    @property
    def rewind_epoch(self) -> int:
        """After how many epochs weights were what they go back to; never all.

        At least one unless `rewind` is 0.
        """
        return min(
            max(bool(self.rewind), round(self.rewind * self.recipe.epochs)),
            max(0, self.recipe.epochs - 1),
        )

    def train(
        self, initial: nn.Module, dense: nn.Module, samples: Samples, run: Run
    ) -> dict[str, Tensor]:
        """`model/<tensor>` and `mask/<weight>` bool of the sparse original.

        It comes from the initial weights and the dense original.
        """
        if self.kind == "synflow":
            kept = synflow_masks(initial, samples.images.shape, 1 - self.share)
            masks = {name: mask.to(run.device) for name, mask in kept.items()}
            model = self._fit(copy.deepcopy(initial), masks, samples, run, None)
        else:
            start = _Start(self.rewind_epoch, initial, run)
            if self.rewind_epoch:
                self._fit(copy.deepcopy(initial), {}, samples, run, start)
            model = dense
            masks = {}
            shares = _kept_shares(self.kind, self.share)
            for number, keep in enumerate(shares):
                scores = {
                    name: torch.where(masks.get(name, values >= 0), values, -1.0)
                    for name, values in magnitudes(model).items()
                }
                masks = top_fraction(scores, keep)
                with run.share(number / len(shares), (number + 1) / len(shares)):
                    model = self._fit(start.model(), masks, samples, run, start)
        return {f"model/{name}": t for name, t in model.state_dict().items()} | {
            f"mask/{name}": t for name, t in masks.items()
        }

    def _fit(
        self, model: nn.Module, masks: Masks, samples: Samples, run: Run, start: _Start | None
    ) -> nn.Module:
        """Train by the recipe with the cut weights at zero: from `start` to the end, or up to
        `start` where it has nothing yet.
        """
        recipe = self.recipe
        held = cut(model, masks)
        last = recipe.epochs
        checkpoints = None
        if start is not None and start.every > 0:
            if start.state is None:
                last = start.every
            checkpoints = start.masked(masks)
        phase = Phase(
            data=samples,
            batch_size=recipe.batch_size,
            loss=recipe_loss(samples, recipe),
            augment=recipe.augment,
        )

        def stop(model: nn.Module, epoch: int) -> str | None:
            return "here it goes back to" if epoch + 1 == last < recipe.epochs else None

        with run.seeded(run.seed):  # the batches of the original's training
            fit(
                model,
                [phase],
                run,
                epochs=recipe.epochs,
                optimizer=Optimizer.of(recipe),
                edit_grads=held.edit_grads,
                after_step=held.after_step,
                stop=stop,
                what="training a sparse original",
                checkpoints=checkpoints,
            )
        if run.status == "diverged":
            raise MucoreError(
                f"The training of a sparse original did not stay finite: {run.stop_reason}. Prune "
                "less, or change the recipe."
            )
        run.stop_reason = None
        return model


class _Start:
    """Where the kept weights go on from: the initial network, or the state after `every` epochs,
    which `fit` saves and loads here.
    """

    def __init__(self, every: int, initial: nn.Module, run: Run):
        self.every, self.initial, self.run = every, initial, run
        self.state: dict[str, Any] | None = None
        self.masks: Masks = {}

    def model(self) -> nn.Module:
        return copy.deepcopy(self.initial)

    def masked(self, masks: Masks) -> _Start:
        self.masks = masks
        return self

    def save(self, state: dict) -> None:
        if self.state is None:
            self.state = {**state, "model": {name: t.clone() for name, t in state["model"].items()}}

    def load(self) -> dict | None:
        """Weights outside the masks are zero, the optimiser is a fresh one, and nothing is added to
        what the run has cost.
        """
        if self.state is None:
            return None
        kept = {
            name: t * self.masks[name] if name in self.masks else t
            for name, t in self.state["model"].items()
        }
        cost = {"losses": [], "steps": self.run.cost.steps, "seconds": 0.0, "reads": {}}
        return {**self.state, "model": kept, "optimizer": {}, **cost}


def _kept_shares(kind: str, share: float) -> list[float]:
    """The share of all weights left after each round."""
    rounds = 1 if kind == "omp" else math.ceil(math.log(1 - share) / math.log(1 - IMP_ROUND) - 1e-9)
    return [(1 - IMP_ROUND) ** number for number in range(1, rounds)] + [1 - share]


def _prunable(model: nn.Module) -> dict[str, nn.Parameter]:
    layers = {
        name: module for name, module in model.named_modules() if isinstance(module, WEIGHT_LAYERS)
    }
    convolutions = {
        name: module for name, module in layers.items() if not isinstance(module, nn.Linear)
    }
    return {
        f"{name}.weight" if name else "weight": module.weight
        for name, module in (convolutions or layers).items()
    }
