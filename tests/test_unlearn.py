"""`mucore.api.unlearn`: every method on a plain module, float inputs and a Dataset."""

from __future__ import annotations

import copy
import re
import warnings
from typing import Any

import facts
import pytest
import torch
import toy
from roster import ROSTER
from torch import nn
from torch.utils.data import TensorDataset

import mucore.api as mu
from mucore.engine.data import Inputs
from mucore.engine.loop import is_finite
from mucore.errors import MucoreError

TOY = toy.problem("conv")
GONE = TOY.labels == 0


def floats(pixels: torch.Tensor) -> torch.Tensor:
    return (pixels.float() / 255 - 0.5) / 0.2


X, V = floats(TOY.pixels), floats(TOY.validation_pixels)
# What methods lack that go by the training itself, and what makes those run that can do without
RECORDS = {"amnesiac": {}, "l_codec": {}, "eu_k": {"reset_from": "kaiming"}}
RECORDS |= {"unrolling": {"variant": "posthoc"}}
RECORDS |= {"ntk": {"scale": "fixed", "linearise_at": "trained"}}
LONG = ("amun", "gkt", "ntk", "second_order")


def unlearned(model: nn.Module, method: str, **changes: Any) -> Any:
    given: dict[str, Any] = {"train": TensorDataset(X, TOY.labels), "forget": GONE, "device": "cpu"}
    given |= {"validation": (V, TOY.validation_labels), "recipe": toy.RECIPE.model_dump()}
    given |= {"fresh": lambda: TOY.network(5)}
    return mu.unlearn(model, method, **given | changes)


@pytest.mark.parametrize(
    "method", [pytest.param(each, marks=[pytest.mark.slow] * (each in LONG)) for each in ROSTER]
)
def test_every_method_runs_on_a_plain_module_or_says_what_it_lacks(method: str):
    model, short = toy.original("conv").train(), dict(ROSTER[method].short)
    model[3].eval()
    model[0].weight.requires_grad_(False)
    before, random = copy.deepcopy(model), torch.get_rng_state()
    if method in RECORDS:
        with pytest.raises(MucoreError, match="needs .* of the original's training") as said:
            unlearned(model, method, **short)
        ways_out = RECORDS[method]
        assert all(f"{name} to {value}" in str(said.value) for name, value in ways_out.items())
        if not ways_out:
            return
    changes = short | RECORDS.get(method, {})
    if method == "scrub_rewind":  # not for whole classes
        changes |= {"forget": range(0, len(X), 10)}
    found, run = unlearned(model, method, **changes, return_run=True)
    assert run.status in ("ok", "reverted") and is_finite(found)
    assert toy.same(model, before) and torch.equal(torch.get_rng_state(), random)
    if method == "sisa":  # gives an ensemble in its place
        assert found(X[:3]).shape == (3, 4) and run.cost.prepared_seconds > 0
        return
    assert type(found) is type(model)
    assert not toy.same(found, model) or method == "scrub_rewind"
    for each in (model, found):
        assert [m.training for m in each.modules()] == [m.training for m in before.modules()]
        moving = [p.requires_grad for p in before.parameters()]
        assert [p.requires_grad for p in each.parameters()] == moving
        assert [*toy.hooks(each)] == [] and all(p.grad is None for p in each.parameters())


def recorded(model: nn.Module) -> dict[str, Any]:
    """Training records of a plain loop that knows nothing of mucore."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    summed = {f"sum/{name}": torch.zeros_like(p) for name, p in model.named_parameters()}
    last, met, draw = {}, 0, torch.Generator().manual_seed(0)
    for epoch in range(3):
        total = {name: torch.zeros_like(p) for name, p in model.named_parameters()}
        for places in torch.randperm(len(X), generator=draw).split(8):
            before = {name: p.detach().clone() for name, p in model.named_parameters()}
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(X[places]), TOY.labels[places]).backward()
            optimizer.step()
            met += (hit := bool(GONE[places].any()))
            for name, p in model.named_parameters():
                assert p.grad is not None
                total[name] += p.grad * len(places) / len(X)
                summed[f"sum/{name}"] += hit * (p.detach() - before[name])
        if epoch:
            which = {1: "before", 2: "last"}[epoch]
            last |= {f"gradient_{which}/{name}": each for name, each in total.items()}
        if epoch == 1:
            weights = {name: p.detach().clone() for name, p in model.named_parameters()}
            last |= {f"weights_before/{name}": each for name, each in weights.items()}
    steps = torch.tensor([3 * -(-len(X) // 8), met])
    return {"running_sum": {**summed, "steps": steps}, "final_epochs": last}


def test_records_of_a_plain_loop_unlock_what_goes_by_the_training():
    records = recorded(model := TOY.network(5))
    found = unlearned(model, "amnesiac", records=records, repair_epochs=0)
    for (name, p), q in zip(model.named_parameters(), found.parameters(), strict=True):
        assert torch.allclose(q, p - records["running_sum"][f"sum/{name}"], atol=1e-6)
    given = {"l_codec": records, "eu_k": {"initial": lambda: TOY.network(5)}}
    for method, each in given.items():
        moved = unlearned(model, method, records=each, **ROSTER[method].short)
        assert is_finite(moved) and not toy.same(moved, model)
    for lacking, words in (({}, "running_sum"), ({"running_sum": {}}, "records.py says")):
        with pytest.raises(MucoreError, match=words):
            unlearned(model, "amnesiac", records=lacking)
    with pytest.raises(MucoreError, match="records= with initial"):
        unlearned(model, "amnesiac", store="replay")
    with pytest.raises(MucoreError, match="Give fresh="):
        unlearned(model, "sisa", fresh=None)


@pytest.mark.parametrize("method", ["salun", "pgu", "unsir"])
def test_weights_are_those_of_the_usual_door(method: str):
    wanted, run = toy.unlearn(method, "conv", seed=3)
    given = toy.parameters(method)
    found, mine = unlearned(toy.original("conv"), method, seed=3, return_run=True, **given)
    assert (mine.losses, mine.cost.reads) == (run.losses, run.cost.reads)
    if method == "unsir":  # whose noise goes through pixels and back, by the range of the inputs
        pairs = zip(found.parameters(), wanted.parameters(), strict=True)
        assert all(torch.allclose(one, other, atol=1e-4) for one, other in pairs)
    else:
        assert toy.same(found, wanted)


def test_what_methods_call_pixels_are_the_images_before_somebody_normalised_them():
    images = Inputs(X, torch.device("cpu"))
    assert torch.allclose(X * images.std + images.mean, TOY.pixels.float() / 255, atol=1e-6)


def test_epochs_follow_the_recipe_and_the_seed_decides_layers_that_draw():
    model = nn.Sequential(nn.Flatten(), nn.Dropout(0.5), nn.Linear(64, 4))
    given = {"return_run": True, "lr": 0.01}
    (first, run), (again, _), (other, _) = (
        unlearned(model, "finetune", seed=seed, recipe={"epochs": 100}, **given)
        for seed in (0, 0, 1)
    )
    assert len(run.losses) == 5  # of the authors' 10 over a training of 200
    assert facts.tells(run.notes[0], "epochs", 5, "retain set")
    assert facts.numbers(run.notes[1]) == ["10", "200", "5", "100"]
    assert toy.same(first, again) and not toy.same(first, other)
    with pytest.warns(UserWarning, match="diverged"):
        assert is_finite(unlearned(model, "finetune", train=(X * 1e30, TOY.labels), lr=1.0))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["finetune", "salun", "ssd"])
def test_a_resnet_18_of_torchvision(method: str):
    from torchvision.models import resnet18

    torch.manual_seed(0)
    model, x, y = resnet18(num_classes=10), torch.randn(100, 3, 32, 32), torch.arange(100) % 10
    found = mu.unlearn(model, method, train=(x, y), forget=range(10), device="cpu")
    assert found.training and not toy.same(found, model)


FLAT = {"train": (X.flatten(1), TOY.labels), "model": nn.Linear(64, 4)}
FLAT |= {"validation": (V.flatten(1), TOY.validation_labels)}
TWICE = {"train": (X.repeat(1, 2, 1, 1), TOY.labels), "validation": None}
NO_HEAD = nn.Sequential(nn.Conv2d(1, 4, 8), nn.Flatten())
CONVOLVED = (nn.Linear(64, 9), nn.Unflatten(1, (9, 1, 1)), nn.Conv2d(9, 4, 1), nn.Flatten())
WRONG: list[tuple[str, str, dict[str, Any]]] = [
    ("'net.pth'", "finetune", {"model": "net.pth"}),
    ("no method named 'scrubb'. Did you mean scrub", "scrubb", {}),
    ("retrain makes nothing", "retrain", {}),
    ("no parameter 'lrr'. Did you mean lr?", "finetune", {"lrr": 1}),
    ("epochs must be at least 0", "finetune", {"recipe": {"epochs": -1}}),
    ("no field of a recipe named 'epoch'", "finetune", {"recipe": {"epoch": 3}}),
    ("cuda:99", "finetune", {"device": "cuda:99"}),
    ("forget names", "finetune", {"forget": [900]}),
    ("Give validation=", "duck", {"validation": None}),
    ("Give validation=", "rum", {"validation": None, "proxy": "heldout_retrain"}),
    ("Give fresh=", "bad_teacher", {"fresh": None}),
    *(("of model's class", "gkt", {"fresh": lambda n=n: TOY.network(0)[:n]}) for n in (0, 3)),
    ("must have one shape", "duck", {"validation": (V[..., 1:], TOY.validation_labels)}),
    ("gkt does not run where forget= names a part of a class", "gkt", {"forget": [1]}),
    ("where forget= names a part", "scar", {"forget": [1], "form": "self"}),
    *(("works on images", each, FLAT) for each in ("amun", "boundary_shrink", "scar", "unsir")),
    ("must be floats", "finetune", {"train": (TOY.pixels, TOY.labels)}),
    ("labels go from 0 to 7", "finetune", {"train": (X, TOY.labels * 2 + 1)}),
    ("samples [8, 2, 8, 8]", "finetune", TWICE),
    ("no linear layer", "duck", {"model": NO_HEAD}),
    ("defined last", "finetune", {"model": nn.Sequential(nn.Flatten(), *CONVOLVED)}),
]


@pytest.mark.parametrize(("words", "method", "changes"), WRONG)
def test_what_cannot_be_done_is_a_sentence(words: str, method: str, changes: dict[str, Any]):
    with warnings.catch_warnings(), pytest.raises(MucoreError, match=re.escape(words)):
        warnings.simplefilter("error")
        unlearned(**{"model": toy.original("conv")} | changes, method=method)
