"""torchvision's ResNet-18 in files, on uint8 tensors; the network normalises no pixels itself."""

import torch

import mucore.api as mu

import torchvision  # isort: skip

torch.manual_seed(0)
x, y = torch.randint(256, (300, 3, 32, 32), dtype=torch.uint8), torch.arange(300) % 10
for name in ("unlearned", "original", "retrained"):
    net = torchvision.models.resnet18(num_classes=10)
    torch.save(net.state_dict(), f"{name}.pth")
files = {name: f"{name}.pth" for name in ("unlearned", "original", "retrained")}
data = {"train": (x[:200], y[:200]), "test": (x[200:], y[200:]), "forget": range(20)}
report = mu.evaluate(**files, model="torchvision:resnet18", **data, preprocess="-1..1")
print(report, report.table(), sep="\n")
