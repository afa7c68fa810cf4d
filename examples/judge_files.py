"""Three files of weights of a catalogued network, on a data set by its name."""

import torch

import mucore.api as mu
from mucore.models import build

for seed, name in enumerate(["unlearned", "original", "retrained"]):  # yours are trained
    net = build("mlp", in_channels=1, classes=10, image_size=28, seed=seed)
    torch.save(net.state_dict(), f"{name}.pth")
files = {name: f"{name}.pth" for name in ("unlearned", "original", "retrained")}
data = {"train": "fashion-mnist-10k", "forget": range(20), "preprocess": "0..1"}
report = mu.evaluate(**files, model="mlp", **data)
print(report, report.table(), sep="\n")
