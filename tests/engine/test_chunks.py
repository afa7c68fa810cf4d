"""How many samples are taken at once: what a sample takes, counted by hand, and that a smaller
chunk gives the same numbers.
"""

from __future__ import annotations

import copy

import pytest
import torch
import toy
from torch import nn

from mucore.blocks import curvature, gradient_norms, layer_moments, sample_squares
from mucore.engine import chunks
from mucore.engine.batch import Batch
from mucore.engine.chunks import Sizes, chunk, sizes_of
from mucore.engine.predict import predictions
from mucore.engine.run import Run
from mucore.fitting import fitting

FLOAT = 4


def test_what_a_sample_takes_by_hand():
    network = nn.Sequential(
        nn.Conv2d(2, 5, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(5 * 6 * 6, 7)
    )
    # the convolution keeps its input; ReLU keeps its output, which the linear layer has as input
    assert sizes_of(network, (2, 6, 6)) == Sizes(
        graph=FLOAT * (2 * 36 + 5 * 36),
        passing=FLOAT * 2 * 5 * 36,  # ReLU: as much in as out
        patches=FLOAT * 36 * 2 * 9,  # nine pixels of two channels at each place
    )


def test_asking_leaves_the_network_and_its_gradients_as_they_were():
    network = toy.original("conv").train()
    network[0].weight.requires_grad_(False)
    before = copy.deepcopy(network.state_dict())
    asked = sizes_of(network, (1, 8, 8))
    assert asked.graph > 0 and network.training and all(m.training for m in network.modules())
    assert not network[0].weight.requires_grad and network[1].weight.requires_grad
    assert all(torch.equal(t, before[name]) for name, t in network.state_dict().items())
    assert all(p.grad is None for p in network.parameters())
    assert not list(toy.hooks(network))


@pytest.mark.parametrize(
    ("size", "most", "budget", "wanted"),
    [(1, 256, 256, 256), (1, 256, 255, 128), (100, 100, 1_299, 12), (1e9, 64, 1, 1), (0, 8, 1, 8)],
)
def test_a_chunk_is_a_halving_within_the_budget(size, most, budget, wanted):
    assert fitting(size, most, budget) == wanted


@pytest.fixture
def cramped(monkeypatch):
    """A budget that holds three samples of the toys."""
    size = sizes_of(toy.trained("conv"), (1, 8, 8))
    for module in (chunks, sample_squares):
        monkeypatch.setattr(module, "BUDGET", 3 * size.graph)


def everything() -> Batch:
    data = toy.request("conv")
    return next(data.retain.batches(Run(seed=0), 40))


def computed() -> dict[str, torch.Tensor]:
    network, batch = toy.original("conv").double().eval(), everything()
    batch = Batch(batch.x.double(), batch.y, batch.ids, batch.part)
    weights = dict(network.named_parameters())
    generator = torch.Generator().manual_seed(3)
    vector = torch.randn(
        sum(p.numel() for p in weights.values()), generator=generator, dtype=torch.float64
    )
    data = toy.request("conv").retain[torch.arange(40)]
    single = toy.original("conv").eval()
    return {
        "hessian": curvature.hessian_product(network, weights, batch, vector),
        "gauss-newton": curvature.gauss_newton_product(network, weights, batch, vector),
        "squares": torch.cat(
            [v.flatten() for v in sample_squares.summed_squares(network, batch.x, batch.y).values()]
        ),
        "norms": gradient_norms.squared_norms(network, batch.x, batch.y),
        "moments": torch.cat(
            [m.flatten() for m in layer_moments.layer_moments(single, data, Run(seed=0)).values()]
        ),
        "predictions": predictions(single, data, Run(seed=0)).double(),
    }


def test_small_chunks_give_the_same_numbers(cramped, monkeypatch):
    assert chunk(toy.trained("conv"), (1, 8, 8), 40, times=curvature.GRAPHS) == 1
    small = computed()
    monkeypatch.undo()
    assert chunk(toy.trained("conv"), (1, 8, 8), 40, times=curvature.GRAPHS) == 40
    for name, whole in computed().items():
        # moments are products in float32; all else is in double precision
        rtol, atol = (1e-4, 1e-4) if name == "moments" else (1e-9, 1e-12)
        assert torch.allclose(small[name], whole, rtol=rtol, atol=atol), name


def test_a_transformers_layers_are_squared_in_pieces(monkeypatch):
    layer, generator = nn.Linear(6, 4), torch.Generator().manual_seed(0)
    x, g = (torch.randn(9, 5, width, generator=generator) for width in (6, 4))
    monkeypatch.setattr(sample_squares, "PAIRS_WORTH", 0)
    whole = sample_squares._squares_of(layer, x, [g])
    monkeypatch.setattr(sample_squares, "HELD", (2 * 24, 2 * 24))
    pieces = sample_squares._squares_of(layer, x, [g])
    witness = torch.stack([(g[n].T @ x[n]).square() for n in range(9)]).sum(0)
    for found in (whole, pieces):
        assert torch.allclose(found["weight"], witness, rtol=1e-5)
        assert torch.allclose(found["bias"], g.sum(1).square().sum(0), rtol=1e-5)
