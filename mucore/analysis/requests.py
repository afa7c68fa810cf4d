"""What later requests of a sequence do to earlier ones: forget accuracy of every request's samples
after each request.

The measure is ours. A model that forgot and then went on being changed may come to know again what
it was asked to forget, which a run's own forget accuracy cannot see: it is of its own request.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from mucore.errors import BadValue
from mucore.runs import stored_spec
from mucore.store import Store

if TYPE_CHECKING:
    from mucore.engine.data import Samples


class Parameters(BaseModel):
    """`key`: the run of a sequence's last request."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str


def compute(
    results: Store, parameters: Parameters, progress: Callable[[float, str], None]
) -> dict[str, Any]:
    """Of k requests `method` and `retrain` (k, k) float64 in 0..1, a line a request, a column for
    the model after each; not a number before the line's request, and where Retrain's weights are
    gone. `original` (k,) is the accuracy before any request, `sizes` (k,) how many samples each
    request names.

    Raises `BadValue` for a run of a single request, and where the method's weights are gone.
    """
    from mucore.analysis.features import result_of
    from mucore.analysis.models import Loaded

    chain = stored_spec(result_of(results, parameters.key).spec).requests
    if len(chain) < 2:
        raise BadValue(
            f"The run {parameters.key} answers a single request, so nothing came after it. Launch "
            "requests one after another and choose a later one."
        )
    count = len(chain)
    value = {name: np.full((count, count), np.nan) for name in ("method", "retrain")}
    original = np.zeros(count)
    forgotten: list[Samples] = []
    session = None
    for after, spec in enumerate(chain):
        progress(after / count, f"after request {after + 1}")
        loaded = Loaded(results, spec.key, session)
        session = loaded.session
        forgotten.append(loaded.data.forget)

        original[after] = loaded.accuracy(loaded.original, loaded.data.forget)
        models = {"method": loaded.model(spec)}
        if (found := session.load_model(spec.retrained())) is not None:
            models["retrain"] = found[0]
        for name, model in models.items():
            for request, samples in enumerate(forgotten):
                value[name][request, after] = loaded.accuracy(model, samples)
    sizes = np.array([len(samples) for samples in forgotten], np.int64)
    return {**value, "original": original, "sizes": sizes}
