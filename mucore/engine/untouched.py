"""What the runs of a process share, and a watch over it: a method that changes any of it would
spoil the runs after it.

Shared are the original, the data, training records, the settings of PyTorch, and the global
generators of PyTorch, that of the CPU, and NumPy. (Not Python's: threads that have nothing to do
with a method draw from it.)
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from mucore.engine.data import TensorImages, UnlearningData
from mucore.errors import MucoreError


class Touched(MucoreError):
    """A method changed what it shares with other runs; the text says what."""


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


@contextlib.contextmanager
def untouched(method: str, original: nn.Module, data: UnlearningData) -> Generator[None]:
    """Raise `Touched` at the end if what is shared was changed inside. Settings and generators are
    put back; tensors cannot be, so the caller has to load them anew.

    A change of a tensor is seen by its version, which PyTorch counts; one behind its back, by
    `.data` or through NumPy, is not: tests compare the tensors of every method of mucore. Takes a
    fraction of a millisecond.
    """
    before, torch_state, numpy_state = settings(), torch.get_rng_state(), np.random.get_state()
    tensors = [(what, t, _version(t)) for what, t in shared(original, data)]
    well = False
    try:
        yield
        well = True
    finally:
        changed = set_settings(before)
        if not torch.equal(torch.get_rng_state(), torch_state):
            torch.set_rng_state(torch_state)
            changed.append("PyTorch's global generator")
        if not _same(np.random.get_state(), numpy_state):
            np.random.set_state(numpy_state)
            changed.append("NumPy's global generator")
        now = dict(shared(original, data))
        spoilt = [
            what for what, t, version in tensors if now.get(what) is not t or _version(t) != version
        ]
        if spoilt or (changed and well):
            raise Touched(_sentence(method, [*spoilt, *changed]))


def _sentence(method: str, changed: list[str]) -> str:
    some = ", ".join(changed[:4]) + (f" and {len(changed) - 4} more" if len(changed) > 4 else "")
    return (
        f"{method} changed what other runs share: {some}. Its result is dropped, and what can be "
        "put back was. A method works on `model` and on copies, and draws from run.rng(...) alone."
    )


def shared(original: nn.Module, data: UnlearningData) -> Iterator[tuple[str, Tensor]]:
    """The tensors that a method is given and other runs need, by what a sentence calls them."""
    for name, p in original.named_parameters():
        yield f"the original's {name}", p
    for name, t in original.named_buffers():
        yield f"the original's {name}", t
    for samples in (data.forget, data.retain, data.validation):
        where = f"of the {samples.role} set"
        yield f"the positions {where}", samples.positions
        yield f"the labels {where}", samples.labels
        yield f"the ids {where}", samples.ids
        if samples.weights is not None:
            yield f"the class weights {where}", samples.weights
        yield f"the mean pixel {where}", samples.images.mean
        yield f"the pixels' deviation {where}", samples.images.std
        if isinstance(samples.images, TensorImages):
            yield f"the images {where}", samples.images.pixels
    if data.true_labels is not None:
        yield "the true labels of the forget set", data.true_labels
    if data.trigger is not None:
        yield "the trigger", data.trigger
    for record, parts in data.record.items():
        if isinstance(parts, dict):
            for name, t in parts.items():
                yield f"{name} of the training record {record}", t


def _version(t: Tensor) -> int:
    return 0 if t.is_inference() else t._version


def _same(one: Any, other: Any) -> bool:
    return all(np.array_equal(*pair) for pair in zip(one, other, strict=True))
