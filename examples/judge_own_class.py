"""A class of your own in a file, here in this one."""

import torch
from torch import nn

import mucore.api as mu


class Net(nn.Sequential):
    def __init__(self) -> None:
        super().__init__(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))


if __name__ == "__main__":  # the file is read again for the class
    torch.manual_seed(0)
    x, y = torch.randn(300, 1, 8, 8), torch.arange(300) % 10
    for name in ("unlearned", "original", "retrained"):
        torch.save(Net().state_dict(), f"{name}.pth")
    files = {name: f"{name}.pth" for name in ("unlearned", "original", "retrained")}
    data = {"train": (x[:200], y[:200]), "test": (x[200:], y[200:]), "forget": range(20)}
    report = mu.evaluate(**files, model=f"{__file__}:Net", **data)
    print(report, report.table(), sep="\n")
