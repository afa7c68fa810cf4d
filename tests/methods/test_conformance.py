"""What every unlearning method must do, whatever its idea: one table over the whole roster."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import footprints
import numpy as np
import pytest
import torch
import toy
from _pytest.mark import ParameterSet
from roster import ROSTER
from shared_tensors import shared
from torch import Tensor, nn

from mucore import catalog, methods
from mucore.engine.data import Images, TensorImages, UnlearningData
from mucore.engine.ensemble import Ensemble
from mucore.engine.features import classifier_layer
from mucore.engine.loop import is_finite
from mucore.engine.run import Run
from mucore.errors import Cancelled
from mucore.testing.contract import ForbiddenRead, forbid

method_names = pytest.mark.parametrize("method", list(ROSTER))
SETS = ("forget", "retain", "validation")


@dataclass
class CountingImages:
    """Counts the images that are really taken; `broken_after`: later ones come as NaN."""

    inner: Images
    taken: int = 0
    takes: int = 0
    broken_after: int | None = None

    def __post_init__(self) -> None:
        self.shape, self.mean, self.std = self.inner.shape, self.inner.mean, self.inner.std

    def take(self, positions: Tensor) -> Tensor:
        self.taken += len(positions)
        self.takes += 1
        pixels = self.inner.take(positions)
        return (
            pixels
            if self.broken_after is None or self.takes <= self.broken_after
            else torch.full(pixels.shape, torch.nan)
        )


def watched(data: UnlearningData, reads: frozenset[str]) -> UnlearningData:
    """Sets that the card does not name raise when they are looked at, the others are counted."""
    return replace(
        data,
        **{
            role: replace(getattr(data, role), images=CountingImages(getattr(data, role).images))
            if role in reads
            else forbid(getattr(data, role))
            for role in SETS
        },
    )


def taken(data: UnlearningData) -> dict[str, int]:
    """How many images were taken of each watched set that was read."""
    found = {role: getattr(data, role).images for role in SETS}
    counted = {role: each for role, each in found.items() if isinstance(each, CountingImages)}
    return {role: images.taken for role, images in counted.items() if images.taken}


def torch_settings() -> tuple[Any, ...]:
    """What all runs of a process share, and no method may change."""
    return (
        torch.get_default_dtype(),
        torch.is_grad_enabled(),
        torch.get_num_threads(),
        torch.are_deterministic_algorithms_enabled(),
        torch.backends.cudnn.benchmark,
    )


def test_every_method_has_its_line():
    # Retrain and uploaded weights have no function of their own.
    assert set(ROSTER) == {card.id for card in catalog.METHODS} - {"retrain", "uploaded"}


@method_names
def test_the_file_and_the_card(method: str):
    function, card = methods.load(method), catalog.method(method)
    signature = inspect.signature(function)
    kinds = {name: p.kind for name, p in signature.parameters.items()}
    assert list(kinds)[:3] == ["model", "data", "run"]
    settings = {name: p for name, p in signature.parameters.items() if p.kind is p.KEYWORD_ONLY}
    assert list(settings) == [p.name for p in card.parameters]
    assert len(settings) == len(kinds) - 3
    assert all(p.default is p.empty for p in settings.values())

    lines = (inspect.getdoc(function) or "").splitlines()
    lines = [line for line in lines if not line.startswith(" ")]  # what goes on is indented
    assert [line.split(": ")[0] for line in lines[:4]] == ["Paper", "Code", "Reads", "Differs"]
    assert all(len(line.split(": ", 1)[1]) > 3 for line in lines[:4])

    path = Path(inspect.getfile(function))
    text = path.read_text(encoding="utf-8")
    assert path.stem == method
    # CONTRIBUTING.md asks for about 100; those with many parameters take a few more
    assert 20 <= len(text.splitlines()) <= 150
    assert "# (1) " in text

    assert card.title and card.source and card.summary.endswith(".") and card.storage
    assert card.family in catalog.FAMILIES
    assert card.reads <= {"retain", "forget", "validation", "training_record"}
    for p in card.parameters:
        assert p.help.endswith("."), p.name
        assert p.default is not None or p.optional, p.name
        assert p.kind in ("choice", "bool", "ints") or (p.low is not None and p.high is not None), (
            p.name
        )
        assert p.kind != "choice" or p.default in p.choices, p.name
        if p.kind in ("int", "float") and p.default is not None:
            assert p.low is not None and p.high is not None and p.low <= p.default <= p.high, p.name
    if any(p.scales_with_epochs for p in card.parameters):
        assert card.paper_epochs


# -- one run

LONG = ("ntk", "amun")  # take seconds for the perceptron


def case(method: str, *name: toy.Name) -> ParameterSet:
    slow = method in LONG and "conv" not in name
    return pytest.param(method, *name, marks=[pytest.mark.slow] * slow)


@pytest.mark.parametrize(
    ("method", "name"), [case(method, name) for method in ROSTER for name in ("mlp", "conv")]
)
def test_a_run_keeps_the_contract(method: str, name: toy.Name):
    """What comes back, what is left alone, what is read and counted, and where it leads."""
    data, start, expected = toy.request(name), toy.trained(name), ROSTER[method]
    before = {what: tensor.clone() for what, tensor in shared(start, data)}
    reads, told, shared_settings = catalog.method(method).reads, [], torch_settings()
    seen, run = watched(data, reads), Run(seed=0, on_progress=told.append)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        states = torch.get_rng_state(), np.random.get_state()[1].copy()  # ty: ignore[invalid-argument-type]
        result, _ = toy.unlearn(method, seen, name, run=run)
        assert torch.equal(torch.get_rng_state(), states[0])
        assert np.array_equal(np.random.get_state()[1], states[1])  # ty: ignore[invalid-argument-type]

    after = dict(shared(start, data))
    assert before.keys() == after.keys() and torch_settings() == shared_settings
    assert [what for what in before if not torch.equal(before[what], after[what])] == []

    wanted = [(key, value.shape, value.dtype) for key, value in start.state_dict().items()]
    for network in result.members if isinstance(result, Ensemble) else [result]:
        given = [(key, value.shape, value.dtype) for key, value in network.state_dict().items()]
        assert given == wanted
        assert not toy.same(network, start)
    assert not any(module.training for module in result.modules())
    assert all(p.requires_grad for p in result.parameters())
    assert not list(toy.hooks(result))
    assert is_finite(result) and run.status == "ok"
    assert classifier_layer(result).out_features == data.classes

    assert told and all(each.step and 0 <= each.fraction <= 1 for each in told)
    read, said = taken(seen), run.cost.reads
    assert read == {
        role: count
        for role in SETS
        if (count := said[f"{role}/backward"] + said[f"{role}/forward"])
    }
    if name == "mlp" and read.keys() != reads & set(SETS):  # some need less for whole classes
        others = watched(toy.request("mlp", "random"), reads)
        toy.unlearn(method, others, "mlp")
        assert taken(others).keys() == reads & set(SETS)
    footprints.check(method, name, data, run.cost)

    if name == expected.direction_on:
        was, now = (toy.accuracy(model, data.forget) for model in (start, result))
        assert now < was if expected.lowers_accuracy else now <= was
        assert toy.loss(result, data.forget) > toy.loss(start, data.forget)
    if name == "mlp":
        check_seeds(method, data, result, run)


def check_seeds(method: str, data: UnlearningData, first: nn.Module, first_run: Run) -> None:
    """The run's seed decides, not the global generator, nor sets that the card does not name."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(2)
        second, second_run = toy.unlearn(method, data, "mlp")
    assert toy.same(first, second)
    assert first_run.losses == second_run.losses
    third, _ = toy.unlearn(method, data, "mlp", seed=1)
    assert toy.same(first, third) != ROSTER[method].stochastic


@pytest.mark.parametrize(
    "method", [case(name) for name, expected in ROSTER.items() if expected.zero is not None]
)
def test_zero_strength_changes_nothing(method: str):
    options = dict(ROSTER[method].zero or {})
    frozen = "bn" in {p.name for p in catalog.method(method).parameters}
    if frozen:
        options["bn"] = "frozen"
    result, _ = toy.unlearn(method, "mlp", **options)
    assert toy.same(result, toy.trained("mlp"), buffers=frozen or method == "ssd")


def test_the_audit_notices_a_forbidden_read():
    data = toy.request("mlp")
    with pytest.raises(ForbiddenRead, match="retain set was read"):
        toy.unlearn("finetune", replace(data, retain=forbid(data.retain)), "mlp")


@pytest.mark.slow
@method_names
def test_a_last_batch_of_one_sample_in_half_precision(method: str):
    name = ROSTER[method].direction_on  # batch norm without pixels is the stricter one
    batches: dict[str, Any] = {
        p.name: 64 for p in catalog.method(method).parameters if p.name.endswith("batch_size")
    }
    chosen = Run(seed=0, precision="bf16")
    result, run = toy.unlearn(method, toy.request(name, 65), name, run=chosen, **batches)
    assert is_finite(result) and run.status == "ok"
    assert all(p.dtype == torch.float32 for p in result.parameters())
    assert (
        sum(run.cost.reads[f"forget/{kind}"] for kind in ("forward", "backward")) > 0
        or "forget" not in catalog.method(method).reads
    )


# -- when things go wrong


@pytest.mark.slow
@method_names
def test_not_a_number_ends_in_a_finite_model(method: str):
    data = toy.request("mlp")
    images = {
        role: CountingImages(getattr(data, role).images, broken_after=2)
        for role in catalog.method(method).reads & set(SETS)
    }
    if not images:
        pytest.skip("no image that it reads can be broken")
    broken = {role: replace(getattr(data, role), images=images[role]) for role in images}
    result, run = toy.unlearn(method, replace(data, **broken), "mlp")
    assert run.status == "diverged"
    assert run.stop_reason
    assert is_finite(result)
    assert not any(module.training for module in result.modules())


@method_names
def test_cancel_ends_it(method: str):
    asked: list[bool] = []

    def cancelled() -> bool:
        asked.append(True)
        return len(asked) > 1

    with pytest.raises(Cancelled):
        toy.unlearn(method, "mlp", run=Run(seed=0, cancelled=cancelled))
    assert len(asked) == 2


# -- what it is for


@pytest.mark.parametrize(
    "method", [name for name, expected in ROSTER.items() if expected.forgets is not None]
)
def test_a_class_is_forgotten_and_the_others_are_kept(method: str):
    data = toy.request("mlp")
    result, _ = toy.unlearn(method, data, "mlp", **(ROSTER[method].forgets or {}))
    assert toy.accuracy(result, data.forget) <= 0.05
    assert toy.accuracy(result, data.retain) >= 0.9


@pytest.mark.parametrize(
    ("method", "name", "values", "options"),
    [
        ("first_order", "tau", (0.005, 0.01, 0.02), {}),
        ("fisher", "alpha", (1e-8, 1e-6, 1e-4), {}),
        ("gradient_ascent", "epochs", (1, 2, 4), {"lr": 0.01, "stop_loss": None}),
    ],
)
def test_more_of_a_strength_does_not_bring_the_forget_set_back(
    method: str, name: str, values: tuple[Any, ...], options: dict[str, Any]
):
    data = toy.request("mlp")
    found = [toy.unlearn(method, data, "mlp", **options, **{name: value})[0] for value in values]
    accuracies = [toy.accuracy(model, data.forget) for model in (toy.trained("mlp"), *found)]
    assert accuracies == sorted(accuracies, reverse=True) and accuracies[-1] < accuracies[0]


def test_the_toys_are_learned():
    for name in ("mlp", "conv"):
        data = toy.request(name)
        assert toy.accuracy(toy.trained(name), data.forget) >= 0.99
        assert toy.accuracy(toy.trained(name), data.validation) >= 0.99
        assert isinstance(data.forget.images, TensorImages)
