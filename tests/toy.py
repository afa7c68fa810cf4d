"""Small problems with trained networks, on which every unlearning method runs in a fraction of a
second.

`mlp`: six Gaussian classes in 16 dimensions, written as 1x4x4 images, for a perceptron with batch
norm. `conv`: four noisy patterns of 8x8 pixels for a network of three convolutions with batch norm.
`attributes`: three yes-or-no labels an image, for the perceptron; they fall into no classes, so
only samples can be forgotten. All draws are seeded, and the networks are trained by
`engine.loop.fit`.
Under the short settings of roster.py every method runs on them in a fraction of a second.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import numpy as np
import pytest
import torch
from roster import ROSTER
from torch import Tensor, nn

from mucore import catalog, methods
from mucore.blocks.layer_moments import moments_to_keep
from mucore.blocks.pruning import KINDS, SparseTraining
from mucore.blocks.shards import Sharded, partition
from mucore.datasets.poisoned import poisoned
from mucore.datasets.splits import Split, Splits
from mucore.engine.data import Samples, TensorImages, UnlearningData
from mucore.engine.loop import Optimizer, Phase, fit
from mucore.engine.losses import cross_entropy, predicted, task_of
from mucore.engine.run import Run
from mucore.models import channels_last
from mucore.runs import REVISION, Recipe
from mucore.scenarios.poison import Poison, poisoned_ids
from mucore.training import check_replay, records, train

Name = str  # a key of PROBLEMS
RECIPE = Recipe(epochs=12, batch_size=64, lr=0.05, weight_decay=5e-4, revision=REVISION)


@dataclass(frozen=True)
class Problem:
    """A training set of uint8 pixels (n, c, h, w) with labels (n,) or (n, A), and a validation set
    of the same kind.
    """

    name: Name
    pixels: Tensor
    labels: Tensor
    validation_pixels: Tensor
    validation_labels: Tensor
    classes: int
    true_labels: Tensor | None = None  # as in UnlearningData, but of the whole training set
    trigger: Tensor | None = None

    def samples(
        self, index: Tensor, role: str, *, validation: bool = False, natural: bool = False
    ) -> Samples:
        pixels, labels = (
            (self.validation_pixels, self.validation_labels)
            if validation
            else (self.pixels, self.labels)
        )
        images = TensorImages(pixels, [0.5] * pixels.shape[1], [0.2] * pixels.shape[1], "cpu")
        first = len(self.labels) if validation else 0
        return Samples(images, index, labels[index], index + first, role, natural)

    def network(self, seed: int) -> nn.Sequential:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            if self.pixels.shape[-1] == 4:
                return nn.Sequential(
                    nn.Flatten(),
                    nn.Linear(16, 64),
                    nn.BatchNorm1d(64),
                    nn.ReLU(),
                    nn.Linear(64, 64),
                    nn.BatchNorm1d(64),
                    nn.ReLU(),
                    nn.Linear(64, self.classes),
                )
            network = nn.Sequential(
                nn.Conv2d(1, 8, 3, padding=1, bias=False),
                nn.BatchNorm2d(8),
                nn.ReLU(inplace=True),
                nn.MaxPool2d(2),
                nn.Conv2d(8, 16, 3, padding=1),
                nn.BatchNorm2d(16),
                nn.ReLU(inplace=True),
                nn.Conv2d(16, 16, 3, stride=2, padding=1),
                nn.BatchNorm2d(16),
                nn.ReLU(inplace=True),
                nn.AdaptiveAvgPool2d(1),
                nn.Flatten(),
                nn.Linear(16, self.classes),
            )
            channels_last(network)  # as runs have it
            return network


@cache
def problem(name: Name) -> Problem:
    return PROBLEMS[name]()


def _vectors() -> Problem:
    rng = np.random.default_rng(7)
    centres = rng.normal(0.5, 0.14, (6, 16))
    return _of_classes("mlp", rng, centres, counts=(300, 40), shape=(1, 4, 4), spread=0.09)


def _patterns() -> Problem:
    rng = np.random.default_rng(7)
    centres = rng.uniform(0.2, 0.8, (4, 64))
    return _of_classes("conv", rng, centres, counts=(100, 25), shape=(1, 8, 8), spread=0.15)


def _of_classes(
    name: Name,
    rng: np.random.Generator,
    centres: np.ndarray,
    *,
    counts: tuple[int, int],
    shape: tuple[int, int, int],
    spread: float,
) -> Problem:
    """Noise around the centre of each class."""
    sets = []
    for count in counts:
        labels = rng.permutation(np.repeat(np.arange(len(centres)), count))
        values = centres[labels] + rng.normal(0, spread, (len(labels), centres.shape[1]))
        sets += [_pixels(values, shape), torch.tensor(labels)]
    return Problem(name, *sets, classes=len(centres))


def _pixels(values: np.ndarray, shape: tuple[int, int, int]) -> Tensor:
    return torch.tensor((values.clip(0, 1) * 255).round().astype(np.uint8)).view(-1, *shape)


def _with_attributes() -> Problem:
    """Each attribute shifts every pixel by an amount of its own; noise hides part of that."""
    rng = np.random.default_rng(7)
    shifts, sets = rng.normal(0, 0.06, (3, 16)), []
    for count in (1200, 300):
        labels = rng.integers(0, 2, (count, 3))
        values = 0.5 + (2 * labels - 1) @ shifts + rng.normal(0, 0.12, (count, 16))
        sets += [_pixels(values, (1, 4, 4)), torch.tensor(labels)]
    return Problem("attributes", *sets, classes=3)


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "mlp": _vectors,
    "conv": _patterns,
    "attributes": _with_attributes,
}


@cache
def trained(name: Name) -> nn.Sequential:
    """The original model; take a copy."""
    toy = problem(name)
    data = toy.samples(torch.arange(len(toy.labels)), "train")
    optimizer = Optimizer(
        lr=RECIPE.lr,
        momentum=0.9,
        nesterov=True,
        weight_decay=RECIPE.weight_decay,
        schedule="cosine",
    )
    network = toy.network(0)
    fit(
        network,
        [Phase(data=data, batch_size=RECIPE.batch_size)],
        Run(seed=0),
        epochs=RECIPE.epochs,
        optimizer=optimizer,
    )
    return network


def original(name: Name) -> nn.Sequential:
    return copy.deepcopy(trained(name))


def request(
    name: Name,
    forget: Literal["class", "random", "poison"] | int | Tensor = "class",
    *,
    natural: bool = False,
    **changes: Any,
) -> UnlearningData:
    """What a method sees: all of class 0, every tenth sample, the poison, the first few, or the
    samples at an index are to be forgotten.
    """
    toy = problem(name)
    positions = torch.arange(len(toy.labels))
    if isinstance(forget, str) and forget == "poison":
        assert toy.true_labels is not None, "this toy is not poisoned"
        labels = toy.true_labels.numpy()
        ids = poisoned_ids(POISONS[name], labels, positions.numpy(), toy.classes)
        forget = torch.from_numpy(ids)
    if isinstance(forget, Tensor):
        chosen = torch.isin(positions, forget)
    elif forget == "class":
        assert toy.labels.dim() == 1, "attributes fall into no classes"
        chosen = toy.labels == 0
    else:
        chosen = positions % 10 == 0 if forget == "random" else positions < forget
    data = UnlearningData(
        forget=toy.samples(positions[chosen], "forget", natural=natural),
        retain=toy.samples(positions[~chosen], "retain", natural=natural),
        validation=toy.samples(
            torch.arange(len(toy.validation_labels)), "validation", validation=True
        ),
        classes=toy.classes,
        forgotten_classes=(0,) if isinstance(forget, str) and forget == "class" else (),
        recipe=RECIPE,
        fresh_model=toy.network,
        training_seed=0,
        record=_Records(name, tuple(positions[chosen].tolist())),
        task=task_of(toy.labels),
        true_labels=None if toy.true_labels is None else toy.true_labels[chosen],
        trigger=toy.trigger,
    )
    return replace(data, **changes)


class _Records(dict[str, Any]):
    """What the training of a toy recorded: made, once a process, when a method asks for it."""

    def __init__(self, name: Name, forget: tuple[int, ...]):
        super().__init__(initial=lambda: problem(name).network(0))
        self.name, self.forget = name, forget

    def __missing__(self, record: str) -> records.Record:
        return _recorded(self.name, record, self.forget if record in records.PER_REQUEST else ())


@cache
def _recorded(name: Name, record: str, forget: tuple[int, ...]) -> records.Record:
    toy = problem(name)
    data, run = toy.samples(torch.arange(len(toy.labels)), "train"), Run(seed=0)
    if record.startswith("shards/"):
        shards, slices, epochs = (
            RECIPE.epochs if part == "recipe" else int(part) for part in record.split("/")[1:]
        )
        parts = partition(data.ids, shards, slices, 0)
        return Sharded(
            parts=parts, epochs=epochs, recipe=RECIPE, fresh_model=toy.network, training_seed=0
        ).train_all(data, run)
    if record.partition("/")[0] in KINDS:
        return SparseTraining.of(record, RECIPE).train(toy.network(0), original(name), data, run)
    if record == "layer_moments":
        return moments_to_keep(original(name), data, run)
    recorder = records.REPLAYED[record](torch.tensor(forget, dtype=torch.int64), {"disk_cap": 1.0})
    network = train(toy.network(0), data, RECIPE, run, recorder=recorder)
    check_replay(network, trained(name))
    return recorder.record()


def fingerprint(model: nn.Module) -> str:
    """Hash of every tensor of the state, in order."""
    digest = hashlib.sha256()
    for name, tensor in model.state_dict().items():
        digest.update(name.encode() + tensor.numpy().tobytes())
    return digest.hexdigest()


def same(first: nn.Module, second: nn.Module, *, buffers: bool = True) -> bool:
    """Bit for bit equal parameters, and buffers too."""
    kept = first.state_dict() if buffers else dict(first.named_parameters())
    other = second.state_dict() if buffers else dict(second.named_parameters())
    return all(torch.equal(kept[name], other[name]) for name in kept)


POISONS: Mapping[Name, Poison] = {
    "mlp_flipped": {"scenario": "label_flip", "budget": 0.4, "pairs": None, "seed": 0},
    "conv_backdoor": {
        "scenario": "backdoor",
        "budget": 0.1,
        "target": 0,
        "size": 2,
        "value": 255,
        "position": "bottom_right",
        "seed": 0,
    },
}


def _poisoned(name: Name, clean: Problem) -> Problem:
    def split(pixels: Tensor, labels: Tensor) -> Split:
        return Split(pixels=pixels, labels=labels, ids=torch.arange(len(labels)))

    held_out = split(clean.validation_pixels, clean.validation_labels)
    names = tuple(map(str, range(clean.classes)))
    splits = poisoned(
        Splits(
            name=name,
            train=split(clean.pixels, clean.labels),
            validation=held_out,
            test=held_out,
            class_names=names,
            mean=(0.5,),
            std=(0.2,),
            natural=False,
            data_hash="",
        ),
        POISONS[name],
    )
    train = splits.train
    return replace(
        clean,
        name=name,
        pixels=train.pixels,
        labels=train.labels,
        true_labels=splits.true_labels,
        trigger=splits.trigger,
    )


PROBLEMS["mlp_flipped"] = lambda: _poisoned("mlp_flipped", problem("mlp"))
PROBLEMS["conv_backdoor"] = lambda: _poisoned("conv_backdoor", problem("conv"))


PLAIN: dict[str, Any] = {"momentum": 0.0, "weight_decay": 0.0}  # of an optimiser


def smooth(seed: int = 0) -> nn.Sequential:
    """A network without batch norm for the perceptron's data, in double precision, in eval mode."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = nn.Sequential(nn.Flatten(), nn.Linear(16, 20), nn.Tanh(), nn.Linear(20, 6))
    return network.double().eval()


@torch.no_grad()
def logits(model: nn.Module, samples: Samples) -> Tensor:
    return torch.cat([model(batch.x) for batch in samples.batches(Run(seed=0), 512)])


def accuracy(model: nn.Module, samples: Samples) -> float:
    return (
        (predicted(logits(model, samples), task_of(samples.labels)) == samples.labels)
        .float()
        .mean()
        .item()
    )


def loss(model: nn.Module, samples: Samples) -> float:
    return cross_entropy(logits(model, samples), samples.labels).item()


def hooks(model: nn.Module) -> Iterator[Any]:
    """All hooks that hang on a network."""
    kinds = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    for module in model.modules():
        for kind in kinds:
            yield from getattr(module, kind).values()


def draws(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def gradient(
    model: nn.Module, samples: Samples, loss: Callable[..., Tensor] = nn.functional.cross_entropy
) -> dict[str, Tensor]:
    """Of the loss of all samples in one batch, by weight."""
    (batch,) = samples.batches(Run(seed=0), len(samples))
    grads = torch.autograd.grad(loss(model(batch.x), batch.y), list(model.parameters()))
    return dict(zip(dict(model.named_parameters()), grads, strict=True))


def moved(after: nn.Module, before: nn.Module) -> dict[str, Tensor]:
    start = dict(before.named_parameters())
    return {name: p.detach() - start[name].detach() for name, p in after.named_parameters()}


def parameters(method: str, **changes: Any) -> dict[str, Any]:
    """The authors' values, shortened for the toys, with `changes` on top."""
    return (
        {p.name: p.default for p in catalog.method(method).parameters}
        | dict(ROSTER[method].short if method in ROSTER else {})
        | changes
    )


def settings(**values: Any) -> dict[str, Any]:
    """Parameters of a method, for several calls."""
    return values


def unlearn(
    method: str,
    data: UnlearningData | Name,
    model: nn.Module | Name | None = None,
    *,
    seed: int = 0,
    run: Run | None = None,
    **changes: Any,
) -> tuple[nn.Module, Run]:
    """Run a method on `model` itself and give what it returns, with its run. The name of a toy
    stands for its class to be forgotten, and for a copy of its trained network.
    """
    if not isinstance(data, UnlearningData):
        model = data if model is None else model
        data = request(data)
    assert model is not None
    model = model if isinstance(model, nn.Module) else original(model)
    run = run or Run(seed=seed)
    return methods.load(method)(model, data, run, **parameters(method, **changes)), run


def on_copy(
    method: str, data: UnlearningData, model: nn.Module, **options: Any
) -> tuple[nn.Module, Run]:
    """As `unlearn`, but `model` stays as it is."""
    return unlearn(method, data, copy.deepcopy(model), **options)


def in_float64(data: UnlearningData) -> UnlearningData:
    """The same request with images normalised in double precision, for exactness tests."""

    def wide(samples: Samples) -> Samples:
        images = copy.copy(samples.images)
        images.mean, images.std = images.mean.double(), images.std.double()
        return replace(samples, images=images)

    return replace(
        data, forget=wide(data.forget), retain=wide(data.retain), validation=wide(data.validation)
    )


def no_curvature(logits: Tensor, tangent: Tensor, y: Tensor) -> Tensor:
    """The tangent itself, the Hessian of half the squared distance; divided by A for attributes."""
    return tangent if task_of(y) == "classes" else tangent / logits.shape[1]


def watch_fit(monkeypatch: pytest.MonkeyPatch, method: str) -> list[dict[str, Any]]:
    """What the method hands to the loop, which then does nothing."""
    calls: list[dict[str, Any]] = []

    def stand_in(model: nn.Module, phases: list, run: Run, **options: Any) -> nn.Module:
        calls.append({"phases": phases, **options})
        return model.eval()

    monkeypatch.setattr(f"mucore.methods.{method}.fit", stand_in)
    return calls
