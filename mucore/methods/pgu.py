"""PGU: unlearn in directions of the weights that the inputs of the retain set do not use."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from mucore.blocks.layer_moments import (
    INPUTS_NOT_FINITE,
    confine,
    groups_of_layers,
    layer_moments,
    protected_inputs,
)
from mucore.blocks.stopping import CrossedOver, Dropped, Rule, until_gone
from mucore.engine.batch import Batch
from mucore.engine.data import UnlearningData
from mucore.engine.loop import Optimizer, Phase, fit
from mucore.engine.losses import improbability
from mucore.engine.run import Run
from mucore.engine.state import is_finite

ClassStop = Literal["target", "validation", "retain"]
DROP = 0.05  # of accuracy on what is kept, where forgetting classes and depoisoning end
MIXING = 0.1  # of the learning rate, for the protected directions when depoisoning
FROZEN = "every layer is protected as a whole, so no weight may move"


def pgu(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    lr: float,
    lr_end: float,
    epochs: int,
    retained_var: float,
    offset: float,
    entropy_weight: float,
    weight_decay: float,
    batch_size: int,
    class_stop: ClassStop,
    variant: Literal["forget", "depoison"],
) -> nn.Module:
    """
    Paper: Hoang et al., Learn to Unlearn for Deep Neural Networks: Minimizing Unlearning
        Interference with Gradient Projection, WACV 2024
    Code: hnanhtuan/projected_gradient_unlearning utils/unlearn_utils.py, unlearn.py,
        unlearn_class.py, depoisoning.py
    Reads: second moments of layer inputs over the training set, recorded; the forget set; the
        validation set
    Differs: moments with each layer's own stride, one transform for both sets, negative eigenvalues
        at zero; the retain set is read for `class_stop` retain alone

    Only weights of convolutions and linear layers move. k counts the singular values by their own
    cumulated sum, not by their squares'.
    """
    # (1) moments of the retain set: those of the training set, recorded, less those of the forget
    #     set
    record = data.record["layer_moments"]
    run.persistent(record)
    # (2) for each layer an orthonormal basis of the directions left free, which are fewer than the
    #     protected ones; where those are mixed, of them. A layer protected as a whole does not move
    poisoned = variant == "depoison"
    bases: dict[str, Tensor] = {}
    for names in groups_of_layers(model):
        forgotten = layer_moments(model, data.forget, run, names=names)
        if not is_finite(forgotten):
            return run.give_up(model, INPUTS_NOT_FINITE)
        bases |= protected_inputs(
            record,
            forgotten,
            retained_var,
            extra=bool(data.forgotten_classes),
            free=not poisoned,
            dtype=next(model.parameters()).dtype,
        )
        # beside the eigenvectors of one layer
        run.holds(bases, forgotten, max(forgotten.values(), key=len))

    # (3) make the label unlikely and the prediction flat, or sharp over the classes that may be the
    #     true one
    def loss(model: nn.Module, batch: Batch) -> Tensor:
        said = data.choices(model(batch.x).float())
        return improbability(
            said, batch.y.flatten(), offset=offset, entropy_weight=entropy_weight, sharp=poisoned
        )

    # (4) without the component of each gradient in the protected space, or with what mixing the
    #     protected directions makes of it
    mixing = MIXING if poisoned else 0.0
    project = confine(model, bases, free=not poisoned, weight_decay=weight_decay, mixing=mixing)
    # (5) samples: until they are predicted worse than the validation set; classes, poison: until
    #     what is kept has lost DROP
    stop = stop_rule(data, run, poisoned=poisoned, class_stop=class_stop)
    # what mixing has of the weights, or the states of the last two epochs
    states = 1 if poisoned else 2 if isinstance(stop, CrossedOver) else 0
    run.holds(bases, *(model for _ in range(states)))
    if epochs:
        reason = stop(model, -1) if bases else FROZEN
        if reason is None:
            decay = (lr_end / lr) ** (1 / epochs) if lr else 1.0
            fit(
                model,
                [Phase(data=data.forget, batch_size=batch_size, loss=loss, augment=poisoned)],
                run,
                epochs=epochs,
                optimizer=Optimizer(lr=lr, schedule=lambda epoch: decay ** (epoch + 1)),
                bn="frozen",
                edit_grads=project,
                stop=stop,
            )
        else:
            run.stop_reason = f"{reason}: this is the original"
    return model.requires_grad_(True).eval()


def stop_rule(data: UnlearningData, run: Run, *, poisoned: bool, class_stop: ClassStop) -> Rule:
    """When to end, as step 5 has it; the retain set is read for `class_stop` retain alone."""
    if poisoned:
        return Dropped(data.validation, run, DROP)
    if not data.forgotten_classes:
        return CrossedOver(data.forget, data.validation, run)
    kept = data.retain if class_stop == "retain" else data.validation
    kept = kept[~torch.isin(kept.labels, torch.tensor(data.forgotten_classes))]
    if class_stop == "target":
        return until_gone(kept, data.forget, run, DROP)
    return Dropped(kept, run, DROP)
