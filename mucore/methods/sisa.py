"""SISA: an ensemble of shards; only those that saw a forgotten sample are trained again."""

from __future__ import annotations

import torch
from torch import nn

from mucore.blocks.shards import Sharded, checkpoint, record_name
from mucore.engine.data import UnlearningData
from mucore.engine.ensemble import Ensemble, Vote
from mucore.engine.run import Run


def sisa(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    shards: int,
    slices: int,
    epochs: int | None,
    vote: Vote,
) -> nn.Module:
    """
    Paper: Bourtoule et al., Machine Unlearning, IEEE S&P 2021, section IV (sharded, isolated,
        sliced, aggregated)
    Code: cleverhans-lab/machine-unlearning sisa.py, sharded.py, aggregation.py
    Reads: the retain set; which samples are to be forgotten; the checkpoints of its own training
    Differs: seeded and shuffled; optimiser, schedule and random streams start anew with each slice,
        so that the result is exact

    It replaces the training, so it does not edit the original: `model` is left aside. Everything
    random comes from the training seed. The result equals, bit for bit, an ensemble that was
    trained without the forget set from the start.
    """
    # (1) the partition that the ensemble was trained with
    everything = data.retain.joined(data.forget)
    values = {"shards": shards, "slices": slices, "epochs": epochs}
    training = Sharded.of(values, everything.ids, data.recipe, data.fresh_model, data.training_seed)
    before = data.record[record_name(shards, slices, epochs)]
    run.persistent(before)
    members = []
    sizes = []
    trained_again = 0  # slices
    for shard, pieces in enumerate(training.parts):
        met = [bool(torch.isin(ids, data.forget.ids).any()) for ids in pieces]
        # (2) a shard without a forgotten sample stays as it is
        state = checkpoint(before, shard, slices - 1)
        # (3) any other goes back to the checkpoint before the first slice with one, and learns from
        #     there on without them
        if any(met):
            first = met.index(True)
            start = checkpoint(before, shard, first - 1) if first else None
            with run.share(shard / shards, (shard + 1) / shards):
                state = training.train(shard, data.retain, run, first=first, start=start)[-1]
            trained_again += slices - first
        member = data.fresh_model(0)
        member.load_state_dict(state)
        members.append(member)
        sizes.append(int(torch.isin(data.retain.ids, torch.cat(list(pieces))).sum()))
    run.diagnostics["retrained_share"] = trained_again / (shards * slices)  # of all slices
    # (4) the shards vote
    return Ensemble(members, vote, torch.tensor(sizes), data.task).to(run.device).eval()
