"""One run of one method, measured, and the bare loop that training is compared with.

The original, the forget set and the training records are there before the clock starts, as they
are for a run of the queue (mucore/runner/execute.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from mucore import training
from mucore.engine.run import Run
from mucore.runner.execute import unlearn_recorded
from mucore.runner.session import Session
from mucore.spec import Recipe, RunSpec, make_spec
from mucore.userfiles import datasets


def class_run(
    dataset: str,
    model: str,
    recipe: Recipe,
    method: str,
    parameters: Mapping[str, Any] | None = None,
) -> RunSpec:
    """A run in which a method forgets the first class, by default with the authors' parameters."""
    return make_spec(
        dataset=dataset,
        data_hash=datasets.data_hash(dataset),
        model=model,
        recipe=recipe,
        scenario="class_wise",
        scenario_parameters={"class_ids": (0,)},
        method=method,
        parameters=parameters,
    )


def measure(spec: RunSpec, session: Session) -> Run:
    """A run of a method or of Retrain, with what it cost. Raises what the run raises."""
    original, _ = session.original(spec)
    run = session.run(spec, spec.training_seed)
    forget = session.forget_set(spec, original, run)
    data = session.unlearning_data(spec, forget)
    if spec.method == "retrain":
        training.retrain(spec, run, session.splits(spec), data.retain)
    else:
        unlearn_recorded(spec, session, original, forget, data, run)
    return run


def seconds(run: Run) -> float:
    """What a run took; on a CPU of the processor, which other programs do not lengthen."""
    return run.cost.processor_seconds if run.device.type == "cpu" else run.cost.seconds


def bare_rate(session: Session, spec: RunSpec, passes: float = 1.0) -> float:
    """Images a second of plain SGD steps on one random batch that stays on the device, in the
    precision and the layout of the recipe, over `passes` of the training set: what remains of a
    training when loading, augmentation, counting and progress cost nothing.
    """
    splits, recipe = session.splits(spec), spec.recipe
    model = training.fresh_model(spec, splits, 0).to(session.device).train()
    optimizer = torch.optim.SGD(
        model.parameters(),
        recipe.lr,
        recipe.momentum,
        nesterov=recipe.nesterov,
        weight_decay=recipe.weight_decay,
    )
    size, classes = recipe.batch_size, len(splits.class_names)
    x = torch.randn((size, *splits.train.pixels.shape[1:])).to(session.device)
    y = torch.randint(classes, (size,)).to(session.device)
    run = session.run(spec, 0)

    def steps(count: int) -> None:
        for _ in range(count):
            optimizer.zero_grad(set_to_none=True)
            with run.autocast():
                loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()

    count = max(10, round(passes * len(splits.train.ids) / size))
    steps(3)  # the first steps allocate and choose kernels
    with run.clock():
        steps(count)
    return count * size / run.cost.seconds
