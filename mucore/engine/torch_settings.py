"""Settings of PyTorch that all runs of a process share: read, and brought to those of another
process. That no method changes them is tested (tests/methods/test_conformance.py); a user's own
method runs in a process of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch


def _dtype_name() -> str:
    return str(torch.get_default_dtype()).removeprefix("torch.")


def _set_dtype(name: str) -> None:
    torch.set_default_dtype(getattr(torch, name))


def _backend(backend: Any, name: str) -> tuple[Callable[[], Any], Callable[[Any], None]]:
    return lambda: getattr(backend, name), lambda value: setattr(backend, name, value)


_BACKENDS: Any = torch.backends  # some of it is made as PyTorch starts, unseen by a type checker

# Settings of PyTorch by what a sentence calls them, how each is read and how it is set; the values
# are numbers and texts.
_SETTINGS: Mapping[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "the default type": (_dtype_name, _set_dtype),
    "the default device": (lambda: str(torch.get_default_device()), torch.set_default_device),
    "gradient mode": (torch.is_grad_enabled, torch.set_grad_enabled),
    "the number of threads": (torch.get_num_threads, torch.set_num_threads),
    "deterministic algorithms": (
        torch.get_deterministic_debug_mode,
        torch.set_deterministic_debug_mode,
    ),
    "cudnn.enabled": _backend(_BACKENDS.cudnn, "enabled"),
    "cudnn.benchmark": _backend(_BACKENDS.cudnn, "benchmark"),
    "cudnn.deterministic": _backend(_BACKENDS.cudnn, "deterministic"),
    "mkldnn.enabled": _backend(_BACKENDS.mkldnn, "enabled"),
    # `get_float32_matmul_precision` raises where somebody has set one of these
    **{
        f"the precision of {what}": _backend(backend, "fp32_precision")
        for what, backend in {
            "float32": _BACKENDS,  # the general before what may inherit it
            "cuDNN": _BACKENDS.cudnn,
            "MKL-DNN": _BACKENDS.mkldnn,
            "matrix products with CUDA": _BACKENDS.cuda.matmul,
            "matrix products with MKL-DNN": _BACKENDS.mkldnn.matmul,
            "convolutions with cuDNN": _BACKENDS.cudnn.conv,
            "convolutions with MKL-DNN": _BACKENDS.mkldnn.conv,
        }.items()
    },
}


def settings() -> dict[str, Any]:
    """PyTorch's settings in JSON types, by what a sentence calls them."""
    return {name: get() for name, (get, _) in _SETTINGS.items()}


def set_settings(wanted: Mapping[str, Any]) -> list[str]:
    """Bring PyTorch's settings to those of `settings`; gives the names of those that differed."""
    differing = [name for name, value in settings().items() if value != wanted[name]]
    for name in differing:
        _SETTINGS[name][1](wanted[name])
    return differing
