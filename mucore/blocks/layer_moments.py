"""Second moments of layers' inputs, and the subspace that an update must not touch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import torch
from torch import Tensor, nn

from mucore.engine.chunks import chunk
from mucore.engine.data import Samples
from mucore.engine.run import Run
from mucore.engine.state import hooked

BATCH = 64  # of large networks less, see engine/chunks.py
INPUTS_NOT_FINITE = "the inputs of a layer are not finite"
SMALLEST = 1e-12  # share of the trace below which a direction is rounding


def projectable(model: nn.Module) -> dict[str, nn.Conv2d | nn.Linear]:
    """The layers, by name, whose weight is one matrix on unfolded inputs: linear ones, and
    convolutions in one group padded with zeros.
    """
    return {
        name: module
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear)
        or isinstance(module, nn.Conv2d)
        and module.groups == 1
        and module.padding_mode == "zeros"
        and not isinstance(module.padding, str)
    }


def groups_of_layers(model: nn.Module) -> list[list[str]]:
    """The projectable layers, widest first, in groups whose moments are together no larger than
    those of the widest.
    """
    sizes = {name: layer.weight[0].numel() ** 2 for name, layer in projectable(model).items()}
    most, room = max(sizes.values(), default=0), 0
    groups: list[list[str]] = []
    for name, size in sorted(sizes.items(), key=lambda each: -each[1]):
        if size > room:
            groups.append([])
            room = most
        groups[-1].append(name)
        room -= size
    return groups


@torch.no_grad()
def layer_moments(
    model: nn.Module,
    samples: Samples,
    run: Run,
    *,
    names: Iterable[str] | None = None,
    batch_size: int | None = None,
) -> dict[str, Tensor]:
    """Σ x xᵀ over all input rows x of each projectable layer, or of those of `names`: (d, d)
    float64 by layer name.

    d is the number of weights of one output. A convolution has one row a sample and output
    position: the unfolded patch, with the layer's own stride and padding. Eval mode, plain images,
    full precision; batches are summed in double precision (PGU; Saha et al., Gradient Projection
    Memory, ICLR 2021). Rows of non-finite inputs make non-finite moments.
    """
    model.eval()
    if batch_size is None:  # patches lie there twice, unfolded and as columns
        batch_size = chunk(model, samples.images.shape, BATCH, "patches", times=2)
    layers = projectable(model)
    if names is not None:
        layers = {name: layers[name] for name in names}
    kept = "cpu" if run.device.type == "mps" else run.device  # no double precision there
    moments = {
        name: torch.zeros(2 * (layer.weight[0].numel(),), dtype=torch.float64, device=kept)
        for name, layer in layers.items()
    }

    def watch(name: str, module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        columns = _columns(module, inputs[0])
        moments[name] += (columns @ columns.T).to(moments[name])

    hooks = (
        layer.register_forward_pre_hook(partial(watch, name)) for name, layer in layers.items()
    )
    total = samples.steps(batch_size)
    with hooked(hooks):
        for number, batch in enumerate(samples.batches(run, batch_size)):
            run.progress(f"moments of layer inputs: batch {number + 1} of {total}", number / total)
            model(batch.x)
    return moments


def moments_to_keep(model: nn.Module, samples: Samples, run: Run) -> dict[str, Tensor]:
    """`layer_moments` as a record keeps them, rounded to the precision of the weights.

    That turns protected directions by 1e-5 at most; eigenvectors in float32 by 5e-2 (measured for
    `resnet9-small`).
    """
    layers = projectable(model)
    return {
        name: moment.to(layers[name].weight.dtype)
        for name, moment in layer_moments(model, samples, run).items()
    }


def protected(moment: Tensor, share: float, *, extra: int = 0, free: bool = False) -> Tensor | None:
    """Leading eigenvectors (d, k) of a moment (d, d), with `free` the d - k others; None where all
    directions are protected.

    k counts the singular values √λ whose cumulated sum is at most `share` of all, plus `extra`;
    negative eigenvalues count as zero.
    """
    values, vectors = torch.linalg.eigh(moment)
    scale = values.flip(0).clamp(min=0).sqrt()
    k = int((scale.cumsum(0) <= share * scale.sum()).sum()) + extra if scale.sum() > 0 else 0
    if share >= 1 or k >= len(moment):
        return None
    found = vectors[:, : len(moment) - k] if free else vectors[:, len(moment) - k :]
    return found.clone()  # a view would keep all of them


def protected_inputs(
    whole: dict[str, Tensor],
    part: dict[str, Tensor],
    share: float,
    *,
    extra: int = 0,
    free: bool = False,
    dtype: torch.dtype = torch.float64,
) -> dict[str, Tensor]:
    """`protected` by layer, for a set without a part, whose moments are subtracted in place; layers
    protected as a whole are left out.
    """
    bases = {}
    for name, moment in part.items():
        moment.neg_().add_(whole[name].to(moment.device))
        basis = protected(moment, share, extra=extra, free=free)
        if basis is not None:
            bases[name] = basis.to(dtype)
    return bases


def extended(basis: Tensor, moment: Tensor, share: float) -> Tensor:
    """`basis` (d, k) with the leading directions of what a moment (d, d) has outside its span,
    until both hold `share` of its trace.

    Columns are orthonormal; the trace is the sum of the squared singular values (Gradient
    Projection Memory, equation 9). A moment that is not finite gives NaN.
    """
    inside = basis @ basis.T
    outside = moment - inside @ moment - moment @ inside + inside @ moment @ inside
    total = moment.trace()
    if not (outside.isfinite().all() and total > 0):
        return basis if total == 0 else torch.full_like(moment, torch.nan)
    values, vectors = torch.linalg.eigh((outside + outside.T) / 2)
    values = values.flip(0).clamp(min=0)
    before = (
        1 - values.sum() / total + torch.cat([values.new_zeros(1), values.cumsum(0)[:-1]]) / total
    )
    # what rounding leaves along the old columns is no direction of its own
    count = int(((before < share) & (values > SMALLEST * total)).sum())
    return torch.cat([basis, vectors.flip(1)[:, :count]], 1)


def class_bases(
    model: nn.Module,
    samples: Samples,
    groups: Tensor,
    run: Run,
    *,
    total: int,
    share: float,
    count: int,
) -> dict[str, Tensor]:
    """For each projectable layer an orthonormal basis (d, k) of its inputs, gathered group after
    group from up to `count` samples of each.

    `groups` (n,) numbers each sample's class, of `total`. Class c extends the basis until it holds
    share + (1 − share) · c / `total` of the energy of its inputs, the later the more (UNSC; its
    code: 0.97 + 0.003 c for ten classes). Samples are drawn from stream `subset`.
    """
    bases: dict[str, Tensor] = {}
    order = torch.randperm(len(samples), generator=run.rng("subset"))
    for number in groups.unique().tolist():
        rows = samples[order[groups[order] == number][:count]]
        for name, moment in layer_moments(model, rows, run).items():
            bases[name] = extended(
                bases.get(name, moment[:, :0]), moment, share + (1 - share) * number / total
            )
    return bases


def confine(
    model: nn.Module,
    bases: dict[str, Tensor],
    *,
    free: bool = False,
    weight_decay: float = 0.0,
    mixing: float = 0.0,
) -> Callable[[nn.Module], None]:
    """Freeze all but the weights of the layers in `bases`; gives an edit of gradients, for `fit`,
    that keeps them off the bases' spans, or with `free` on them.

    The edit adds weight decay first, so that it is projected too. Without `free` and with `mixing`,
    the part W U Uᵀ of a weight W (out, d) on its basis U (d, k) moves as W U S Uᵀ, S from the
    identity and learned by plain gradient descent at `mixing` times the rate (PGU, depoisoning).
    """
    model.requires_grad_(False)
    layers = projectable(model)
    weights = {
        layers[name].weight.requires_grad_(): basis.to(layers[name].weight)
        for name, basis in bases.items()
    }
    inside = (
        {weight: weight.detach().flatten(1) @ basis for weight, basis in weights.items()}
        if mixing
        else {}
    )

    @torch.no_grad()
    def edit(model: nn.Module) -> None:
        for weight, basis in weights.items():
            if weight.grad is not None:
                g = weight.grad.flatten(1)
                if weight_decay:
                    g = g + weight_decay * weight.flatten(1)
                along = g @ basis @ basis.T
                moved = along if free else g - along
                if mixing:
                    moved += (
                        mixing
                        * inside[weight]
                        @ (inside[weight].T @ weight.grad.flatten(1) @ basis)
                        @ basis.T
                    )
                weight.grad.copy_(moved.view_as(weight))

    return edit


def _columns(layer: nn.Module, x: Tensor) -> Tensor:
    """Input rows of a layer as columns (d, rows)."""
    if isinstance(layer, nn.Linear):
        return x.reshape(-1, x.shape[-1]).T
    assert isinstance(layer, nn.Conv2d) and not isinstance(layer.padding, str)
    patches = nn.functional.unfold(
        x, layer.kernel_size, layer.dilation, layer.padding, layer.stride
    )
    return patches.transpose(0, 1).flatten(1)
