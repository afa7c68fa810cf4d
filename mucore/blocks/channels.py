"""Output channels of a network's layers: what they say about an input, and their weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import torch
from torch import Tensor, nn

from mucore.engine.batch import Batch
from mucore.engine.chunks import chunk
from mucore.engine.losses import cross_entropy
from mucore.engine.run import Run
from mucore.engine.state import hooked

BATCH = 128  # of large networks less, see engine/chunks.py
# Normal numbers are drawn in blocks of so many: pieces of whole blocks are what one large draw
# gives.
DRAWN = 16


class Channels:
    """The output channels of all convolutions and linear layers (L-CODEC).

    They are numbered from 0 over the whole network, in definition order.
    """

    def __init__(self, model: nn.Module):
        self.model = model
        self.layers = {
            name: module
            for name, module in model.named_modules()
            if isinstance(module, nn.Conv2d | nn.Linear)
        }
        self.places = [
            (name, row)
            for name, module in self.layers.items()
            for row in range(module.weight.shape[0])
        ]

    def __len__(self) -> int:
        return len(self.places)

    @torch.no_grad()
    def values(self, x: Tensor, run: Run) -> tuple[Tensor, Tensor]:
        """Outputs of the layers averaged over positions, (n, channels), and logits (n, C)."""
        seen: dict[str, Tensor] = {}  # a layer that is used twice says what it said last
        size = 0

        def watch(name: str, module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
            seen[name] = _per_channel(module, output, size)

        most = chunk(self.model, x.shape[1:], BATCH, "passing", times=2)
        hooks = (
            module.register_forward_hook(partial(watch, name))
            for name, module in self.layers.items()
        )
        found, logits = [], []
        with hooked(hooks):
            for part in x.split(most):
                run.check()
                size = len(part)
                logits.append(self.model(part))
                found.append(torch.cat([seen[name] for name in self.layers], 1))
        return torch.cat(found), torch.cat(logits)

    def perturbed(
        self, batch: Batch, run: Run, generator: torch.Generator, *, count: int, noise: float
    ) -> tuple[Tensor, Tensor]:
        """Mean loss (count,) float64 and values (count, channels) of a batch under fresh noise.

        The noise is drawn, and its images are looked at, a part of `count` at a time.
        """
        part = max(BATCH // len(batch) // DRAWN, 1) * DRAWN
        mean_losses, means = [], []
        for first in range(0, count, part):
            draws = min(part, count - first)
            x = torch.randn((draws, *batch.x.shape), generator=generator).to(batch.x)
            values, logits = self.values(x.mul_(noise).add_(batch.x).flatten(0, 1), run)
            # in double precision: the losses of a well fitted sample differ by less than float32
            # tells apart from 0
            labels = torch.cat([batch.labels] * draws)
            losses = cross_entropy(logits.cpu().double(), labels, reduction="none")
            mean_losses.append(losses.view(draws, -1).mean(1).to(values.device))
            means.append(values.unflatten(0, (draws, -1)).mean(1))
        return torch.cat(mean_losses), torch.cat(means)

    def rows(self, chosen: Sequence[int]) -> dict[str, Tensor]:
        """Row numbers of the chosen channels by parameter name, in weights and in biases."""
        picked: dict[str, list[int]] = {}
        for channel in sorted(chosen):
            name, row = self.places[channel]
            picked.setdefault(name, []).append(row)
        rows = {}
        for name, numbers in picked.items():
            for part in ("weight", "bias"):
                if getattr(self.layers[name], part) is not None:
                    rows[f"{name}.{part}" if name else part] = torch.tensor(numbers)
        return rows


def gather(tensors: Mapping[str, Tensor], rows: Mapping[str, Tensor]) -> Tensor:
    """The rows of the tensors as one float64 vector on the CPU."""
    return torch.cat(
        [
            tensors[name].detach()[index.to(tensors[name].device)].flatten().cpu().double()
            for name, index in rows.items()
        ]
    )


@torch.no_grad()
def add(tensors: Mapping[str, Tensor], rows: Mapping[str, Tensor], change: Tensor) -> None:
    """Add a vector in the order of `gather` to those rows, in place."""
    start = 0
    for name, index in rows.items():
        tensor, index = tensors[name], index.to(tensors[name].device)
        shape = tensor[index].shape
        tensor[index] += change[start : start + shape.numel()].view(shape).to(tensor)
        start += shape.numel()


def _per_channel(module: nn.Module, output: Tensor, n: int) -> Tensor:
    """(n, channels): channels stand second in a convolution's output, last in a linear layer's.

    Attention in windows or patches has several rows a sample, one behind the other, where others
    have a position.
    """
    if isinstance(module, nn.Conv2d):
        return output.flatten(2).mean(2)
    if output.dim() == 2 and len(output) == n:
        return output
    return output.reshape(n, -1, output.shape[-1]).mean(1)


def put(tensors: Mapping[str, Tensor], rows: Mapping[str, Tensor], saved: Sequence[Tensor]) -> None:
    """Give rows the values that `taken` saved, in place."""
    with torch.no_grad():
        for (name, index), values in zip(rows.items(), saved, strict=True):
            tensors[name][index.to(values.device)] = values


def taken(tensors: Mapping[str, Tensor], rows: Mapping[str, Tensor]) -> list[Tensor]:
    """Copies of the rows of the tensors, one behind the other."""
    return [tensors[name].detach()[index.to(tensors[name].device)] for name, index in rows.items()]
