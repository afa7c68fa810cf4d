"""What methods rely on in a network, on every kind of network: convolutions, transformers, layer
norms, attention in windows.
"""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import pytest
import torch
import toy
from torch import Tensor, nn

from mucore import models
from mucore.blocks import sample_squares
from mucore.blocks.channels import Channels
from mucore.blocks.layer_moments import layer_moments
from mucore.engine.data import Samples, TensorImages, UnlearningData
from mucore.engine.features import activations, classifier_layer
from mucore.engine.layers import reset_layers, tail
from mucore.engine.loop import Optimizer, Phase, fit, is_finite
from mucore.engine.run import Run
from mucore.errors import BadValue
from mucore.runs import Recipe
from mucore.training.records import FinalEpochs

SIZE, COUNT = 8, 8
QUICK = ["resnet18-0.4", "vit-tiny"]
HEAVY = ["allcnn", "mobilenet-v2", "mobilevit-s", "swin-t", "convnext-t"]
networks = pytest.mark.parametrize(
    "name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in HEAVY)]
)

# One for each thing that methods do to a network, shortened for eight images.
METHODS: dict[str, dict[str, Any]] = {
    "finetune": {"epochs": 1, "batch_size": 4},
    "cf_k": {"epochs": 1, "batch_size": 4},
    "eu_k": {"epochs": 1, "batch_size": 4},
    "ct": {"epochs": 1, "batch_size": 4},
    "msg": {"epochs": 1, "batch_size": 4},
    "niu": {"reset_epochs": 1, "noise_epochs": 1, "fine_epochs": 1, "batch_size": 4},
    "ssd": {"fisher": "sample", "batch_size": 4, "alpha": 1.0},
    "l1_sparse": {"epochs": 1, "batch_size": 4, "prune": 0.5},
    "boundary_expanding": {"epochs": 1, "batch_size": 2},
    "second_order": {
        "solver": "cg_ggn",
        "iterations": 2,
        "hvp_batch_size": 4,
        "param_scope": "last_block",
    },
    "pgu": {"epochs": 2, "batch_size": 4},
    "l_codec": {"perturbations": 12, "cap": 2, "candidates": 20, "group": 4, "l2_reg": 0.5},
    "scar": {"epochs": 1, "batch_size": 4, "class_surrogate_batches": 1},
    "gkt": {"batches": 2, "check_every": 1, "batch_size": 4, "student_steps": 1},
    "unsir": {"batch_size": 4, "noise_batches": 1, "class_noise_steps": 2},
}


@cache
def images() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(COUNT) % 2
    pixels = torch.randint(0, 100, (COUNT, 1, SIZE, SIZE), generator=generator) + 120 * labels.view(
        -1, 1, 1, 1
    )
    return pixels.to(torch.uint8), labels


def samples(index: Tensor, role: str) -> Samples:
    pixels, labels = images()
    return Samples(TensorImages(pixels, [0.5], [0.25], "cpu"), index, labels[index], index, role)


def build(name: str, seed: int = 0) -> nn.Module:
    return models.build(name, in_channels=1, classes=2, image_size=SIZE, seed=seed)


@cache
def trained(name: str) -> tuple[nn.Module, dict[str, Any]]:
    """A network after two epochs, and the records of them."""
    model, recorder, data = build(name), FinalEpochs(), samples(torch.arange(COUNT), "train")
    recorder.start(model, epochs=2, steps=4)
    fit(
        model,
        [Phase(data=data, batch_size=4)],
        Run(seed=0),
        epochs=2,
        optimizer=Optimizer(lr=0.01, momentum=0.9),
        edit_grads=recorder.before_step,
        after_step=recorder.after_step,
        stop=recorder.after_epoch,
    )
    # statistics that fit the weights: a running mean over four steps would not
    with torch.no_grad():
        norms = [
            module
            for module in model.modules()
            if isinstance(module, nn.modules.batchnorm._BatchNorm)
        ]
        for module in norms:
            module.momentum = 1.0
        model.train()(next(data.batches(Run(seed=0), COUNT)).x)
        for module in norms:
            module.momentum = 0.1
    return model.eval(), {
        "initial": lambda: build(name),
        "final_epochs": recorder.record(),
        "layer_moments": layer_moments(model, data, Run(seed=0))
        if name in ("mobilenet-v2", "vit-tiny")
        else {},
    }


def request(name: str) -> UnlearningData:
    forgotten = images()[1] == 0
    positions = torch.arange(COUNT)
    return UnlearningData(
        forget=samples(positions[forgotten], "forget"),
        retain=samples(positions[~forgotten], "retain"),
        validation=samples(positions, "validation"),
        classes=2,
        forgotten_classes=(0,),
        recipe=Recipe(epochs=2, batch_size=4, lr=0.01),
        fresh_model=lambda seed: build(name, seed),
        training_seed=0,
        record=trained(name)[1],
    )


# PGU decomposes a matrix a layer, of 1728 x 1728 in an All-CNN: minutes for nothing that the others
# do not show. The gradients of GKT's generator pass fifty batch norms over a few single pixels in
# an untrained MobileNet, and overflow or not as the processor rounds.
LEFT_OUT = {
    *((name, "pgu") for name in (*QUICK, *HEAVY) if name not in ("mobilenet-v2", "vit-tiny")),
    ("mobilenet-v2", "gkt"),
}
# A transformer with every method, and one of the others with each.
PAIRS = [
    (name, method)
    for place, method in enumerate(METHODS)
    for name in ("vit-tiny", HEAVY[place % 5])
    if (name, method) not in LEFT_OUT
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "method"), PAIRS)
def test_methods_run_on_every_kind_of_network(name: str, method: str) -> None:
    original, _ = trained(name)
    result, run = toy.on_copy(method, request(name), original, **METHODS[method])
    # L-CODEC may find that every update hurts; two steps of conjugate gradients seldom solve a
    # system.
    assert run.status in (
        "ok",
        {"l_codec": "reverted", "second_order": "unsolved"}.get(method),
    ) and is_finite(result)
    wanted = {key: t.shape for key, t in original.state_dict().items()}
    assert {key: t.shape for key, t in result.state_dict().items()} == wanted
    assert classifier_layer(result).out_features == 2
    assert not any(
        module._forward_hooks or module._forward_pre_hooks for module in result.modules()
    )
    assert all(p.requires_grad for p in result.parameters())
    # those may find that there is nothing to do
    if method not in ("boundary_expanding", "l_codec", "pgu", "ssd"):
        assert any(
            not torch.equal(t, original.state_dict()[key]) for key, t in result.state_dict().items()
        )


@pytest.mark.slow
def test_the_last_block_of_a_transformer_is_one_of_its_row() -> None:
    for name, k, block in (
        ("vit-tiny", 1, "blocks.11"),
        ("vit-tiny", 2, "blocks.10"),
        ("swin-t", 1, "layers.3"),
        ("convnext-t", 1, "stages.3"),
        ("mobilevit-s", 2, "stages.4"),
        ("mobilenet-v2", 1, "conv_head"),
        ("mobilenet-v2", 2, "blocks.6"),
        ("vgg11-bn", 1, "features.25"),
        ("allcnn", 2, "features.18"),
        ("resnet50", 1, "layer4"),
    ):
        model = build(name)
        chosen = list(tail(model, "block", k))
        head = next(
            path for path, module in model.named_modules() if module is classifier_layer(model)
        )
        assert chosen[0].startswith(block) and chosen[-1] == head, name
        share = sum(
            module.weight.numel()
            for module in model.modules()
            if isinstance(module, nn.Linear | nn.Conv2d)
        )
        moved = sum(
            p.numel()
            for path in chosen
            for p in model.get_submodule(path).parameters(recurse=False)
        )
        assert moved < 0.7 * share, name  # not the network as a whole


def test_parameters_without_a_rule_are_not_started_anew() -> None:
    generator = torch.Generator().manual_seed(0)
    reset_layers(tail(build("vit-tiny"), "block", 1), generator)
    with pytest.raises(
        BadValue,
        match=r"stages.3.blocks.0 has parameters of its own kind "
        r"\(ConvNeXtBlock\).*reset_from=theta_init",
    ):
        reset_layers(tail(build("convnext-t"), "block", 1), generator)
    with pytest.raises(BadValue, match="The network itself has parameters of its own kind"):
        reset_layers(tail(build("vit-tiny"), "block", 50), generator)


@networks
def test_importance_is_that_of_one_sample_at_a_time(name: str) -> None:
    model = build(name).eval()
    x = torch.randn(3, 1, SIZE, SIZE, generator=torch.Generator().manual_seed(1))
    y = torch.tensor([0, 1, 1])
    found = sample_squares.summed_squares(model, x, y)
    oracle = sample_squares.squares_one_by_one(model, x, y)
    assert found.keys() == dict(model.named_parameters()).keys()
    for key, values in oracle.items():
        torch.testing.assert_close(found[key], values, rtol=1e-3, atol=1e-5 * values.max().item())


def test_a_vit_takes_one_backward_pass_and_attention_in_windows_one_a_sample() -> None:
    x = torch.randn(2, 1, SIZE, SIZE, generator=torch.Generator().manual_seed(1))
    y = torch.tensor([0, 1])
    for name, closed in (("vit-tiny", True), ("resnet18-0.4", True), ("mobilevit-s", False)):
        assert (sample_squares.squares_by_layer(build(name).eval(), x, y) is not None) == closed


@networks
def test_channels_are_per_sample_whatever_a_layer_sees(name: str) -> None:
    """What a channel says of an image does not depend on the images beside it."""
    channels = Channels(build(name).eval())
    x = torch.randn(3, 1, SIZE, SIZE, generator=torch.Generator().manual_seed(1))
    values, logits = channels.values(x, Run(seed=0))
    assert values.shape == (3, len(channels)) and logits.shape == (3, 2)
    alone, _ = channels.values(x[1:2], Run(seed=0))
    torch.testing.assert_close(values[1:2], alone, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        # patches, and blocks with the class token
        ("vit-tiny", [(2, 192, 1, 16), (2, 192, 1, 17)]),
        ("allcnn", [(2, 192, 2, 2)]),
        ("mobilevit-s", [(2, 16, 8, 8), (2, 160, 1, 1), (2, 640, 1, 1)]),
        pytest.param("swin-t", [(2, 96, 4, 4), (2, 768, 1, 1)], marks=pytest.mark.slow),
        pytest.param("convnext-t", [(2, 96, 8, 8), (2, 768, 1, 1)], marks=pytest.mark.slow),
    ],
)
def test_stages_have_their_channels_second(name: str, shapes: list[tuple[int, ...]]) -> None:
    model = build(name).eval()
    with torch.no_grad(), activations(model) as seen:
        model(torch.zeros(2, 1, SIZE, SIZE))
    assert [tuple(each.shape) for each in seen] == shapes


def test_a_method_made_for_convolutions_says_how_few_there_are() -> None:
    for method in ("ct", "msg"):
        _, run = toy.unlearn(
            method, request("vit-tiny"), copy.deepcopy(trained("vit-tiny")[0]), **METHODS[method]
        )
        assert any(
            "% of the weights belong to convolutions, on which this method acts" in note
            for note in run.notes
        )
        _, run = toy.unlearn(
            method, request("allcnn"), copy.deepcopy(trained("allcnn")[0]), **METHODS[method]
        )
        assert not any("belong to convolutions" in note for note in run.notes)
