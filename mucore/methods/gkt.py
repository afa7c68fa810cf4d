"""GKT: a fresh student learns from the original on made-up images unlike forgotten classes."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from mucore.blocks.generator import Game, Generator, Latents
from mucore.blocks.stopping import moment
from mucore.engine.batch import Batch
from mucore.engine.data import UnlearningData
from mucore.engine.loop import Optimizer, Phase, fit
from mucore.engine.run import Run
from mucore.engine.state import copy_state
from mucore.rng import stream_seed


def gkt(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    batches: int,
    lr: float,
    epsilon: float,
    beta: float,
    generator_steps: int,
    student_steps: int,
    latent: int,
    batch_size: int,
    check_every: int,
    leak: float,
    grad_clip: float | None,
) -> nn.Module:
    """
    Paper: Chundawat et al., Zero-Shot Machine Unlearning (gated knowledge transfer), IEEE TIFS 2023
    Code: ayu987/zero-shot-unlearning, its notebook
    Reads: no data, only the original and the ids of the forgotten classes
    Differs: the student's batch norm trains; a stop rule that needs no data; constant rates; a
        batch gated away counts as one of `batches`
    """
    # (1) the teacher is the original; student and generator start fresh
    teacher = model.eval().requires_grad_(False)
    student = data.fresh_model(stream_seed(run.seed, "student")).to(run.device)
    generator = Generator(latent, data.forget.images.shape, stream_seed(run.seed, "generator"))
    generator.to(run.device)
    pair = nn.ModuleDict({"student": student, "generator": generator})
    game = Game(teacher, student, generator, data.forgotten_classes, epsilon, run)
    run.holds(pair, student)  # the second student is the best so far

    # (2) first the generator looks for images on which student and teacher disagree, then the
    #     student learns from the teacher on them
    def loss(pair: nn.Module, batch: Batch) -> Tensor:
        if int(batch.part[0]) < generator_steps:
            return game.seek(batch.x)
        return game.learn(batch.x, beta)

    best = copy_state(student)
    reached = -1.0

    # (3) keep the student that agrees best with the teacher, and stop when it names forgotten
    #     classes after all
    def stop(pair: nn.Module, epoch: int) -> str | None:
        nonlocal best, reached
        z = torch.randn(batch_size, latent, generator=run.rng("check")).to(run.device)
        agreement, named = game.compare(z)
        if named > leak / data.classes:
            return (
                f"the student gave a forgotten class a probability of {named:.3f} {moment(epoch)}"
            )
        if agreement > reached:
            best = copy_state(student)
            reached = agreement
        return None

    # (4) an epoch is `check_every` batches of noise, each used for every step of both networks
    def latents(epoch: int) -> Latents:
        left = batches - epoch * check_every
        return Latents(latent, min(check_every, left), generator_steps + student_steps)

    fit(
        pair,
        [Phase(data=latents, batch_size=batch_size, loss=loss)],
        run,
        epochs=math.ceil(batches / check_every),
        optimizer=Optimizer(lr=lr, name="adam", grad_clip=grad_clip),
        edit_grads=game.one_at_a_time,
        stop=stop,
        watched=student,
    )
    student.load_state_dict(best)
    run.diagnostics["kept_share"] = game.kept_share()
    if reached >= 0:
        run.diagnostics["agreement"] = reached
    return student.eval()
