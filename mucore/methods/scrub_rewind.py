"""SCRUB+R: SCRUB, then back to the checkpoint whose forget error is that of unseen data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from torch import nn

from mucore.blocks.min_max import Reference, Symmetry, error_on_unseen, min_max_phases
from mucore.blocks.teacher import Teacher
from mucore.engine.data import UnlearningData
from mucore.engine.loop import Optimizer, Phase, fit
from mucore.engine.predict import accuracy
from mucore.engine.run import Run
from mucore.engine.state import copy_state, modes_kept, state_bytes

Granularity = Literal["epoch", "half_epoch"]


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
    granularity: Granularity,
    reference: Reference,
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
    # (1) SCRUB, with the error on the forget set at the start and after each epoch, or each pass
    teacher = Teacher(model, data.forget, data.retain, classes=data.classes)
    assert teacher.network is not None
    errors = [1 - accuracy(teacher.network, data.forget, run)]
    states = {0: teacher.network.state_dict()}  # the teacher is the start
    learns = epochs > 0 and lr > 0  # otherwise there is no symmetry to break
    phases = min_max_phases(
        model,
        teacher,
        data,
        run,
        msteps=msteps,
        forget_batch_size=forget_batch_size,
        alpha=alpha,
        gamma=gamma,
        temperature=temperature,
        retain_batch_size=retain_batch_size,
        break_symmetry=break_symmetry if learns else "bn_train",
    )
    asked_after = ends(phases, epochs, granularity)
    done = 0

    # Of states with the same error the first is taken, and the last need not be kept: it is there.
    def keep(model: nn.Module) -> None:
        nonlocal done
        done += 1
        if done not in asked_after:
            return
        with modes_kept(model):
            error = 1 - accuracy(model, data.forget, run)
        if error not in errors and done < max(asked_after):
            states[len(errors)] = copy_state(model)
        errors.append(error)
        run.scratch(teacher.bytes + state_bytes(*states.values()) - state_bytes(states[0]))

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
    # (2) the error to reach: the last state's on unseen samples like those of the forget set
    target = error_on_unseen(model, data, run, reference)
    if target is None:
        run.note(
            "no validation sample has a class of the forget set, so there is no error to go back "
            "to: this is the last state"
        )
        return model
    # (3) the first state whose error on the forget set is nearest to it
    chosen = min(range(len(errors)), key=lambda number: abs(errors[number] - target))
    if chosen in states:
        model.load_state_dict(states[chosen])
    run.diagnostics |= {
        "chosen_state": chosen,
        "target_error": target,
        "forget_error": errors[chosen],
    }
    return model.eval()


def ends(phases: Sequence[Phase], epochs: int, granularity: Granularity) -> set[int]:
    """How many steps are done at the end of each epoch, or of each pass over a set."""
    found = set()
    done = 0
    for epoch in range(epochs):
        for phase in phases:
            if phase.when(epoch):
                done += phase.at(epoch).steps(phase.batch_size, skip_single=True)
                if granularity == "half_epoch":
                    found.add(done)
        found.add(done)
    return found
