"""What bf16 would gain where runs are computed, by measurements on kinds of processors
(docs/records/benchmarks-2026-11.md, Revision 2 of recipes). Imports no torch.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Literal

Kind = Literal["amx", "avx512_bf16", "none", "unknown"]
CPUINFO = Path("/proc/cpuinfo")
GAINS: dict[Kind, str] = {
    "amx": (
        "bf16 saves time on a processor with AMX such as this one: an original took 32.6 s instead "
        "of 38.6, with 89.7 instead of 88.6 % of the test set right (one seed)."
    ),
    "avx512_bf16": (
        "bf16 gains nothing on a processor with AVX512-BF16 but no AMX such as this one: a step of "
        "training took 34.4 ms instead of 28.9."
    ),
    "none": "bf16 gains nothing on this processor, which has no instructions for it.",
    "unknown": "What bf16 gains on this processor was not measured; auto takes it with AMX alone.",
}
ON_GPU = (
    "bf16 gained nothing on the one GPU that was measured, an NVIDIA H200: ResNet-18 in batches of "
    "128 trained at 10,769 images a second instead of 13,027. auto takes it where the GPU computes "
    "it itself."
)


def gain(device: str) -> str:
    """A sentence on what bf16 would gain on a device, as workers name it ("cpu", "cuda:1")."""
    return GAINS[processor()] if device == "cpu" else ON_GPU


@functools.cache
def processor() -> Kind:
    """What this machine's processor has for bf16, by the flags that Linux tells."""
    try:
        flags = next(
            set(line.partition(":")[2].split())
            for line in CPUINFO.read_text(encoding="utf-8").splitlines()
            if line.startswith("flags")
        )
    except (OSError, StopIteration):  # not Linux, or no x86
        return "unknown"
    if {"amx_tile", "amx_bf16"} <= flags:
        return "amx"
    return "avx512_bf16" if "avx512_bf16" in flags else "none"
