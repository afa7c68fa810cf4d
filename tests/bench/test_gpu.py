"""The parts of the GPU's benchmark, as far as they run on a CPU."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mucore import cli, datasets
from mucore.bench import gpu


@pytest.mark.slow
def test_every_part_runs_at_a_small_size(capsys, monkeypatch):
    monkeypatch.setattr(gpu, "METHODS", gpu.METHODS[:2])
    assert cli.main(["bench", "--gpu", "--quick", "--device", "cpu"]) == 0
    lines = capsys.readouterr().out.splitlines()
    of_epochs = (
        *("An epoch", "An epoch with crops and flips", "The same as graphs"),
        *("A step", "A step as a graph", "torch.compile"),
    )
    assert [line.partition(":")[0] for line in lines] == [
        *(f"{name}, {precision}" for precision in ("fp32", "bf16") for name in of_epochs),
        "bf16 as graphs against fp32",
        "Gradients of 64 small networks",
        "A whole run of finetune",
        "retrain",
        *gpu.METHODS,
    ]
    said = {line.partition(":")[0]: line for line in lines}
    assert "1.000 of Retrain" in said["retrain"] and "0% of its steps replayed" in said["finetune"]
    assert float(said["A step, fp32"].split()[3].replace(",", "")) > 100  # operations


def test_without_a_gpu_it_says_so(capsys, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert cli.main(["bench", "--gpu"]) == 2
    captured = capsys.readouterr()
    assert "--quick --device cpu" in captured.err and captured.out == ""


def test_the_images_are_a_users_data_set_and_the_same_each_time(tmp_path):
    first, second = (gpu.drawn(tmp_path / f"{name}.npz", 40, 8) for name in "ab")
    splits = [datasets.load(f"npz:{path}") for path in (first, second)]
    assert splits[0].shape == (3, 8, 8) and splits[0].classes == 10
    assert len(splits[0].train.ids) == 40 and len(splits[0].test.ids) == 4
    assert torch.equal(splits[0].train.pixels, splits[1].train.pixels)
    counts = np.bincount(splits[0].train.labels.numpy())
    assert counts.tolist() == [4] * 10
