"""Unrolling SGD: add the gradients of the forget set, as the training began with them, back to the
weights.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from mucore.blocks.importance import gradient_sum, is_finite
from mucore.engine import losses
from mucore.engine.batch import Batch
from mucore.engine.data import UnlearningData
from mucore.engine.loop import Optimizer, Phase, cross_entropy, fit
from mucore.engine.run import Run
from mucore.training import train


def unrolling(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    variant: Literal["init_grad_then_ft", "posthoc", "two_stage"],
    lr: float,
    epochs: int,
    kappa: float,
    momentum: float,
    weight_decay: float,
    batch_size: int,
    ft_data: Literal["retain", "forget_first"],
    sd_weight: float,
) -> nn.Module:
    """
    Paper: Thudi et al., Unrolling SGD: Understanding Factors Influencing Machine Unlearning,
        EuroS&P 2022, single-gradient unlearning
    Code: cleverhans-lab/unrolling-sgd Unlearning/correlation_verification.py and finetune.py
        (two_stage)
    Reads: the original's initial weights (init_grad_then_ft), the forget set, the retain set
    Differs: gradients in eval mode; init_grad_then_ft is MUBox's wording (initial weights, 5
        epochs), posthoc our reading without them

    To first order, SGD subtracts E · η · g of the forget set's gradient g at the start; adding it
    back undoes that, if the steps were few.
    """
    optimizer = Optimizer(lr=lr, momentum=momentum, weight_decay=weight_decay)

    def loss(model: nn.Module, batch: Batch) -> Tensor:
        if not sd_weight:
            return cross_entropy(model, batch)
        logits = model(batch.x)
        return (
            losses.cross_entropy(logits, batch.y)
            + sd_weight * data.choices(logits).std(1).mean() / data.options
        )

    def tune(model: nn.Module, *, forget_first: bool) -> None:
        first = (
            [Phase(data=data.forget, batch_size=batch_size, loss=loss, shuffle=False)]
            if forget_first
            else []
        )
        retain = Phase(data=data.retain, batch_size=batch_size, loss=loss, shuffle=not forget_first)
        fit(model, [*first, retain], run, epochs=epochs, optimizer=optimizer)

    # (1) w0: the initial weights, the original, or (two_stage) a network trained without the forget
    #     set
    start = model
    if variant != "posthoc":
        start = data.record["initial"]().to(run.device, next(model.parameters()).dtype)
    if variant == "two_stage" and epochs:
        with run.share(0.0, 0.7), run.seeded(data.training_seed):
            model.load_state_dict(
                train(
                    start, data.retain, data.recipe, run, what="training without the forget set"
                ).state_dict()
            )
    # (2) g: the gradients of the forget set's batches at w0, summed
    gradient = gradient_sum(start, data.forget, run, batch_size=batch_size)
    before = [p.detach().clone() for p in start.parameters()]
    if not is_finite(gradient):
        run.status, run.stop_reason = (
            "diverged",
            "the gradients of the forget set are not finite; the original's weights were kept",
        )
        return model.eval()
    # (3) fine-tune for E epochs before or after (4) adding κ · E · η · g to the weights
    if variant != "init_grad_then_ft":
        tune(model, forget_first=variant == "two_stage" or ft_data == "forget_first")
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.add_(gradient[name], alpha=kappa * epochs * lr)
    if variant == "init_grad_then_ft":
        tune(model, forget_first=False)
    moved = torch.stack(
        [(p.detach() - q).norm() for p, q in zip(model.parameters(), before, strict=True)]
    )
    run.diagnostics["distance_from_w0"] = moved.norm().item()
    return model.eval()
