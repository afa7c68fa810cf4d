"""PGU: unlearn in directions of the weights that the inputs of the retain set do not use."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from mucore.engine.data import Batch, UnlearningData
from mucore.engine.loop import Optimizer, Phase, fit
from mucore.engine.moments import layer_moments, projectable, protected_inputs
from mucore.engine.run import Run, state_bytes
from mucore.engine.stopping import CrossedOver, Dropped

DROP = 0.05  # of accuracy on what is kept, where forgetting classes ends


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
    class_stop: Literal["validation", "retain"],
) -> nn.Module:
    """
    Paper: Hoang et al., Learn to Unlearn for Deep Neural Networks: Minimizing Unlearning Interference with Gradient Projection, WACV 2024
    Code: hnanhtuan/projected_gradient_unlearning utils/unlearn_utils.py, unlearn.py, unlearn_class.py
    Reads: second moments of layer inputs over the training set, recorded; the forget set; the validation set
    Differs: moments with each layer's own stride, one transform for both sets, negative eigenvalues at zero; no retain set for class_stop

    Only weights of convolutions and linear layers move. k counts the singular values by their own cumulated sum, not by their squares'.
    """
    # (1) moments of the retain set: those of the training set, recorded, less those of the forget set
    record, layers = data.record["layer_moments"], projectable(model)
    run.persistent(state_bytes(record.values()))
    forgotten = layer_moments(model, data.forget, run)
    if not all(bool(m.isfinite().all()) for m in forgotten.values()):
        run.status, run.stop_reason = "diverged", "the inputs of a layer are not finite; the original was left as it is"
        return model.eval()
    # (2) for each layer an orthonormal basis of the inputs to protect; a layer protected as a whole does not move
    model.requires_grad_(False)
    bases = protected_inputs(record, forgotten, retained_var, extra=bool(data.forgotten_classes))
    weights = {layers[name].weight.requires_grad_(): basis.to(layers[name].weight) for name, basis in bases.items()}
    run.scratch(state_bytes((*forgotten.values(), *bases.values())) + 2 * state_bytes(model.state_dict().values()))

    # (3) make the true class unlikely and the prediction flat; the offset bounds the logarithm
    def loss(model: nn.Module, batch: Batch) -> Tensor:
        p = torch.softmax(model(batch.x).float(), 1)
        true = p.gather(1, batch.y[:, None]).squeeze(1)
        return -torch.log(1 - (true - offset)).mean() - entropy_weight * torch.special.entr(p).sum(1).mean()

    # (4) without the component of each gradient in the protected space
    @torch.no_grad()
    def project(model: nn.Module) -> None:
        for weight, basis in weights.items():
            if weight.grad is not None:
                g = weight.grad.flatten(1) + weight_decay * weight.flatten(1)
                weight.grad.copy_((g - g @ basis @ basis.T).view_as(weight))

    # (5) samples: until they are predicted worse than the validation set; classes: until the others have lost DROP
    if data.forgotten_classes:
        kept = data.retain if class_stop == "retain" else data.validation
        stop = Dropped(kept[~torch.isin(kept.labels, torch.tensor(data.forgotten_classes))], run, DROP)
    else:
        stop = CrossedOver(data.forget, data.validation, run)
    if epochs and weights and stop(model, -1) is None:
        decay = (lr_end / lr) ** (1 / epochs) if lr else 1.0
        phase = Phase(data=data.forget, batch_size=batch_size, loss=loss, augment=False)
        optimizer = Optimizer(lr=lr, schedule=lambda epoch: decay ** (epoch + 1))
        fit(model, [phase], run, epochs=epochs, optimizer=optimizer, bn="frozen", edit_grads=project, stop=stop)
    return model.requires_grad_(True).eval()
