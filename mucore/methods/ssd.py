"""SSD: dampen the weights that matter more for the forget set than for the training set."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import nn

from mucore.blocks.importance import (
    GRADIENTS_NOT_FINITE,
    Importance,
    fisher_of_batches,
    fisher_of_samples,
    output_sensitivity,
    ratio_quantile,
)
from mucore.engine.data import Mixture, UnlearningData, arranged
from mucore.engine.run import Run
from mucore.engine.state import is_finite


def ssd(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    alpha: float,
    lam: float,
    fisher: Literal["batch", "sample", "output_norm"],
    batch_size: int,
    order: Literal["mixed", "by_class", "retain_then_forget", "shuffled"],
    selection: Literal["alpha", "percentile"],
) -> nn.Module:
    """
    Paper: Foster et al., Fast Machine Unlearning Without Retraining Through Selective Synaptic
        Dampening, AAAI 2024, equations 6 and 7
    Code: if-loops/selective-synaptic-dampening src/ssd.py, forget_full_class_main.py and
        forget_random_main.py
    Reads: the forget set and the retain set
    Differs: nothing in the default settings; `shuffled` order and importance by `sample` are
        choices of ours

    The order matters because an importance is the square of a batch's mean gradient, and a mixed
    batch averages gradients away. The official scripts read the retain set, then the forget set,
    with one batch across the border: class by class where whole classes go (`by_class`), in the
    order of a random draw where samples go (`mixed`). `retain_then_forget` keeps the order of the
    data set.

    With `sample` the forget set is a part of the training set, so its importance is at most |D| /
    |D_f| times the overall one: an `alpha` from there on selects nothing. With batches that mix
    both sets (`shuffled`) the cap does not hold. `percentile` is adaptive SSD (Schoepf et al.,
    2024): α comes from the size of the forget set, and the comparison is with the retain set alone.
    `output_norm` is loss-free SSD (Foster et al., 2024): importance without labels.
    """
    # (1) importance of every weight for the forget set and for the whole training set, in eval mode
    adaptive = selection == "percentile"
    n_forget, n_retain = len(data.forget), len(data.retain)
    leaving = arranged(data.forget, order, run)
    kept = arranged(data.retain, order, run)
    if fisher == "sample":
        forget = fisher_of_samples(model, leaving, run, batch_size=batch_size)
        overall = fisher_of_samples(model, kept, run, batch_size=batch_size)
        if not adaptive:
            overall = _pooled(forget, n_forget, overall, n_retain)
    else:
        importance = fisher_of_batches if fisher == "batch" else output_sensitivity
        forget = importance(model, leaving, run, batch_size=batch_size)
        everything = kept if adaptive else Mixture((kept, leaving))
        overall = importance(
            model, everything, run, batch_size=batch_size, shuffle=order == "shuffled"
        )
    run.holds(forget, overall)
    if not is_finite(forget, overall):
        return run.give_up(model, GRADIENTS_NOT_FINITE)
    if adaptive:  # α = that percentile of I_f / I_r
        percent = math.log(1 + 100 * n_forget / (n_forget + n_retain))  # of all weights
        alpha = ratio_quantile(forget, overall, 1 - percent / 100)
        run.diagnostics["alpha"] = alpha
    # (2) select the weights with I_f > α · I_D and (3) multiply each by min(1, λ · I_D / I_f)
    selected = 0
    with torch.no_grad():
        for name, p in model.named_parameters():
            chosen = forget[name] > alpha * overall[name]
            factors = (lam * overall[name][chosen] / forget[name][chosen]).clamp(max=1)
            p[chosen] = p[chosen] * factors
            selected += int(chosen.sum())
    run.diagnostics["selected_fraction"] = selected / sum(p.numel() for p in model.parameters())
    return model.eval()


def _pooled(
    first: Importance, first_count: int, second: Importance, second_count: int
) -> Importance:
    """Mean over both sets: per-sample importances add up, so no sample is read twice."""
    total = first_count + second_count
    return {
        name: (first_count * first[name] + second_count * second[name]) / total for name in first
    }
