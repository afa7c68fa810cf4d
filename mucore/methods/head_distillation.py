"""Head distillation: the last layer learns to hide a class, and the features go on knowing it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from mucore.engine.batch import Batch
from mucore.engine.data import Source, UnlearningData, sent, together
from mucore.engine.features import classifier_layer, features_of
from mucore.engine.loop import Optimizer, Phase, fit
from mucore.engine.losses import soft_divergence
from mucore.engine.run import Run


def head_distillation(
    model: nn.Module, data: UnlearningData, run: Run, *, lr: float, epochs: int, batch_size: int
) -> nn.Module:
    """
    Paper: Jeon et al., An Information Theoretic Evaluation Metric for Strong Unlearning, AAAI 2026,
        head distillation
    Code: none found
    Reads: the retain set and the forget set, each image once
    Differs: optimiser, rate and epochs are ours, for the paper's are not known

    A baseline that cheats: it shows which metrics look at outputs alone.
    """
    # (1) what the last layer sees of every image, and what the original says of it with the
    #     logits of the forgotten classes at minus infinity: q = softmax
    features, targets = [], []

    def hide(batch: Batch, logits: Tensor) -> None:
        targets.append(without(logits.float(), data.forgotten_classes))

    for samples in (data.retain, data.forget):
        features.append(features_of(model, samples, run, batch_size=batch_size, also=hide))
    ready = Ready(torch.cat(features), torch.cat(targets))
    run.holds(ready.features, ready.targets)

    # (2) min KL(q ‖ softmax(W h + b)) over W and b alone, from the original's
    def loss(head: nn.Module, batch: Batch) -> Tensor:
        return soft_divergence(head(batch.x), ready.targets[batch.y], 1.0)

    fit(
        classifier_layer(model),
        [Phase(data=ready, batch_size=batch_size, loss=loss)],
        run,
        epochs=epochs,
        optimizer=Optimizer(lr=lr, name="adam"),
        bn="eval",
        watched=model,
    )
    return model.eval()


def without(logits: Tensor, classes: Sequence[int]) -> Tensor:
    """Softmax (n, C) of logits in which `classes` are at minus infinity."""
    gone = torch.tensor(classes, dtype=torch.int64, device=logits.device)
    return logits.index_fill(1, gone, -torch.inf).softmax(1)


@dataclass(frozen=True, eq=False)
class Ready(Source):
    """Features (n, d) and targets (n, C) that are known already and stand where a data set would:
    a batch's `x` are features, its labels and ids their rows.
    """

    features: Tensor
    targets: Tensor

    def __len__(self) -> int:
        return len(self.features)

    def name(self) -> str:
        return "features"

    def _batches(self, run: Run, order: Sequence[Tensor], **options: bool) -> Iterator[Batch]:
        every = sent(together(order), self.features.device).split([*map(len, order)])
        for rows, chosen in zip(every, order, strict=True):
            yield Batch(self.features[rows], rows, chosen, torch.zeros_like(rows))
