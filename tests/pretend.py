"""A device that is not there, with real numbers: tensors that say they are on `pretend:0` and are
computed on the CPU. Code that mixes devices, or draws on one with a generator of the other, fails
as it would on a GPU, and whoever makes the host wait for the device is counted.

FakeTensorMode does the first alone, and knows no values, so it goes through no `if loss > limit`.
What asks for `device.type == "cuda"` takes its other way here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree, backend_registration
from torch.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing

aten = torch.ops.aten
TRANSFERS = (aten._to_copy.default, aten.copy_.default)
# of which the indices may stay on the CPU
INDEXING = (aten.index.Tensor, aten.index_put.default, aten.index_put_.default)
# what has a size or a value that the host must know
WAITED_FOR = (
    *(aten._local_scalar_dense.default, aten.equal.default, aten.nonzero.default),
    *(aten.masked_select.default, aten._unique2.default, aten.unique_dim.default),
)


class Pretended(Tensor):
    """A tensor on the device; `raw` is where its numbers are."""

    raw: Tensor
    __torch_function__ = torch._C._disabled_torch_function_impl  # ty: ignore[incompatible-method-override]

    @staticmethod
    def __new__(cls, raw: Tensor) -> Pretended:
        made = Tensor._make_wrapper_subclass(
            cls,
            raw.shape,
            strides=raw.stride(),
            storage_offset=raw.storage_offset(),
            dtype=raw.dtype,
            device=device(),
        )
        made.raw = raw
        return made

    @classmethod
    def __torch_dispatch__(  # ty: ignore[incompatible-method-override]
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return _computed(func, args, kwargs or {})

    def __repr__(self, **options: Any) -> str:
        return f"Pretended({self.raw!r})"

    def tolist(self) -> Any:  # torch refuses it to subclasses
        return self.cpu().tolist()


@cache
def device() -> torch.device:
    """Known from here on, in a process in which no gradient was computed yet: torch counts its
    devices at the first one.
    """
    backend_registration._setup_privateuseone_for_python_backend("pretend", _Module())
    # what torch.tensor(..., device=...) is made of
    _library.impl("empty_strided", _empty, "PrivateUse1")
    _library.impl("_copy_from", _sent, "PrivateUse1")
    return torch.device("pretend:0")


class _Module(backend_registration._DummyBackendModule):
    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.bfloat16]


waits: Counter[str] = Counter()  # of the host for the device, by operation
_library = torch.library.Library("aten", "IMPL")


def _empty(size: Any, stride: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    return Pretended(torch.empty_strided(size, stride, dtype=dtype))


def _sent(source: Tensor, there: Pretended, non_blocking: bool = False) -> Tensor:
    waits["tensor"] += 1
    there.raw.copy_(source)
    return there


class _Pretending(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _computed(func, args, kwargs or {})


@contextmanager
def pretending() -> Generator[Counter[str]]:
    """While open the device is there; gives how often the host waited for it, by operation."""
    device()
    waits.clear()
    with _Pretending():
        yield waits


def _computed(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    given = [t for t in _pytree.tree_leaves((args, kwargs)) if isinstance(t, Tensor)]
    there = any(isinstance(t, Pretended) for t in given)
    target = kwargs.get("device")
    if func is aten.copy_.default:
        goes = isinstance(args[0], Pretended)
    else:
        goes = there if target is None else torch.device(target).type == "pretend"
    _check(func, args, given, there, goes, kwargs.get("generator"))
    if _waits(func, args, kwargs, there, goes):
        waits[func.__name__] += 1
    if target is not None:
        kwargs = kwargs | {"device": torch.device("cpu")}
    out = func(*_pytree.tree_map(_raw, args), **_pytree.tree_map(_raw, kwargs))
    if goes:
        out = _pytree.tree_map(lambda t: Pretended(t) if isinstance(t, Tensor) else t, out)
    return return_and_correct_aliasing(func, args, kwargs, out) if given and there == goes else out


def _raw(value: Any) -> Any:
    return value.raw if isinstance(value, Pretended) else value


def _waits(func: Any, args: Any, kwargs: Any, there: bool, goes: bool) -> bool:
    if func in TRANSFERS:
        came = isinstance(args[func is aten.copy_.default], Pretended)
        return came != goes and not (goes and _asynchronous(func, args, kwargs))
    if there and func in INDEXING:
        return any(i is not None and i.dtype == torch.bool for i in args[1])
    return there and func in WAITED_FOR


def _asynchronous(func: Any, args: Any, kwargs: Any) -> bool:
    given = kwargs.get("non_blocking", False)
    return given or (func is aten.copy_.default and len(args) > 2 and args[2])


def _check(func: Any, args: Any, given: Any, there: bool, goes: bool, generator: Any) -> None:
    """As CUDA: all on one device, but for indices, and for numbers (0-dim) that are only read."""
    if goes and generator is not None:
        raise RuntimeError(f"{func} draws on the device with a generator of the CPU")
    if not there or func in TRANSFERS:
        return
    if func in INDEXING and isinstance(args[0], Pretended):
        given = [args[0], *args[2:]]
    strangers = [t for t in given if isinstance(t, Tensor) and not isinstance(t, Pretended)]
    written = func._schema.is_mutable and any(t is args[0] for t in strangers)
    if written or any(t.dim() for t in strangers) or func in INDEXING and strangers:
        raise RuntimeError(f"{func} has tensors of two devices")
