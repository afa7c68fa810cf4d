"""Amnesiac unlearning: take back the updates of batches with a forgotten sample, then repair."""

from __future__ import annotations

from typing import Literal

import torch
from torch import nn

from mucore.engine.data import UnlearningData
from mucore.engine.loop import Optimizer, Phase, fit
from mucore.engine.run import Run
from mucore.training import check_replay, train
from mucore.training.records import Record, RunningSum, named


def amnesiac(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    store: Literal["running_sum", "per_step", "replay"],
    disk_cap: float,
    repair_epochs: int,
    lr: float,
    momentum: float,
    weight_decay: float,
    batch_size: int,
) -> nn.Module:
    """
    Paper: Graves, Nagisetty, Ganesh, Amnesiac Machine Learning, AAAI 2021
    Code: lmgraves/AmnesiacML, notebooks MNIST (per step), CIFAR100 and Membership Inference Attack
        (running sum)
    Reads: a record of the training's updates, the ids of the forget set, the retain set
    Differs: the sum of the updates is kept instead of each (same result); a replay needs no record
        but the time of a training

    Batch-norm statistics are neither logged nor taken back, so the repair is part of the method;
    momentum carries a trace into later steps.
    """
    # (1) the summed updates of all steps whose batch met the forget set
    if store == "replay":
        with run.share(0.0, 0.8):
            updates, counts = _replayed(model, data, run)
    else:
        record = data.record[store]
        run.persistent(record)
        if store == "per_step":
            updates, counts = _affected(record, data.forget.ids)
        else:
            updates, counts = named(record, "sum"), record["steps"]
    run.diagnostics["affected_steps"] = counts[1].item() / max(counts[0].item(), 1)
    # (2) take them back, in double precision
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.copy_((p.cpu().double() - updates[name].cpu().double()).to(p.dtype))
    # (3) repair with the retain set, from a fresh optimiser
    optimizer = Optimizer(lr=lr, momentum=momentum, weight_decay=weight_decay, schedule="cosine")
    with run.share(0.8 if store == "replay" else 0.0, 1.0):
        phase = Phase(data=data.retain, batch_size=batch_size)
        return fit(model, [phase], run, epochs=repair_epochs, optimizer=optimizer, what="repairing")


def _affected(record: Record, forgotten: torch.Tensor) -> tuple[Record, torch.Tensor]:
    """From a log of every step: affected updates, summed, and counts of all steps and of those."""
    met = torch.isin(record["ids"], forgotten).any(1)
    updates = {
        name: t[met].sum(0, dtype=torch.float64) for name, t in named(record, "update").items()
    }
    return updates, torch.tensor([len(met), int(met.sum())])


def _replayed(model: nn.Module, data: UnlearningData, run: Run) -> tuple[Record, torch.Tensor]:
    """The same, by training the original once more."""
    watch = RunningSum(data.forget.ids)
    again = data.record["initial"]().to(run.device)
    what = "replaying the training"
    with run.seeded(data.training_seed):
        train(again, data.everything(), data.recipe, run, what=what, recorder=watch)
    check_replay(again, model)
    record = watch.record()
    return named(record, "sum"), record["steps"]
