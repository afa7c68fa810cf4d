"""The bare loop that training is compared with: the same model on one random batch that stays on
the device, which is what remains when loading, augmentation, counting and progress cost nothing.
"""

from __future__ import annotations

import torch
from torch import nn

from mucore import training
from mucore.engine.run import Run
from mucore.runner.session import Session
from mucore.spec import RunSpec

# on either side of a training, in passes over the training set
BARE_EPOCHS = 1.0


def bare_loop(session: Session, spec: RunSpec, passes: float = BARE_EPOCHS) -> float:
    """Images a second of plain SGD steps on one random batch on the device, in the precision and
    the layout of the recipe, by the clock of trainings. It lasts `passes` over the training set.
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
    generator = torch.Generator().manual_seed(0)
    x = torch.randn((recipe.batch_size, *splits.train.pixels.shape[1:]), generator=generator).to(
        session.device
    )
    y = torch.randint(len(splits.class_names), (recipe.batch_size,), generator=generator).to(
        session.device
    )
    run: Run = session.run(spec, 0)

    def steps(count: int) -> None:
        for _ in range(count):
            optimizer.zero_grad(set_to_none=True)
            with run.autocast():
                loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()

    count = max(10, round(passes * len(splits.train.ids) / recipe.batch_size))
    steps(3)  # the first steps allocate and choose kernels
    with run.clock():
        steps(count)
    return count * recipe.batch_size / run.cost.seconds
