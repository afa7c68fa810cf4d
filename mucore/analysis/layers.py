"""Linear CKA of an unlearned model's layers with those of its original and of its Retrain: how deep
did forgetting go?
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from mucore.metrics.representation import cka_by_layer
from mucore.store import Store

NOTE = (
    "Linear CKA on {count} samples. Outputs of convolutions are averaged over the image and those "
    "of transformers over the patches, so what differs in place alone counts as equal."
)


class Parameters(BaseModel):
    """`key`: a run with stored weights; `split`: "train" is the forget and the retain set;
    `samples`: at most so many of it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    split: Literal["forget", "retain", "train", "test"] = "test"
    samples: int = Field(default=500, ge=2, le=2000)
    seed: int = Field(default=0, ge=0)


def compute(
    results: Store, parameters: Parameters, progress: Callable[[float, str], None]
) -> dict[str, Any]:
    """`layers`: L names in the order in which they run; `original` and `retrain` (L, L): CKA of
    this run's layers, in rows, with those.

    Their diagonals say how alike a layer is to the same layer of the other model, 1 equal.
    `original_retrain` (L,) is the diagonal of these two with each other, the least that a perfect
    forgetter would move. `samples` (n,) int64: the ids used. `note`: a sentence.
    """
    from mucore.analysis.models import Loaded
    from mucore.probes.activations import layer_features

    progress(0.0, "loading models")
    loaded = Loaded(results, parameters.key)
    samples = loaded.samples(parameters.split, parameters.samples, parameters.seed)
    models = {
        "run": loaded.model(loaded.spec),
        "original": loaded.original,
        "retrain": loaded.model(loaded.spec.retrained()),
    }
    features = {}
    for number, (name, model) in enumerate(models.items()):
        progress(0.1 + 0.2 * number, f"activations: {name}")
        features[name] = layer_features(model, samples, loaded.run)
    value: dict[str, Any] = {"layers": list(features["run"])}
    for number, name in enumerate(("original", "retrain")):
        progress(0.7 + 0.1 * number, f"CKA: {name}")
        value[name] = cka_by_layer(features["run"], features[name])
    value["original_retrain"] = np.diagonal(
        cka_by_layer(features["original"], features["retrain"])
    ).copy()
    return value | {"samples": samples.ids.numpy(), "note": NOTE.format(count=len(samples))}
