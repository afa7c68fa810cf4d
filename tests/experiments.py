"""Made-up experiments of forgetting quality, whose predictions are drawn."""

from __future__ import annotations

import numpy as np
from builders import make_cost, make_result, make_spec_row

from mucore.outputs import Outputs, SplitOutputs, confusion
from mucore.store import Store

MODELS = 5
SAMPLES = 6


def outputs(seed: int, *, shift: float) -> Outputs:
    """Two classes; the true one's logit is drawn about `shift`, and is the logit-scaled
    confidence.
    """
    generator = np.random.default_rng(seed)
    logits = np.zeros((SAMPLES, 2), np.float32)
    logits[:, 0] = generator.normal(shift, 1, SAMPLES)
    labels = np.zeros(SAMPLES, np.int64)
    ids = np.arange(10, 10 + SAMPLES)
    split = SplitOutputs(
        logits=logits, labels=labels, ids=ids, confusion=confusion(labels, logits.argmax(1), 2)
    )
    return Outputs({"forget": split})


def put_experiment(
    store: Store,
    *,
    methods: dict[str, float],
    models: int = MODELS,
    seconds: float = 2.0,
    kept: bool = True,
) -> None:
    """`models` retrained models about 0 and as many of each method about its shift, unlearned from
    one original.
    """
    kinds = [("retrain", number, 0, 0.0) for number in range(models)]
    kinds += [
        (method, 0, number, shift) for method, shift in methods.items() for number in range(models)
    ]
    for place, (method, training, unlearning, shift) in enumerate(kinds):
        spec = make_spec_row(method=method, training_seed=training, unlearning_seed=unlearning)
        name = store.artifacts.put_outputs(outputs(place, shift=shift)) if kept else None
        cost = make_cost(seconds=30.0 if method == "retrain" else seconds)
        store.put_result(make_result(spec, metrics={"ra": 0.9, "ta": 0.8}, cost=cost, outputs=name))
