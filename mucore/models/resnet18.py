"""ResNet-18 (He et al., CVPR 2016), torchvision's; below 64 pixels with the CIFAR stem: a 3x3 convolution of stride 1, no max-pool."""

from __future__ import annotations

from torch import nn
from torchvision.models import resnet18

SMALL_BELOW = 64  # pixels a side


def build(*, in_channels: int, classes: int, image_size: int) -> nn.Module:
    model = resnet18(num_classes=classes)
    small = image_size < SMALL_BELOW
    if small or in_channels != 3:
        kernel, stride = (3, 1) if small else (7, 2)
        model.conv1 = nn.Conv2d(in_channels, 64, kernel, stride=stride, padding=kernel // 2, bias=False)
        nn.init.kaiming_normal_(model.conv1.weight, mode="fan_out", nonlinearity="relu")  # as torchvision does for its own
    if small:
        model.maxpool = nn.Identity()
    return model
