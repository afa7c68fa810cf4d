"""How fast a network learns a forget set again."""

from __future__ import annotations

from dataclasses import replace

from torch import nn

from mucore.engine.collect import collect
from mucore.engine.data import Samples
from mucore.engine.loop import Optimizer, Phase, fit, recipe_loss
from mucore.engine.run import Run
from mucore.metrics.accuracy import accuracy
from mucore.runs import Recipe


def relearning_accuracies(
    model: nn.Module,
    forget: Samples,
    recipe: Recipe,
    classes: int,
    run: Run,
    *,
    epochs: int,
    rate: float,
) -> list[float]:
    """Accuracy on the forget set, in 0..1, before and after each epoch of training on it.

    There are `epochs` epochs; `model` is changed. The recipe's optimiser, batch size, loss and
    augmentation, at `rate` times its learning rate, constant, since a schedule would say when
    learning ends. Shorter where the training diverges.
    """
    quiet = Run(seed=0, device=run.device)

    def now(model: nn.Module) -> float:
        return accuracy(
            confusion=collect(model, forget, classes, quiet, keep=0, features=0).confusion
        )

    curve = [now(model)]

    def after(model: nn.Module, epoch: int) -> None:
        curve.append(now(model))

    optimizer = replace(Optimizer.of(recipe), lr=recipe.lr * rate, schedule="constant")
    phase = Phase(data=forget, batch_size=recipe.batch_size, loss=recipe_loss(forget, recipe))
    fit(model, [phase], run, epochs=epochs, optimizer=optimizer, stop=after, what="learning again")
    return curve
