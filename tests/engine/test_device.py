"""Which device a worker takes, on machines with GPUs that are not there."""

from __future__ import annotations

import pytest
import torch

from mucore.engine.device import resolve_device, resolve_precision, settle
from mucore.errors import BadValue


@pytest.mark.parametrize(
    ("name", "gpus", "taken"),
    [
        ("auto", 0, ["cpu"] * 4),
        ("auto", 3, ["cuda:0", "cuda:1", "cuda:2", "cuda:0"]),
        ("cuda:2, cuda:0", 3, ["cuda:2", "cuda:0", "cuda:2", "cuda:0"]),
        ("cuda:1", 3, ["cuda:1"] * 4),
    ],
)
def test_workers_share_the_devices_in_turn(name, gpus, taken, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpus > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    assert [str(resolve_device(name, number)) for number in range(4)] == taken
    with pytest.raises(BadValue, match=f"{gpus} CUDA GPUs"):
        resolve_device("cpu,cuda:3")


@pytest.mark.parametrize(("graphs", "taken"), [("0", "fp32"), ("1", "bf16")])
def test_auto_takes_bf16_on_a_gpu_where_steps_are_replayed(graphs, taken, monkeypatch):
    monkeypatch.setenv("MUCORE_GRAPHS", graphs)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **options: True)
    assert resolve_precision("auto", torch.device("cuda")) == taken
    assert resolve_precision("bf16", torch.device("cuda")) == "bf16"


def test_how_a_gpu_computes_float32_is_set_on_a_gpu_alone():
    cudnn, products = torch.backends.cudnn, torch.backends.cuda.matmul
    before = cudnn.allow_tf32, products.allow_tf32
    try:
        cudnn.allow_tf32, products.allow_tf32 = False, True
        settle(torch.device("cpu"))
        assert (cudnn.allow_tf32, products.allow_tf32) == (False, True)
        settle(torch.device("cuda"))
        assert (cudnn.allow_tf32, products.allow_tf32, cudnn.benchmark) == (True, False, False)
    finally:
        cudnn.allow_tf32, products.allow_tf32 = before
