"""Whether a network from a file was trained on pixels as a run normalises them, asked of some
training images before anything is trained or measured.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from mucore.datasets.splits import normalisation
from mucore.engine.data import Samples
from mucore.errors import BadFile
from mucore.models.checkpoints import Checkpoint, load_checkpoint
from mucore.runs.preprocess import NAMED, USUAL, moments

IMAGES: Final = 1000
PARTS: Final = 10  # that the images are given in
# What a network must lie off by, and the share of it that another preprocessing may leave at most
# for a clear case; over what the whole roster returns, on three preprocessings, `_misfit` is 0.06
# at most where it is right (0.4 to 1 of a network at chance, of which others leave half), 0.45 at
# least where it is wrong, of which the right one leaves a tenth.
LEAST: Final = 0.25
LEFT: Final = 0.25


def stated(right: str) -> str:
    """What was recognised, in words, with what a person gives to say so."""
    words = f"from {right.replace('..', ' to ')}" if right in NAMED else f"normalised as {right}"
    return f"pixels {words}: give --preprocess {right} (preprocess at Launch and in Python)"


def loaded(
    path: Path, model: nn.Module, samples: Samples, preprocess: str, file: str
) -> Checkpoint:
    """What `load_checkpoint` read of a file, which people call `file`. Raises `BadFile`, also for
    weights that were trained on other inputs.
    """
    found = load_checkpoint(path, model)
    refuse_other(found.preprocess or recognised(model, samples, preprocess), preprocess, file)
    return found


def refuse_other(right: str, preprocess: str, file: str) -> None:
    """Raise `BadFile` where what is `right` for a network is known, and is something else."""
    if right not in ("", preprocess):
        raise BadFile(f"{file} was trained on {stated(right)}.")


def batch_norms(model: nn.Module) -> list[_BatchNorm]:
    """Those that know what they saw in training."""
    every = (each for each in model.modules() if isinstance(each, _BatchNorm))
    return [each for each in every if each.running_var is not None]


def recognised(model: nn.Module, samples: Samples, preprocess: str) -> str:
    """The known preprocessing that fits the first batch norm clearly better than `preprocess`; ""
    where none does, as with a network that nothing is left of, and without a batch norm.
    """
    if not (norms := batch_norms(model)):
        return ""
    chosen = samples[torch.linspace(0, len(samples) - 1, min(IMAGES, len(samples))).long()]
    pixels = chosen.images.take(chosen.positions)
    usual, scaled = normalisation(pixels.cpu()), pixels.float() / 255
    model = model.to(pixels.device).eval()
    off: dict[str, float] = {}
    for name in dict.fromkeys((preprocess, USUAL, *NAMED)):
        mean, std = (torch.tensor(part).view(-1, 1, 1).to(scaled) for part in moments(name, usual))
        x = (scaled - mean) / std
        off[name] = _misfit(model, x, norms[0])
        if off[preprocess] < LEAST:
            return ""
    best = min(off, key=off.__getitem__)
    return best if off[best] <= LEFT * off[preprocess] else ""


class _Reached(Exception):
    """A network came to its batch norm; what follows is not asked."""


@torch.no_grad()
def _misfit(model: nn.Module, x: Tensor, norm: _BatchNorm) -> float:
    """How far what reaches a batch norm lies from its running statistics: medians over channels of
    the shift of the mean in running deviations, and of |log| of the ratio of the deviations, added.
    """
    seen = []

    def look(_: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        axes = [axis for axis in range(inputs[0].dim()) if axis != 1]
        seen.append(torch.stack(torch.var_mean(inputs[0].float(), axes)))
        raise _Reached

    hook = norm.register_forward_pre_hook(look)
    for part in range(PARTS):
        with contextlib.suppress(_Reached):
            model(x[part::PARTS])  # of all classes, which may come sorted
    hook.remove()
    variance, mean = torch.stack(seen).mean(0)
    usual = torch.as_tensor(norm.running_var).clamp_min(1e-12)
    shift = (mean - norm.running_mean).abs() / usual.sqrt()
    return float(shift.median() + (variance.clamp_min(1e-12) / usual).log().abs().median() / 2)
