"""A nine-layer ResNet of 0.41 M parameters, made to be trained on a CPU.

After David Page, How to Train Your ResNet (2018): conv, conv-pool, residual, conv-pool, conv-pool,
residual, max-pool, linear. Ours is four times narrower, and from 16 pixels a side on the stem pools
too: without that, most of the time would go into the first two layers.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from mucore.models.pooling import HalvingPool

WIDTHS: tuple[int, int, int, int] = (16, 32, 64, 128)
# pixels a side; smaller images would be a single position before the last layers
POOLED_STEM_FROM = 16


def build(model: str, *, in_channels: int, classes: int, image_size: int) -> nn.Module:
    return ResNet9(
        in_channels=in_channels, classes=classes, pooled_stem=image_size >= POOLED_STEM_FROM
    )


class ResNet9(nn.Module):
    def __init__(self, *, in_channels: int, classes: int, pooled_stem: bool):
        super().__init__()
        first, second, third, fourth = WIDTHS
        self.stem = Conv(in_channels, first, pool=pooled_stem)
        self.layer1 = Conv(first, second, pool=True)
        self.residual1 = Residual(second)
        self.layer2 = Conv(second, third, pool=True)
        self.layer3 = Conv(third, fourth, pool=True)
        self.residual2 = Residual(fourth)
        self.pool = nn.Sequential(nn.AdaptiveMaxPool2d(1), nn.Flatten(1))
        self.head = nn.Linear(fourth, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (n, classes) of images (n, c, h, w)."""
        # channels_last saves a good part of the convolutions' time on a CPU. Where the weights
        # carry it (recipe revision 2), the stem's output does, too; else it starts here.
        x = self.stem(x).contiguous(memory_format=torch.channels_last)
        x = self.residual1(self.layer1(x))
        x = self.residual2(self.layer3(self.layer2(x)))
        return self.head(self.pool(x))


class Conv(nn.Module):
    """3x3 convolution, 2x2 max-pool if asked for, batch norm, ReLU. Pooling first leaves the norm a
    quarter of the work.
    """

    def __init__(self, in_channels: int, out_channels: int, *, pool: bool = False):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3, padding=1, bias=False)
        # Rounding up keeps 2 by 2 positions of a 28-pixel image for the last layers; rounding down
        # would leave one.
        self.pool = HalvingPool() if pool else nn.Identity()
        self.norm = nn.BatchNorm2d(out_channels)

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(self.norm(self.pool(self.conv(x))))


class Residual(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.conv1, self.conv2 = Conv(width, width), Conv(width, width)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.conv2(self.conv1(x))
