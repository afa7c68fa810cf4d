"""One pass of a model over a split: model in, `SplitOutputs` out. No metric reads a model again."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from mucore.engine.data import Samples
from mucore.engine.ensemble import Ensemble
from mucore.engine.features import penultimate
from mucore.engine.run import Run
from mucore.outputs import SplitOutputs
from mucore.random import numpy_rng

BATCH = 512
KEEP_LOGITS = 10_000  # samples of a split kept one by one; confusion counts cover all
KEEP_FEATURES = 4_000


@torch.no_grad()
def collect(
    model: nn.Module, samples: Samples, classes: int, run: Run, *, keep: int | None = KEEP_LOGITS, features: int = KEEP_FEATURES
) -> SplitOutputs:
    """Predict a split in eval mode without augmentation.

    `keep`: how many samples to keep one by one, chosen by sample id alone so that every model of a scenario keeps the same ones; None
    keeps all. `features`: of how many of those to keep penultimate features (float16). The logits of an ensemble are log-probabilities,
    and its confusion counts its votes.
    """
    model.eval()
    kept = np.arange(len(samples))
    if keep is not None and len(samples) > keep:
        kept = np.sort(numpy_rng(0, "evaluation_sample").permutation(len(samples))[:keep])
    logits, predicted, vectors = [], [], []
    with penultimate(model) as seen, run.autocast():
        for batch in samples.batches(run, BATCH):
            if isinstance(model, Ensemble):  # its predictions are votes, and its members have features of their own
                mean, voted = model.vote(batch.x)
                logits.append(mean.cpu())
                predicted.append(voted.cpu())
            else:
                logits.append(model(batch.x).float().cpu())
                predicted.append(logits[-1].argmax(1))
                vectors.append(seen.pop().half().cpu())
            run.check()
    shape = (0, classes)
    every = torch.cat(logits).numpy() if logits else np.zeros(shape, np.float32)
    penult = torch.cat(vectors).numpy()[kept[:features]] if vectors and features else None
    labels = samples.labels.numpy()
    counts = (
        np.bincount(labels * classes + torch.cat(predicted).numpy(), minlength=classes**2).reshape(classes, classes)
        if len(labels)
        else np.zeros((classes, classes), np.int64)
    )
    return SplitOutputs(logits=every[kept], labels=labels[kept], ids=samples.ids.numpy()[kept], confusion=counts, features=penult)
