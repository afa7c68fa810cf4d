"""Which device and precision a run uses."""

from __future__ import annotations

import os
from typing import Literal

import psutil
import torch

from mucore.errors import BadValue, said


def resolve_device(name: str, number: int = 0) -> torch.device:
    """`auto`, `cpu`, `cuda`, `cuda:1`, `mps` -> a device that exists; of several (`cuda:0,cuda:1`,
    and every GPU where `auto` finds some) worker `number`, from 0, takes its own in turn.

    Raises `BadValue` with what there is.
    """
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    there = {"cuda": gpus, "mps": int(torch.backends.mps.is_available()), "cpu": 1}
    if name == "auto":
        kind = next(kind for kind, count in there.items() if count)
        name = kind if there[kind] == 1 else ",".join(f"{kind}:{n}" for n in range(there[kind]))
    if "," in name:
        names = name.split(",")
        return [resolve_device(each.strip()) for each in names][number % len(names)]
    try:
        device = torch.device(name)
    except RuntimeError:
        device = torch.device("meta")
    if (device.index or 0) >= there.get(device.type, 0):
        known = ["auto", *(kind for kind, count in there.items() if count)]
        raise BadValue(
            f"A device is {', '.join(known)} here ({gpus} CUDA GPUs, from cuda:0 on), but got "
            f"{said(name)}."
        )
    return device


def resolve_precision(
    name: Literal["fp32", "bf16", "auto"], device: torch.device
) -> Literal["fp32", "bf16"]:
    """`auto` takes bf16 where it is faster: on CPUs with AMX, and on GPUs that multiply it if their
    steps are replayed.

    Plain steps wait for the thread that starts their kernels, and casts are more of these: on an
    H200, ResNet-18 on 32 x 32 pixels in batches of 128 trained 12,800 images a second in fp32 and
    0.89 times as many in bf16 (docs/benchmarks.md).
    """
    if name != "auto":
        return name
    if device.type == "cuda":
        native = replays(device) and torch.cuda.is_bf16_supported(including_emulation=False)
        return "bf16" if native else "fp32"
    return "bf16" if device.type == "cpu" and torch.cpu._is_amx_tile_supported() else "fp32"


def replays(device: torch.device) -> bool:
    """Whether `fit` records its steps and replays them (engine/graph.py)."""
    return device.type == "cuda" and os.environ.get("MUCORE_GRAPHS") == "1"


def settle(device: torch.device) -> None:
    """How a GPU computes float32, said once, as numbers of stored results rest on it: products of
    matrices in full, convolutions in TF32 (ten bits of mantissa), each by the kernel that cuDNN
    takes without trying which is fastest here.
    """
    if device.type == "cuda":
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = True
        torch.backends.cudnn.benchmark = False


def describe(device: torch.device) -> str:
    """A device's model, as results store it: timings compare only between equal ones."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    if device.type == "mps":
        return "Apple GPU"
    return f"CPU ({_cpu_model()})"


def identity(device: torch.device) -> str:
    """What tells the devices of one machine apart, whatever numbers processes give them."""
    if device.type == "cuda":
        return str(torch.cuda.get_device_properties(device).uuid)
    return device.type


def memory(device: torch.device) -> tuple[int, int]:
    """Bytes of the device's memory that all programs use, and that there are."""
    if device.type == "cuda":
        free, total = torch.cuda.mem_get_info(device)
    else:
        now = psutil.virtual_memory()
        free, total = now.available, now.total
    return total - free, total


def _cpu_model() -> str:
    import platform

    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
