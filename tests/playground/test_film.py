"""What a film keeps of a run: frames evenly apart, the ends among them, of one network alone."""

from __future__ import annotations

import torch
from torch import nn

from mucore.engine.run import Run
from mucore.playground.film import Film


def filmed(steps: int, most: int) -> tuple[Film, nn.Linear]:
    """A network whose weight is the number of the step, trained for so many steps of 10 samples."""
    run = Run(seed=0)
    film, model = Film(run, most), nn.Linear(1, 1, bias=False)
    run.observer = film
    for step in range(1, steps + 1):
        run.count_reads("retain", 10, backward=True)
        nn.init.constant_(model.weight, step)
        run.stepped(model)
    return film, model


def test_frames_lie_evenly_between_the_first_and_the_last() -> None:
    for steps in (1, 2, 7, 8, 60, 333, 5000):
        film, model = filmed(steps, most=8)
        first = nn.Linear(1, 1, bias=False)
        nn.init.zeros_(first.weight)
        shots = film.shots(first, model)
        found = [shot.step for shot in shots]
        assert 2 <= len(shots) <= 8 and found[0] == 0 and found[-1] == steps
        gaps = torch.tensor(found).diff()
        assert (gaps[:-1] == gaps[0]).all() and 0 < gaps[-1] < 2 * gaps[0] + 1
        for shot in shots:
            assert next(shot.network.parameters()).item() == shot.step
            assert abs(shot.share - shot.step / steps) < 1e-9
