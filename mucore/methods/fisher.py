"""Fisher forgetting: noise on every weight, as large as the retain set does not mind."""

from __future__ import annotations

from typing import Literal

import torch
from torch import nn

from mucore.blocks.importance import add_noise, noise_variance
from mucore.blocks.prediction_fisher import fisher_of_predictions
from mucore.engine.data import UnlearningData
from mucore.engine.features import classifier_layer
from mucore.engine.run import Run
from mucore.engine.state import is_finite

POWERS = {"half": 0.5, "quarter": 0.25}  # of 1/F in the standard deviation


def fisher(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    alpha: float,
    power: Literal["half", "quarter"],
    coverage: float,
    batch_size: int,
) -> nn.Module:
    """
    Paper: Golatkar et al., Eternal Sunshine of the Spotless Net, CVPR 2020, its Fisher forgetting
    Code: AdityaGolatkar/SelectiveForgetting Forgetting.ipynb, cells 72 to 79
    Reads: the retain set, and of the forget set only whether it is all of a class
    Differs: the classifier is found by its place, not by its shape; predictions that hardly add to
        the information are left out

    The paper derives a standard deviation of F^(-1/4), its code uses F^(-1/2). What is left out is
    the smallest part of the trace of the predictions' covariance, 1 - `coverage` of it: F is
    clamped from below at 1e-3, far above what those could add.
    """
    # (1) F = mean over the retain set of Σ_y p(y|x) (∇ log p(y|x))², in eval mode, squared sample
    #     by sample; a batch's squares are a copy beside their sum
    information = fisher_of_predictions(
        model.eval(), data.retain, run, batch_size=batch_size, coverage=coverage
    )
    run.holds(information, copies=2)
    if not is_finite(information):
        return run.give_up(model, "the Fisher information of the original is not finite")
    # (2) the variance of the noise, α / F with limits, one for all inputs of a filter
    variance = noise_variance(
        model, information, alpha=alpha, power=POWERS[power], forgotten=data.forgotten_classes
    )
    # (3) a class that goes entirely loses its row of the classifier
    with torch.no_grad():
        for p in classifier_layer(model).parameters():
            p[list(data.forgotten_classes)] = 0
    # (4) add the noise
    add_noise(model, variance, run.rng("noise"))
    total = sum(float(v.sum()) for v in variance.values())
    mean = total / sum(v.numel() for v in variance.values())
    run.diagnostics["mean_noise"] = mean**0.5  # root mean square of the noise on a weight
    return model
