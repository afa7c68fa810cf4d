"""Residual networks (He et al., CVPR 2016); below 64 pixels with the CIFAR stem: a 3x3 convolution
of stride 1, no max-pool.

`resnet18` and `resnet50` are torchvision's. `resnet18-0.4` is the narrow one on which Golatkar et
al. (CVPR and ECCV 2020) and MUBox show their costly methods: pre-activation blocks, a stem of 64
filters, 40 % of the filters behind it, and 3x3 convolutions with a bias.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional
from torchvision import models

SMALL_BELOW = 64  # pixels a side
STEM = 64  # filters
NARROW = (25, 51, 102, 204)  # 0.4 * (64, 128, 256, 512), rounded down


def build(model: str, *, in_channels: int, classes: int, image_size: int) -> nn.Module:
    if model == "resnet18-0.4":
        small = image_size < SMALL_BELOW
        return NarrowResNet(in_channels=in_channels, classes=classes, small=small)
    make = models.resnet18 if model == "resnet18" else models.resnet50
    return _with_stem(make(num_classes=classes), in_channels, image_size)


def _with_stem(model: models.ResNet, in_channels: int, image_size: int) -> nn.Module:
    small = image_size < SMALL_BELOW
    if small or in_channels != 3:
        model.conv1 = _stem(in_channels, small=small, bias=False)
        # as torchvision does for its own
        nn.init.kaiming_normal_(model.conv1.weight, mode="fan_out", nonlinearity="relu")
    if small:
        model.maxpool = nn.Identity()  # ty: ignore[invalid-assignment]
    return model


def _stem(in_channels: int, *, small: bool, bias: bool) -> nn.Conv2d:
    kernel, stride = (3, 1) if small else (7, 2)
    return nn.Conv2d(in_channels, STEM, kernel, stride=stride, padding=kernel // 2, bias=bias)


class NarrowResNet(nn.Module):
    def __init__(self, *, in_channels: int, classes: int, small: bool):
        super().__init__()
        self.conv1 = _stem(in_channels, small=small, bias=True)
        self.bn1 = nn.BatchNorm2d(STEM)
        self.maxpool = nn.Identity() if small else nn.MaxPool2d(3, 2, padding=1)
        width, stages = STEM, []
        for number, wider in enumerate(NARROW):
            stages.append(
                nn.Sequential(
                    PreActivation(width, wider, 1 if number == 0 else 2),
                    PreActivation(wider, wider, 1),
                )
            )
            width = wider
        self.layer1, self.layer2, self.layer3, self.layer4 = stages
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(width, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (n, C) of images (n, c, h, w)."""
        x = self.maxpool(functional.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


class PreActivation(nn.Module):
    """Norm and ReLU before each convolution (He et al., ECCV 2016); the shortcut is a 1x1
    convolution where the shape changes.
    """

    def __init__(self, in_channels: int, out_channels: int, stride: int):
        super().__init__()
        self.bn1 = nn.BatchNorm2d(in_channels)
        self.conv1 = nn.Conv2d(in_channels, out_channels, 3, stride=stride, padding=1)
        self.bn2 = nn.BatchNorm2d(out_channels)
        self.conv2 = nn.Conv2d(out_channels, out_channels, 3, padding=1)
        changes = stride != 1 or in_channels != out_channels
        self.shortcut = (
            nn.Conv2d(in_channels, out_channels, 1, stride=stride, bias=False) if changes else None
        )

    def forward(self, x: Tensor) -> Tensor:
        active = functional.relu(self.bn1(x))
        kept = x if self.shortcut is None else self.shortcut(active)
        return kept + self.conv2(functional.relu(self.bn2(self.conv1(active))))
