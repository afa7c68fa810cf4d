"""A method at work: on a copy of the original, under the clock; in this process, or in that of
`own_method`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from mucore import catalog, methods
from mucore.engine import ensemble
from mucore.engine.data import UnlearningData
from mucore.engine.features import classifier_layer
from mucore.engine.layers import train_only
from mucore.engine.loop import is_finite
from mucore.engine.run import Run
from mucore.errors import MethodFailed, Refused
from mucore.runs import RunSpec, complete


def apply(spec: RunSpec, original: nn.Module, data: UnlearningData, run: Run) -> nn.Module:
    """What the method of a spec returns. Raises `Refused` where the spec confines it to the
    classifier and it cannot be.
    """
    start = copy.deepcopy(original).train().requires_grad_(True)
    if spec.scope == "classifier":
        run.diagnostics["trained_share"] = train_only(start, classifier(start))
    run.noise = spec.noise
    values = complete(catalog.method(spec.method), spec.parameters)
    try:
        return called(spec.method, start, data, run, values, source_hash=spec.method_hash)
    except (KeyError, RuntimeError) as error:
        # the gradient or the importance of a layer that does not move
        fixed = "require grad" in str(error) or any(
            str(each) in dict(start.named_parameters()) for each in error.args
        )
        if spec.scope == "classifier" and fixed:
            raise not_confined(spec) from error
        raise


def called(
    method: str,
    start: nn.Module,
    data: UnlearningData,
    run: Run,
    values: Mapping[str, Any],
    *,
    source_hash: str = "",
) -> nn.Module:
    """What a method makes of `start`, which is its own, under the clock."""
    parameters = {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }
    function = methods.load(method, source_hash)
    with run.clock():
        return function(start, data, run, **parameters)


def kept_form(
    model: Any, fresh: Callable[[], nn.Module], data: UnlearningData, method: str
) -> nn.Module:
    """The network that is kept of what a method returned: one from `fresh`, or an ensemble of such,
    with its weights, in eval mode. Raises `MethodFailed` where that one answers otherwise.
    """
    (first, *_) = data.forget.batches(Run(seed=0, device=data.forget.images.mean.device), 64)
    try:
        kept = ensemble.restore(model.state_dict(), fresh, data.task).eval()
        with torch.no_grad():
            found, wanted = model.eval()(first.x), kept(first.x)
        # a GPU may compute the same network in other ways
        least = 0.01 * float(wanted.nan_to_num().abs().max())
        same = torch.allclose(found, wanted, rtol=0.0, atol=least, equal_nan=True)
    except Exception as error:  # the boundary to somebody else's code
        said = " ".join(f"{type(error).__name__}: {error}".split())[:300].rstrip(". ")
        raise MethodFailed(
            f"{method} returned no network of the original's form ({said}). Return the original "
            "with other weights."
        ) from error
    if not same:
        raise MethodFailed(
            f"{method} returned a network that answers otherwise than its weights do: a hook, a "
            "mask or a class of its own is left on it. Work all of it into the weights."
        )
    return kept


def finite(model: nn.Module, original: nn.Module, run: Run) -> nn.Module:
    """What a method returned or, with status "diverged", a copy of the original where that holds
    weights that are not finite; in eval mode, everything trainable.
    """
    if not is_finite(model):
        model = copy.deepcopy(original)
        run.status = "diverged"
        run.stop_reason = (
            "the method returned weights that are not finite; the original's were restored"
        )
    return model.requires_grad_(True).eval()


def classifier(model: nn.Module) -> dict[str, nn.Module]:
    """The last linear layer, by its name."""
    head = classifier_layer(model)
    return {name: module for name, module in model.named_modules() if module is head}


def not_confined(spec: RunSpec) -> Refused:
    return Refused(
        f"{spec.method} changes layers by rules of its own, so it cannot be confined to the "
        "classifier. Leave it out where the scope is classifier."
    )
