"""One pass of a model over a split: model in, `SplitOutputs` out. No metric reads a model again."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import numpy as np
import torch
from torch import nn

from mucore.engine import losses
from mucore.engine.chunks import chunk
from mucore.engine.data import Samples, places_of
from mucore.engine.ensemble import Ensemble
from mucore.engine.features import penultimate
from mucore.engine.run import Run
from mucore.outputs import KEEP_FEATURES, SplitOutputs, confusion, first_shown, halved
from mucore.rng import numpy_rng

# of large networks less, see chunks.py; on a CPU so few that what goes from layer to layer stays in
# its caches
BATCH, ON_CPU = 512, 128
KEEP_LOGITS = 10_000  # samples of a split kept one by one; confusion counts cover all


@torch.no_grad()
def collect(
    model: nn.Module,
    samples: Samples,
    classes: int,
    run: Run,
    *,
    keep: int | None = KEEP_LOGITS,
    features: int = KEEP_FEATURES,
    head: nn.Module | None = None,
    size: int | None = None,
) -> SplitOutputs:
    """Predict a split in eval mode without augmentation.

    `classes`: outputs of the model, one a class or one an attribute. `keep`: how many samples to
    keep one by one; None keeps all. `features`: of how many of those to keep penultimate features
    (float16; float32 where finite ones exceed its range, see `outputs.with_common_scale`). Both
    depend on the size of the split, on positions in it and on its labels alone, so that every model
    of a scenario keeps the same ones. Features are of the first of those kept; where these lack a
    class that others have, of the first of each class, in equal shares, and they come before the
    rest. They are what goes into `head`, else into the last linear layer. `size` is a batch's, else
    as the network's. The logits of an ensemble are log-probabilities, and its confusion counts its
    votes.
    """
    model.eval()
    task = losses.task_of(samples.labels)
    kept = np.arange(len(samples))
    if keep is not None and len(samples) > keep:
        kept = np.sort(numpy_rng(0, "evaluation_sample").permutation(len(samples))[:keep])
    # Only what is kept stays in memory: the logits of a million images would not fit. It stays on
    # the device until all is there, so that the host need not wait after each batch.
    keeps = torch.zeros(len(samples), dtype=torch.bool)
    keeps[kept] = True
    labels = samples.labels.numpy()
    shown = first_shown(labels[kept], features)
    shows = torch.zeros(len(samples), dtype=torch.bool)
    shows[kept[shown]] = True
    logits, predicted, vectors = [], [], []
    done = 0
    most = ON_CPU if run.device.type == "cpu" else BATCH
    size = size or chunk(model, samples.images.shape, most, "passing", times=2)
    looked = penultimate(model, head) if features else contextlib.nullcontext([])
    with looked as seen, run.autocast():
        for batch in samples.batches(run, size):
            here = slice(done, done + len(batch))
            # its predictions are votes, and its members have features of their own
            if isinstance(model, Ensemble):
                found, said = model.vote(batch.x)
            else:
                found = model(batch.x).float()
                said = losses.predicted(found, task)
                if features:
                    vectors.append(seen.pop().float()[places_of(shows[here], run.device)])
            predicted.append(said)
            logits.append(found[places_of(keeps[here], run.device)])
            done += len(batch)
            run.check()
    every = torch.cat(logits).cpu().numpy() if logits else np.zeros((0, classes), np.float32)
    penult = halved(torch.cat(vectors).cpu().numpy()) if vectors else None
    counts = confusion(labels, torch.cat(predicted).cpu().numpy() if predicted else labels, classes)
    order = np.concatenate([shown, np.delete(np.arange(len(kept)), shown)])
    return SplitOutputs(
        logits=every[order],
        labels=labels[kept][order],
        ids=samples.ids.numpy()[kept][order],
        confusion=counts,
        features=penult,
    )


def collect_elsewhere(model: nn.Module, samples: Samples, classes: int, run: Run) -> SplitOutputs:
    """Predict samples of another data set, for their features; nothing counts as right or wrong.

    Labels are that set's.
    """
    unlabelled = samples.with_labels(torch.zeros(len(samples), dtype=torch.int64))
    found = collect(model, unlabelled, classes, run, keep=None)
    return replace(
        found, labels=samples.labels.numpy(), confusion=np.zeros((classes, classes), np.int64)
    )
