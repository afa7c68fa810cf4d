"""Gradient norms of a model on part of the forget set, for metrics that need more than predictions
(mucore/metrics/inputs.py).
"""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from mucore.engine.chunks import chunk
from mucore.engine.data import Samples
from mucore.engine.ensemble import Ensemble
from mucore.engine.run import Run
from mucore.errors import Cancelled
from mucore.metrics.inputs import GRADIENTS, GradientNorms
from mucore.outputs import SplitOutputs
from mucore.probes.efficacy import squared_gradient_norms, squared_norm_of_mean_gradient
from mucore.rng import numpy_rng

BATCH = 128  # of large networks less, see engine/chunks.py


def gradient_norms(
    model: nn.Module,
    incompetent: SplitOutputs,
    part: Samples,
    run: Run,
    *,
    untrained: nn.Module | None = None,
) -> GradientNorms:
    """Gradients of `model`, and of the `untrained` network, on `part_of` the forget set, beside
    what a network that never learned predicts there.

    Never raises but to stop: a network without gradients, such as one of a user's own, gets a
    sentence instead of numbers.
    """
    if isinstance(model, Ensemble):
        return GradientNorms(
            incompetent=incompetent,
            missing="Efficacy is about one set of weights, but the model is an ensemble.",
        )
    size = chunk(model, part.images.shape, BATCH, times=2)
    try:
        return GradientNorms(
            squared_norms=squared_gradient_norms(model, part, run, batch_size=size),
            squared_norm_of_mean=squared_norm_of_mean_gradient(model, part, run, batch_size=size),
            untrained_squared_norms=None
            if untrained is None
            else squared_gradient_norms(untrained, part, run, batch_size=size),
            incompetent=incompetent,
        )
    except Cancelled:
        raise
    except Exception as error:  # the other numbers of the run must not go with it
        return GradientNorms(
            incompetent=incompetent,
            missing="The gradients of this network could not be "
            f"had: {type(error).__name__}: {error}",
        )


def part_of(forget: Samples) -> Samples:
    """Up to `GRADIENTS` of the forget set, the same for every model."""
    if len(forget) <= GRADIENTS:
        return forget
    return forget[
        torch.from_numpy(
            np.sort(numpy_rng(0, "evaluation_sample").permutation(len(forget))[:GRADIENTS])
        )
    ]
