"""Phases that bring an optimiser of their own, rates by epoch, and progress shared between several
trainings.
"""

from __future__ import annotations

import copy
import math

import toy
from torch import Tensor, nn

from mucore.engine.batch import Batch
from mucore.engine.loop import Optimizer, Phase, cross_entropy, fit
from mucore.engine.run import Run


def halved(model: nn.Module, batch: Batch) -> Tensor:
    return cross_entropy(model, batch) / 2


def test_a_phase_keeps_an_optimiser_of_its_own():
    data, epochs = toy.request("mlp"), 3
    first = Optimizer(lr=0.02, momentum=0.9, schedule="cosine", floor=0.25)
    second = Optimizer(lr=0.05, momentum=0.5, weight_decay=1e-2)
    model = toy.original("mlp")
    bare = copy.deepcopy(model)
    phases = [
        Phase(data=data.forget, batch_size=64, loss=halved, augment=False, optimizer=first),
        Phase(data=data.retain, batch_size=256, augment=False),
    ]
    fit(model, phases, Run(seed=0), epochs=epochs, optimizer=second)

    run = Run(seed=0)
    engines = [settings.make(list(bare.parameters())) for settings in (first, second)]
    step, total = 0, epochs * data.forget.steps(64)
    bare.train()
    for _ in range(epochs):
        for batch in data.forget.batches(run, 64, shuffle=True):
            engines[0].param_groups[0]["lr"] = 0.02 * (
                0.25 + 0.75 * 0.5 * (1 + math.cos(math.pi * step / total))
            )
            step += 1
            engines[0].zero_grad()
            halved(bare, batch).backward()
            engines[0].step()
        for batch in data.retain.batches(run, 256, shuffle=True):
            engines[1].zero_grad()
            cross_entropy(bare, batch).backward()
            engines[1].step()
    assert toy.same(model, bare)


def test_a_rate_may_be_a_function_of_the_epoch():
    data = toy.request("mlp").retain
    still, once = toy.original("mlp"), toy.original("mlp")
    stops = Optimizer(lr=0.05, schedule=lambda epoch: float(epoch == 0))
    run = Run(seed=0)
    fit(still, [Phase(data=data, batch_size=64)], run, epochs=3, optimizer=stops)
    fit(
        once, [Phase(data=data, batch_size=64)], Run(seed=0), epochs=1, optimizer=Optimizer(lr=0.05)
    )
    assert toy.same(still, once, buffers=False)
    assert len(run.losses) == 3
