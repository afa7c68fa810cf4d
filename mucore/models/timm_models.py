"""Networks of timm (Wightman, PyTorch Image Models), cut to small images: one entry a network says
how.

Nothing in them is drawn at random while they train: dropout and drop-path are off, because they
would draw from the global generator. Attention is computed in plain matrix products: the fused
kernels of torch have no second derivative, which curvature needs, and their sums on a GPU do not
repeat to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import timm
import torch
from torch import Tensor, nn

SMALL_BELOW = 64  # pixels a side


def _patch(image_size: int) -> int:
    """Pixels a side of a transformer's patch: never fewer than 4 by 4 patches an image, the
    published 16 from 128 pixels on.
    """
    return 2 if image_size < 16 else 4 if image_size < 64 else 8 if image_size < 128 else 16


def _vit(image_size: int) -> dict[str, Any]:
    patch = _patch(image_size)
    # torch's own layer norm, as timm's computes it: blocks/sample_squares.py knows its form
    return {
        "img_size": -(-image_size // patch) * patch,
        "patch_size": patch,
        "norm_layer": partial(nn.LayerNorm, eps=1e-6),
    }


def _pad_to_patches(model: nn.Module, image_size: int) -> None:
    """Images whose side is no multiple of the patch are filled up with zeros, the mean of the data,
    on the right and below.
    """
    patches: Any = model.get_submodule("patch_embed")
    patches.strict_img_size, patches.dynamic_img_pad = False, True


def _swin(image_size: int) -> dict[str, Any]:
    patch = 2 if image_size < SMALL_BELOW else 4
    size = -(-image_size // patch) * patch
    return {"img_size": size, "patch_size": patch, "window_size": 4 if image_size < 128 else 7}


def _without_strides(*paths: str) -> Callable[[nn.Module, int], None]:
    """For small images these convolutions keep the resolution."""

    def adapt(model: nn.Module, image_size: int) -> None:
        if image_size < SMALL_BELOW:
            for path in paths:
                convolution: Any = model.get_submodule(path)
                convolution.stride = 1, 1

    return adapt


def _smaller_stem(model: nn.Module, image_size: int) -> None:
    """ConvNeXt's patches of 4 pixels would leave nothing of a small image for its last stage."""
    if image_size < SMALL_BELOW:
        old, patch = model.get_submodule("stem.0"), 1 if image_size < 16 else 2
        assert isinstance(old, nn.Conv2d) and old.bias is not None
        new = nn.Conv2d(old.in_channels, old.out_channels, patch, stride=patch)
        nn.init.trunc_normal_(new.weight, std=0.02)  # as timm does
        nn.init.zeros_(new.bias)  # ty: ignore[invalid-argument-type]
        model.set_submodule("stem.0", new)


@dataclass(frozen=True)
class Entry:
    """`name` in timm and `tag` of its published weights; `settings` of the constructor by image
    size; `adapt` does what no setting can.
    """

    name: str
    tag: str
    settings: Callable[[int], Mapping[str, Any]] = field(default=lambda image_size: {})
    adapt: Callable[[nn.Module, int], None] = field(default=lambda model, image_size: None)


TABLE: Mapping[str, Entry] = {
    # strides as in the CIFAR versions: the stem and the first stage that would halve the image keep
    # it
    "mobilenet-v2": Entry(
        "mobilenetv2_100", "ra_in1k", adapt=_without_strides("conv_stem", "blocks.1.0.conv_dw")
    ),
    "mobilevit-s": Entry(
        "mobilevit_s",
        "cvnets_in1k",
        adapt=_without_strides("stem.conv", "stages.1.0.conv2_kxk.conv"),
    ),
    "vit-tiny": Entry("vit_tiny_patch16_224", "augreg_in21k_ft_in1k", _vit, _pad_to_patches),
    "vit-b-16": Entry("vit_base_patch16_224", "augreg2_in21k_ft_in1k", _vit, _pad_to_patches),
    "swin-t": Entry("swin_tiny_patch4_window7_224", "ms_in1k", _swin, _pad_to_patches),
    "convnext-t": Entry("convnext_tiny", "fb_in1k", adapt=_smaller_stem),
}


def build(model: str, *, in_channels: int, classes: int, image_size: int) -> nn.Module:
    """The network of a card's id, freshly initialised."""
    entry = TABLE[model]
    network = timm.create_model(
        entry.name,
        pretrained=False,
        in_chans=in_channels,
        num_classes=classes,
        drop_rate=0.0,
        drop_path_rate=0.0,
        **entry.settings(image_size),
    )
    entry.adapt(network, image_size)
    for name, module in list(network.named_modules()):
        if hasattr(module, "fused_attn"):
            module.fused_attn = False
        if isinstance(module, nn.SiLU):
            network.set_submodule(name, SiLU())
    return network


class SiLU(nn.Module):
    """x · σ(x) as a product: torch's own function cannot be differentiated forward in its backward
    pass.
    """

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.sigmoid(x)
