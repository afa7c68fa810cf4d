"""Unrolling SGD: add the forget set's gradients, as at the start of training, to the weights."""

from __future__ import annotations

import copy
from typing import Literal

import torch
from torch import Tensor, nn

from mucore.blocks.importance import gradient_sum
from mucore.engine.batch import Batch
from mucore.engine.data import UnlearningData
from mucore.engine.loop import Optimizer, Phase, fit
from mucore.engine.losses import cross_entropy
from mucore.engine.run import Run
from mucore.engine.state import is_finite
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
        logits = model(batch.x)
        value = cross_entropy(logits, batch.y)
        if sd_weight:
            value = value + sd_weight * data.choices(logits).std(1).mean() / data.options
        return value

    def tune(model: nn.Module, *, forget_first: bool) -> None:
        forget = Phase(data=data.forget, batch_size=batch_size, loss=loss, shuffle=False)
        retain = Phase(data=data.retain, batch_size=batch_size, loss=loss, shuffle=not forget_first)
        phases = [forget, retain] if forget_first else [retain]
        fit(model, phases, run, epochs=epochs, optimizer=optimizer)

    # (1) w0: the initial weights, the original, or (two_stage) a network trained without the forget
    #     set
    start = model
    if variant != "posthoc":
        start = data.record["initial"]().to(run.device, next(model.parameters()).dtype)
    if variant == "two_stage" and epochs:
        what = "training without the forget set"
        with run.share(0.0, 0.7), run.seeded(data.training_seed):
            model.load_state_dict(
                train(start, data.retain, data.recipe, run, what=what).state_dict()
            )
    # (2) g: the gradients of the forget set's batches at w0, summed
    gradient = gradient_sum(start, data.forget, run, batch_size=batch_size)
    w0 = copy.deepcopy(model) if start is model else start
    run.holds(gradient, w0)
    if not is_finite(gradient):
        return run.give_up(model, "the gradients of the forget set are not finite")
    # (3) fine-tune for E epochs before or after (4) adding κ · E · η · g to the weights
    if variant != "init_grad_then_ft":
        tune(model, forget_first=variant == "two_stage" or ft_data == "forget_first")
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.add_(gradient[name], alpha=kappa * epochs * lr)
    if variant == "init_grad_then_ft":
        tune(model, forget_first=False)
    steps = [
        (p - q).detach().norm() for p, q in zip(model.parameters(), w0.parameters(), strict=True)
    ]
    run.diagnostics["distance_from_w0"] = torch.stack(steps).norm().item()
    return model.eval()
