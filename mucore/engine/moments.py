"""Second moments of what goes into each layer, and the subspace of a layer's inputs that an update must not touch."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from mucore.engine.data import Samples
from mucore.engine.run import Run

BATCH = 64


def projectable(model: nn.Module) -> dict[str, nn.Conv2d | nn.Linear]:
    """The layers, by name, whose weight is one matrix on unfolded inputs: linear ones, and convolutions in one group padded with zeros."""
    return {
        name: module
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear)
        or isinstance(module, nn.Conv2d)
        and module.groups == 1
        and module.padding_mode == "zeros"
        and not isinstance(module.padding, str)
    }


@torch.no_grad()
def layer_moments(model: nn.Module, samples: Samples, run: Run, *, batch_size: int = BATCH) -> dict[str, Tensor]:
    """Σ x xᵀ over all input rows x of each projectable layer: (d, d) float64 by layer name, d = weights of one output.

    A convolution has one row a sample and output position: the unfolded patch, with the layer's own stride and padding. Eval mode, plain
    images, full precision; batches are summed in double precision (PGU; Saha et al., Gradient Projection Memory, ICLR 2021). Rows of
    non-finite inputs make non-finite moments.
    """
    model.eval()
    layers = projectable(model)
    kept = "cpu" if run.device.type == "mps" else run.device  # no double precision there
    moments = {name: torch.zeros(2 * (layer.weight[0].numel(),), dtype=torch.float64, device=kept) for name, layer in layers.items()}

    def watch(name: str) -> Callable[[nn.Module, tuple[Tensor, ...]], None]:
        def hook(module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
            columns = _columns(module, inputs[0])
            moments[name] += (columns @ columns.T).to(moments[name])

        return hook

    hooks = [layer.register_forward_pre_hook(watch(name)) for name, layer in layers.items()]
    try:
        total = samples.steps(batch_size)
        for number, batch in enumerate(samples.batches(run, batch_size)):
            run.progress(f"moments of layer inputs: batch {number + 1} of {total}", number / total)
            model(batch.x)
    finally:
        for hook in hooks:
            hook.remove()
    return moments


def protected(moment: Tensor, share: float, *, extra: int = 0) -> Tensor | None:
    """Orthonormal columns (d, k) of the leading eigenvectors of a moment (d, d), or None where all directions are to be protected.

    k counts the singular values √λ whose cumulated sum is at most `share` of all, plus `extra`; negative eigenvalues count as zero.
    """
    values, vectors = torch.linalg.eigh(moment)
    scale = values.flip(0).clamp(min=0).sqrt()
    k = int((scale.cumsum(0) <= share * scale.sum()).sum()) + extra if scale.sum() > 0 else 0
    return None if share >= 1 or k >= len(moment) else vectors.flip(1)[:, :k]


def protected_inputs(whole: dict[str, Tensor], part: dict[str, Tensor], share: float, *, extra: int = 0) -> dict[str, Tensor]:
    """`protected` for the moments of a set without a part of it, by layer; layers protected as a whole are left out."""
    bases = {name: protected(whole[name].to(moment) - moment, share, extra=extra) for name, moment in part.items()}
    return {name: basis for name, basis in bases.items() if basis is not None}


def _columns(layer: nn.Module, x: Tensor) -> Tensor:
    """Input rows of a layer as columns (d, rows)."""
    if isinstance(layer, nn.Linear):
        return x.reshape(-1, x.shape[-1]).T
    assert isinstance(layer, nn.Conv2d) and not isinstance(layer.padding, str)
    patches = nn.functional.unfold(x, layer.kernel_size, layer.dilation, layer.padding, layer.stride)
    return patches.transpose(0, 1).flatten(1)
