"""SCRUB+R: SCRUB, then back to the checkpoint whose forget error is that of unseen data."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from itertools import accumulate
from typing import Literal

import torch
from torch import nn

from mucore.blocks.labels import kinds
from mucore.blocks.min_max import Symmetry, min_max_phases
from mucore.engine.data import UnlearningData
from mucore.engine.loop import Optimizer, fit
from mucore.engine.predict import accuracy, predictions
from mucore.engine.run import Run, state_bytes


def scrub_rewind(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    lr: float,
    epochs: int,
    msteps: int,
    alpha: float,
    gamma: float,
    temperature: float,
    momentum: float,
    weight_decay: float,
    retain_batch_size: int,
    forget_batch_size: int,
    milestones: Sequence[int],
    rho: float,
    grad_clip: float | None,
    break_symmetry: Symmetry,
    granularity: Literal["epoch", "half_epoch"],
    reference: Literal["reweighted", "filtered"],
) -> nn.Module:
    """
    Paper: Kurmanji et al., Towards Unbounded Machine Unlearning, NeurIPS 2023, section 3.3, SCRUB+R
    Code: meghdadk/SCRUB MIA_experiments.ipynb
    Reads: the retain set, the forget set and the validation set
    Differs: the original is among the checkpoints (official code lists its error and never saves
        it); settings otherwise as scrub

    Made for forgetting single samples: where a class goes entirely, its unseen samples say nothing
    about the error to reach.
    """
    # (1) SCRUB, keeping the state at the start and after each epoch, or after each pass
    states = [copy.deepcopy(model.state_dict())]
    size = state_bytes(states[0].values())
    phases = min_max_phases(
        model,
        data,
        run,
        msteps=msteps,
        forget_batch_size=forget_batch_size,
        alpha=alpha,
        gamma=gamma,
        temperature=temperature,
        retain_batch_size=retain_batch_size,
        break_symmetry=break_symmetry if epochs > 0 and lr > 0 else "bn_train",
    )
    passes = [[phase for phase in phases if phase.when(epoch)] for epoch in range(epochs)]
    lengths = [
        [phase.at(0).steps(phase.batch_size, skip_single=True) for phase in active]
        for active in passes
    ]
    ends = set(accumulate(sum(lengths, []) if granularity == "half_epoch" else map(sum, lengths)))
    done = 0

    def keep(model: nn.Module) -> None:
        nonlocal done
        done += 1
        if done in ends:
            states.append(copy.deepcopy(model.state_dict()))
            run.scratch((1 + len(states)) * size)  # the teacher too

    optimizer = Optimizer(
        lr=lr,
        momentum=momentum,
        weight_decay=weight_decay,
        schedule="step",
        milestones=milestones,
        rho=rho,
        grad_clip=grad_clip,
    )
    fit(model, phases, run, epochs=epochs, optimizer=optimizer, after_step=keep)
    if run.status == "diverged":
        return model
    # (2) the error to reach: the last state's on the validation samples of the forget set's kinds
    #     (classes), weighted as in the forget set
    (asked, held_out), count = kinds(data, data.forget.labels, data.validation.labels)
    shares, available = (
        torch.bincount(labels, minlength=count).double() for labels in (asked, held_out)
    )
    shares = shares * (available > 0) if reference == "reweighted" else available * (shares > 0)
    alike = shares[held_out] > 0
    unseen = data.validation[alike]
    if not len(unseen):
        run.note(
            "no validation sample has a class of the forget set, so there is no error to go back "
            "to: this is the last state"
        )
        return model
    wrong = (
        (predictions(model, unseen, run) != unseen.labels).double().view(len(unseen), -1).mean(1)
    )
    target = float((wrong * (shares / available)[held_out[alike]]).sum() / shares.sum())
    # (3) the first state whose error on the forget set is nearest to it
    errors = []
    for state in states:
        model.load_state_dict(state)
        errors.append(1 - accuracy(model, data.forget, run))
    chosen = min(range(len(states)), key=lambda number: abs(errors[number] - target))
    model.load_state_dict(states[chosen])
    run.diagnostics |= {
        "chosen_state": chosen,
        "target_error": target,
        "forget_error": errors[chosen],
    }
    return model.eval()
