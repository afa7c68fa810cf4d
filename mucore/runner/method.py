"""A method at work: on a copy of the original, under the clock; in this process, or in that of
`isolated`.
"""

from __future__ import annotations

import copy

from torch import nn

from mucore import catalog, methods
from mucore.engine.data import UnlearningData
from mucore.engine.features import classifier_layer
from mucore.engine.layers import train_only
from mucore.engine.run import Run
from mucore.errors import Refused
from mucore.spec import RunSpec, complete


def apply(spec: RunSpec, original: nn.Module, data: UnlearningData, run: Run) -> nn.Module:
    """What the method of a spec returns. Raises `Refused` where the spec confines it to the
    classifier and it cannot be.
    """
    start = copy.deepcopy(original).train().requires_grad_(True)
    if spec.scope == "classifier":
        run.diagnostics["trained_share"] = train_only(start, classifier(start))
    run.noise = spec.noise
    values = complete(catalog.method(spec.method), spec.parameters)
    parameters = {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }
    method = methods.load(spec.method, spec.method_hash)
    try:
        with run.clock():
            return method(start, data, run, **parameters)
    except (KeyError, RuntimeError) as error:
        # the gradient or the importance of a layer that does not move
        fixed = "require grad" in str(error) or any(
            str(each) in dict(start.named_parameters()) for each in error.args
        )
        if spec.scope == "classifier" and fixed:
            raise not_confined(spec) from error
        raise


def classifier(model: nn.Module) -> dict[str, nn.Module]:
    """The last linear layer, by its name."""
    head = classifier_layer(model)
    return {name: module for name, module in model.named_modules() if module is head}


def not_confined(spec: RunSpec) -> Refused:
    return Refused(
        f"{spec.method} changes layers by rules of its own, so it cannot be confined to the "
        "classifier. Leave it out where the scope is classifier."
    )
