"""timm's ViT-tiny in files, on tensors as the network eats them."""

import torch

import mucore.api as mu

import timm  # isort: skip

torch.manual_seed(0)
x, y = torch.randn(60, 3, 224, 224), torch.arange(60) % 3
for name in ("unlearned", "original", "retrained"):
    net = timm.create_model("vit_tiny_patch16_224", num_classes=3)
    torch.save(net.state_dict(), f"{name}.pth")
files = {name: f"{name}.pth" for name in ("unlearned", "original", "retrained")}
data = {"train": (x[:45], y[:45]), "test": (x[45:], y[45:]), "forget": range(20)}
report = mu.evaluate(**files, model="timm:vit_tiny_patch16_224", **data, batch_size=15)
print(report, report.table(), sep="\n")
