"""Output channels of a network's layers as units: what they say about an input, and the weights
behind some of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from mucore.engine.batch import Batch
from mucore.engine.losses import cross_entropy

BATCH = 512


class Slots:
    """The output channels of all convolutions and linear layers in definition order; a slot is a
    number in 0..len-1 (L-CODEC).
    """

    def __init__(self, model: nn.Module):
        self.model = model
        self.layers = {
            name: module
            for name, module in model.named_modules()
            if isinstance(module, nn.Conv2d | nn.Linear)
        }
        self.places = [
            (name, channel)
            for name, module in self.layers.items()
            for channel in range(module.weight.shape[0])
        ]

    def __len__(self) -> int:
        return len(self.places)

    @torch.no_grad()
    def values(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Raw module outputs averaged over positions (n, slots), and logits (n, C), of inputs (n,
        c, h, w).
        """
        seen: dict[str, Tensor] = {}
        hooks = [
            # a layer that is used twice says what it said last
            module.register_forward_hook(
                lambda m, inputs, output, name=name: seen.update(
                    {name: _per_channel(m, output, size)}
                )
            )
            for name, module in self.layers.items()
        ]
        size = 0
        try:
            found, logits = [], []
            for part in x.split(BATCH):
                size = len(part)
                logits.append(self.model(part))
                found.append(torch.cat([seen[name] for name in self.layers], 1))
        finally:
            for hook in hooks:
                hook.remove()
        return torch.cat(found), torch.cat(logits)

    def perturbed(
        self, batch: Batch, generator: torch.Generator, *, count: int, noise: float
    ) -> tuple[Tensor, Tensor]:
        """Mean loss (count,) float64 and mean slot values (count, slots) of a batch, each time
        under fresh Gaussian noise.
        """
        draws = torch.randn((count, *batch.x.shape), generator=generator).to(batch.x)
        values, logits = self.values((batch.x + noise * draws).flatten(0, 1))
        # in double precision: the losses of a well fitted sample differ by less than float32 tells
        # apart from 0
        losses = cross_entropy(
            logits.cpu().double(), torch.cat([batch.y.cpu()] * count), reduction="none"
        )
        return losses.view(count, -1).mean(1).to(values.device), values.unflatten(
            0, (count, -1)
        ).mean(1)

    def rows(self, chosen: Sequence[int]) -> dict[str, Tensor]:
        """The chosen slots as row numbers by parameter name: of a layer's weight, and of its bias
        if it has one.
        """
        picked: dict[str, list[int]] = {}
        for slot in sorted(chosen):
            name, channel = self.places[slot]
            picked.setdefault(name, []).append(channel)
        rows = {}
        for name, channels in picked.items():
            for part in ("weight", "bias"):
                if getattr(self.layers[name], part) is not None:
                    rows[f"{name}.{part}" if name else part] = torch.tensor(channels)
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
    return (
        output
        if output.dim() == 2 and len(output) == n
        else output.reshape(n, -1, output.shape[-1]).mean(1)
    )
