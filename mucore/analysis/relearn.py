"""Relearn time: epochs of training on the forget set until the original's accuracy on it is
regained. Few: the forgetting was shallow.

Source: Golatkar et al., CVPR 2020 (metrics/retention.py); rate and schedule are ours: a tenth of
    the recipe's rate, constant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from mucore.metrics.retention import relearn_epochs
from mucore.store import Store

if TYPE_CHECKING:
    from mucore.runner.session import Session


class Parameters(BaseModel):
    """`epochs`: the curve's length; `rate`: the learning rate as a share of the recipe's; `slack`:
    how far below the target counts.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    keys: list[str] = Field(min_length=1, max_length=50)
    epochs: int = Field(default=20, ge=1, le=200)
    rate: float = Field(default=0.1, gt=0, le=1)
    slack: float = Field(default=0.0, ge=0, lt=1)
    seed: int = Field(default=0, ge=0)


def compute(
    results: Store, parameters: Parameters, progress: Callable[[float, str], None]
) -> dict[str, Any]:
    """For each key the accuracies (epochs + 1,) on its forget set, from the one before the first
    epoch on.

    `epochs`: by key, how many it took to reach `targets`, by key the original's accuracy there;
    None where it never did. A curve of a training that diverged is shorter.
    """
    from mucore.analysis.models import Loaded
    from mucore.engine.run import Callbacks
    from mucore.probes.relearning import relearning_accuracies

    value: dict[str, Any] = {"keys": list(parameters.keys), "epochs": {}, "targets": {}}
    session: Session | None = None
    for number, key in enumerate(parameters.keys):
        loaded = Loaded(results, key, session)
        session = loaded.session

        def report(update: Any, number: int = number, method: str = loaded.spec.method) -> None:
            progress((number + update.fraction) / len(parameters.keys), f"{method}: {update.step}")

        forget = loaded.data.forget
        run = session.run(loaded.spec, parameters.seed, Callbacks(report))
        curve = relearning_accuracies(
            loaded.model(loaded.spec),
            forget,
            loaded.spec.recipe,
            loaded.classes,
            run,
            epochs=parameters.epochs,
            rate=parameters.rate,
        )
        target = loaded.accuracy(loaded.original, forget)
        value[key] = np.array(curve)
        value["targets"][key] = target
        value["epochs"][key] = relearn_epochs(
            accuracies=curve, target=target, slack=parameters.slack
        )
    return value
