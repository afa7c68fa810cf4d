"""Plain stacks of convolutions: All-CNN-C (Springenberg et al., ICLR workshop 2015) and VGG
(Simonyan and Zisserman, ICLR 2015).

Both as they are used on small images: batch norm behind every convolution, and one linear layer
behind the mean over positions, where All-CNN has a 1x1 convolution before it (the same function)
and VGG two layers of 4096 units. Dropout is left out.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from mucore.models.pooling import HalvingPool

# width, and the convolutions of it before a 2x2 max-pool
VGG = {
    "vgg11-bn": ((64, 1), (128, 1), (256, 2), (512, 2), (512, 2)),
    "vgg16-bn": ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)),
}
# filters, kernel, stride
ALL_CNN = (
    (96, 3, 1),
    (96, 3, 1),
    (96, 3, 2),
    (192, 3, 1),
    (192, 3, 1),
    (192, 3, 2),
    (192, 3, 1),
    (192, 1, 1),
)


def build(model: str, *, in_channels: int, classes: int, image_size: int) -> nn.Module:
    if model in VGG:
        return PlainNet(_vgg(VGG[model], in_channels), 512, classes)
    layers: list[nn.Module] = []
    for width, kernel, stride in ALL_CNN:
        convolution = nn.Conv2d(
            in_channels, width, kernel, stride=stride, padding=kernel // 2, bias=False
        )
        layers += [convolution, nn.BatchNorm2d(width), nn.ReLU(inplace=True)]
        in_channels = width
    return PlainNet(layers, in_channels, classes)


def _vgg(plan: Sequence[tuple[int, int]], in_channels: int) -> list[nn.Module]:
    """Numbered as torchvision's and timm's `features` are, so that their weights fit."""
    layers: list[nn.Module] = []
    for width, count in plan:
        for _ in range(count):
            convolution = nn.Conv2d(in_channels, width, 3, padding=1)
            layers += [convolution, nn.BatchNorm2d(width), nn.ReLU(inplace=True)]
            in_channels = width
        # Rounding up leaves one position of images below 32 pixels; from there on every size is
        # even.
        layers.append(HalvingPool())
    return layers


class PlainNet(nn.Module):
    def __init__(self, layers: Sequence[nn.Module], width: int, classes: int):
        super().__init__()
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(width, classes)
        for module in self.features:
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (n, C) of images (n, c, h, w)."""
        return self.head(torch.flatten(self.avgpool(self.features(x)), 1))
