"""What the layers of a network give for some samples."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from mucore.engine.chunks import chunk
from mucore.engine.data import Samples
from mucore.engine.run import Run
from mucore.engine.state import hooked
from mucore.models import layers

BATCH = 256  # of large networks less, see engine/chunks.py


@torch.no_grad()
def layer_features(model: nn.Module, samples: Samples, run: Run) -> dict[str, np.ndarray]:
    """The outputs (n, d) float32 of each layer in `mucore.models.layers`, by name; eval mode.

    They come in the order in which the layers run. Feature maps are averaged over the image and
    token sequences over the tokens, which leaves one number a channel. Raises `BadValue` for a
    network whose layers are not known.
    """
    model.eval()
    seen: dict[str, list[Tensor]] = {}

    def keep(name: str, module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        seen.setdefault(name, []).append(_channels(output).float().cpu())

    size = chunk(model, samples.images.shape, BATCH, "passing", times=2)
    hooks = (
        module.register_forward_hook(partial(keep, name)) for name, module in layers(model).items()
    )
    with hooked(hooks), run.autocast():
        for batch in samples.batches(run, size):
            model(batch.x)
            run.check()
    return {name: torch.cat(parts).numpy() for name, parts in seen.items()}


def _channels(output: Tensor) -> Tensor:
    """(n, c) of (n, c), maps (n, c, h, w) or, as some transformers give them, (n, h, w, c), or
    tokens (n, t, c).
    """
    if output.ndim == 3:
        return output.mean(dim=1)
    if output.ndim == 4:
        square_last = output.shape[2] == output.shape[3]
        return output.mean(dim=(2, 3) if square_last else (1, 2))
    return output.flatten(1)
