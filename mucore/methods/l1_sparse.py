"""l1-sparse: fine-tuning on the retain set under an l1 penalty that fades out."""

from __future__ import annotations

from functools import partial
from typing import Literal

from torch import Tensor, nn

from mucore.blocks.masks import density, top_fraction
from mucore.blocks.pruning import cut, magnitudes, record_name
from mucore.engine.batch import Batch
from mucore.engine.data import UnlearningData
from mucore.engine.loop import Optimizer, Phase, cross_entropy, fit
from mucore.engine.run import Run
from mucore.training.records import named

NEAR_ZERO = 1e-3  # subgradient steps end near zero, hardly ever at it


def l1_sparse(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    lr: float,
    epochs: int,
    alpha: float,
    plain_epochs: int,
    prune: float,
    momentum: float,
    weight_decay: float,
    batch_size: int,
    pruning: Literal["magnitude", "omp", "imp", "synflow"],
    rewind: float,
) -> nn.Module:
    """
    Paper: Jia, Liu, Ram et al., Model Sparsity Can Simplify Machine Unlearning, NeurIPS 2023,
        l1-sparse MU
    Code: OPTML-Group/Unlearn-Sparse unlearn/FT.py (FT_prune), pruner/utils.py, main_imp.py and
        main_synflow.py
    Reads: the retain set; with `omp`, `imp` and `synflow` a sparse original, trained beforehand
    Differs: pruning, if any, is one-shot by magnitude on the given original; the official ways to
        prune are a choice

    The norm covers every parameter, biases and batch norm too. What pulls on a weight is about
    alpha · lr / (1 − momentum) · steps. `omp`, `imp` and `synflow` start from another original, as
    the paper does (blocks/pruning.py), and leave the given one aside.
    """
    # (1) optional: the share `prune` of the convolution weights (of linear ones where there are
    #     none) is zero, for good
    masks = {}
    if pruning != "magnitude":
        sparse = data.record[record_name(pruning, prune, rewind)]
        run.persistent(sparse)
        model.load_state_dict(named(sparse, "model"))
        masks = {name: mask.to(run.device) for name, mask in named(sparse, "mask").items()}
    elif prune:
        masks = top_fraction(magnitudes(model), 1 - prune)
    held = cut(model, masks)
    run.holds(held.masks, held.anchor)

    # (2) cross-entropy + α_t · ‖θ‖₁ with α_t = α · (1 − t / (E − e0)), and 0 in the last e0 epochs
    def penalised(model: nn.Module, batch: Batch, *, weight: float) -> Tensor:
        return cross_entropy(model, batch) + weight * sum(p.abs().sum() for p in model.parameters())

    phases = []
    penalised_epochs = epochs - plain_epochs
    for epoch in range(epochs):
        weight = alpha * (1 - epoch / penalised_epochs) if epoch < penalised_epochs else 0.0
        loss = partial(penalised, weight=weight)
        only_then = partial(int.__eq__, epoch)
        phases.append(Phase(data=data.retain, batch_size=batch_size, loss=loss, when=only_then))
    # (3) train on with the retain set
    fit(
        model,
        phases,
        run,
        epochs=epochs,
        optimizer=Optimizer(lr=lr, momentum=momentum, weight_decay=weight_decay),
        edit_grads=held.edit_grads,
        after_step=held.after_step,
    )
    large = {name: p.detach().abs() >= NEAR_ZERO for name, p in model.named_parameters()}
    run.diagnostics["sparsity"] = 1 - density(large)
    return model
