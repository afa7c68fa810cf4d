"""The table of networks against networks without content, and what is made of sizes it lacks."""

from __future__ import annotations

import math

import pytest
import torch
from network_figures import measure

from mucore import catalog, models
from mucore.catalog import networks
from mucore.catalog.networks import network

EVERY = [(model, c, side) for model, shapes in networks.shapes().items() for c, side in shapes]
# the script that writes the table passes all by one path
ENDS = [(model, *min(shapes)) for model, shapes in networks.shapes().items()]


def test_the_table_has_every_model_and_every_shape_of_the_data_sets():
    assert {(m, *shape) for m, shapes in networks.table().items() for shape in shapes} == {*EVERY}
    shapes = {card.shape[:2] for card in catalog.datasets() if card.shape}
    for one in catalog.models():
        fitting = {(c, side) for c, side in shapes if side >= one.min_image_size}
        assert fitting and fitting <= {(c, side) for m, c, side in EVERY if m == one.id}


def test_the_table_says_what_networks_say():
    for model in ("mlp", "resnet18-0.4", "vit-tiny"):
        assert network(model, (3, 32, 32)) == measure(model, 3, 32)


@pytest.mark.slow
@pytest.mark.parametrize(("model", "channels", "side"), ENDS)
def test_the_first_shape_of_each_network_is_what_it_says(model: str, channels: int, side: int):
    assert network(model, (channels, side, side)) == measure(model, channels, side)


def test_weights_by_hand_and_as_a_network_has_them():
    figures = network("mlp", (1, 28, 28))
    layers = [(784, 512), (512, 256), (256, 128)]
    assert figures.parameters == sum((a + 1) * b for a, b in layers) + 2 * (512 + 256 + 128) * (
        figures.buffers > 0
    )
    assert figures.features == 128
    figures = network("mlp-2d", (2, 1, 1))
    assert figures.parameters == (2 + 1) * 64 + (64 + 1) * 64 and figures.features == 64
    built = models.build("resnet9-small", in_channels=1, classes=17, image_size=28, seed=0)
    figures = network("resnet9-small", (1, 28, 28))
    assert sum(p.numel() for p in built.parameters()) == figures.parameters + 17 * (
        figures.features + 1
    )


@pytest.mark.slow
@pytest.mark.parametrize("model", ["mlp", "resnet18", "mobilenet-v2", "vit-tiny"])
def test_sizes_between_those_of_the_table_are_near(model: str):
    # 48 pixels: what holds from 32 to 63; the nearest smaller size of the table is 32
    said, real = network(model, (3, 48, 48)), measure(model, 3, 48)
    assert said.features == real.features
    assert math.isclose(said.parameters, real.parameters, rel_tol=0.01)
    # attention grows with the square of the number of patches
    assert 0.6 < said.graph / real.graph < 1.2
    assert 0.5 < said.passing / real.passing < 1.6


def test_measuring_draws_nothing_from_the_global_generator():
    before = torch.get_rng_state()
    measure("resnet9-small", 1, 28)
    assert torch.equal(torch.get_rng_state(), before)
