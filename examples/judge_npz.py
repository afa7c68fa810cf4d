"""Data of your own in the layout of CIFAR-10, and forgotten ids as they were published."""

import numpy as np
import torch

import mucore.api as mu
from mucore.models import build

rng = np.random.default_rng(0)
x, y = rng.integers(0, 256, (300, 32, 32, 3), np.uint8), np.arange(300) % 10
np.savez("mine.npz", x_train=x[:200], y_train=y[:200], x_test=x[200:], y_test=y[200:])
np.save("ids.npy", rng.choice(200, 20, replace=False))  # rows of x_train
for seed, name in enumerate(["unlearned", "original", "retrained"]):
    net = build("resnet9-small", in_channels=3, classes=10, image_size=32, seed=seed)
    torch.save({"state_dict": net.state_dict()}, f"{name}.pth")
files = {name: f"{name}.pth" for name in ("unlearned", "original", "retrained")}
data = {"train": "npz:mine.npz", "forget": "ids.npy", "preprocess": ((0.5,) * 3, (0.25,) * 3)}
report = mu.evaluate(**files, model="resnet9-small", **data)
print(report, report.table(), sep="\n")
