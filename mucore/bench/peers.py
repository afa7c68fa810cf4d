"""`python -m mucore bench --peers`: this project's methods beside those of torchunlearn.

torchunlearn (Harry24k/machine-unlearning-pytorch) is compared where it is importable; nothing is
installed. Both sides get the same images, as tensors in memory, the same network with the same
weights, and the same epochs, batch sizes and optimiser; nothing is evaluated on the way. Its
batches are cut from tensors that are normalised already, so that loading costs it nothing.

Methods are compared that are meant to do the same. Fisher (it squares the gradient of a batch's
mean), its influence function, AMUN and the like compute something else there, and are left out.
"""

from __future__ import annotations

import contextlib
import copy
import importlib
import io
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from mucore.bench import page
from mucore.bench.page import Line
from mucore.bench.runs import class_run, measure, seconds
from mucore.engine.data import Samples
from mucore.engine.features import classifier_layer
from mucore.engine.memory import keep_freed
from mucore.engine.run import Run
from mucore.errors import BadValue
from mucore.metrics import cost
from mucore.runner.session import Session
from mucore.spec import make_recipe
from mucore.store import default_home, open_store

GOAL = 1.2  # theirs / ours, for each shared method
BATCH, ROUNDS = 128, 3
SGD = "SGD(lr=0.001, momentum=0.9, weight_decay=0.0005)"
COMMON: Mapping[str, Any] = {
    "lr": 1e-3,
    "momentum": 0.9,
    "weight_decay": 5e-4,
    "batch_size": BATCH,
    "epochs": 1,
}
ABOUT = (
    "Written by `python -m mucore bench --peers --write`, beside torchunlearn "
    "(Harry24k/machine-unlearning-pytorch): the same images of `fashion-mnist-10k` (300 a class, "
    "one class goes), `resnet9-small` with the same weights, the same epochs, batches of 128 and "
    f"optimiser. Seconds are of the processor on a CPU, median of {ROUNDS} rounds after one that "
    "is not counted. Passes are those of a sample through a network, a gradient counting as two "
    "more."
)


@dataclass(frozen=True)
class Pair:
    """A class of torchunlearn and the method that does the same here, with the settings that make
    it the same. It trains on batches of `sets`, the shorter of which it cycles.
    """

    theirs: str
    ours: str
    parameters: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    optimizer: str = SGD
    sets: tuple[str, ...] = ("Retain", "Forget")


PAIRS: Sequence[Pair] = (
    Pair("Finetune", "finetune", COMMON),
    Pair(
        "NegGrad",
        "gradient_ascent",
        {**COMMON, "epochs": 5, "stop_loss": None, "grad_clip": None, "bn": "train"},
        sets=("Forget",),
    ),
    Pair(
        "NegGrad",
        "neggrad_plus",
        {**COMMON, "retain_weight": 0.95, "bn_forward": "concat", "forget_loss_cap": None},
        {"retain_lambda": 0.95},
    ),
    Pair(
        "RandomLabel",
        "random_labels",
        {**COMMON, "epochs": 5, "mode": "forget_only"},
        sets=("Forget",),
    ),
    Pair("L1Sparse", "l1_sparse", {**COMMON, "alpha": 1e-5}, {"gamma": 1e-5}),
    Pair("SalUn", "salun", {**COMMON, "density": 0.5}, {"saliency_threshold": 0.5}),
    Pair(
        "SCRUB",
        "scrub",
        {
            "epochs": 1,
            **{"lr": 1e-3, "momentum": 0.9, "weight_decay": 5e-4, "grad_clip": None},
            **{"msteps": 1, "alpha": 1.0, "gamma": 1.0, "temperature": 1.0},
            **{"retain_batch_size": BATCH, "forget_batch_size": BATCH},
        },
    ),
    Pair(
        "BadTeacher",
        "bad_teacher",
        {
            **{"lr": 1e-4, "batch_size": BATCH, "epochs": 1, "temperature": 1.0},
            **{"retain_fraction": 1.0, "reduction": "batchmean"},
        },
        optimizer="Adam(lr=0.0001)",
    ),
)


def benchmark_peers(*, quick: bool = False, write: bool = False, device: str = "auto") -> bool:
    """Measure and report. Returns whether every method is `GOAL` times as fast; `quick` figures
    are not judged. Raises `BadValue` where torchunlearn or its trainers cannot be imported.
    """
    peer = imported()
    with open_store(default_home() / "bench") as store:
        session = Session(store, device)
        if session.device.type == "cpu":
            keep_freed()  # as a worker does
        lines = [compare(pair, peer, session, quick=quick) for pair in PAIRS]
    return page.report(
        "## Beside torchunlearn", ABOUT, lines, device=device, quick=quick, write=write
    )


def imported() -> ModuleType:
    """torchunlearn with what is used of it. Raises `BadValue`."""
    try:
        peer = importlib.import_module("torchunlearn")
        importlib.import_module("torchunlearn.unlearn").Finetune  # noqa: B018 - not in every release
        importlib.import_module("torchunlearn.utils.data")
    except (ImportError, AttributeError) as problem:
        raise BadValue(
            f"torchunlearn and its trainers cannot be imported here ({problem}). Install its "
            "sources: pip install git+https://github.com/Harry24k/machine-unlearning-pytorch."
        ) from None
    return peer


def compare(pair: Pair, peer: ModuleType, session: Session, *, quick: bool) -> Line:
    """Both sides in turn, round by round."""
    page.say(f"{pair.theirs} and {pair.ours}")
    dataset, count, rounds = ("digits", 30, 1) if quick else ("fashion-mnist-10k", 300, ROUNDS)
    # one epoch: what a network has learned changes no time
    changes = {"epochs": 1, "batch_size": BATCH, "schedule": "constant", "per_class": count}
    recipe = make_recipe("standard", changes)
    spec = class_run(dataset, "resnet9-small", recipe, pair.ours, pair.parameters)
    original, _ = session.original(spec)
    run = session.run(spec, 0)
    data = session.unlearning_data(spec, session.forget_set(spec, original, run))
    sets = {"Retain": Batches(data.retain, run), "Forget": Batches(data.forget, run)}
    usual = copy.deepcopy(original).to(memory_format=torch.contiguous_format)  # ty: ignore[no-matching-overload]
    turns = [
        (measure(spec, session), train_theirs(pair, peer, usual, sets, session.run(spec, 0)))
        for _ in range(rounds + 1)
    ]
    # the first is not counted: it loads code and chooses kernels
    ours, theirs = zip(*turns[1:], strict=True)
    ratios = sorted(seconds(b) / seconds(a) for a, b in zip(ours, theirs, strict=True))
    ratio = statistics.median(ratios)
    passes = cost.work(cost=vars(theirs[0].cost)) / cost.work(cost=vars(ours[0].cost))
    return Line(
        f"{pair.theirs} / {pair.ours}",
        f"{ratio:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}); "
        f"{statistics.median(map(seconds, theirs)):.2f} s, "
        f"{statistics.median(map(seconds, ours)):.2f} s here; passes {passes:.2f}",
        f"at least {GOAL:g}",
        ratio >= GOAL,
    )


class Batches:
    """Batches (x, y) of normalised images, shuffled at each pass, as torchunlearn's trainers take
    them from a loader.
    """

    def __init__(self, samples: Samples, run: Run):
        parts = [(batch.x, batch.y) for batch in samples.batches(run, BATCH)]
        self.x, self.y = (torch.cat(each) for each in zip(*parts, strict=True))
        self.generator = torch.Generator().manual_seed(0)

    def __len__(self) -> int:
        return -(-len(self.y) // BATCH)

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        order = torch.randperm(len(self.y), generator=self.generator)
        for chosen in order.split(BATCH):
            yield self.x[chosen.to(self.x.device)], self.y[chosen.to(self.y.device)]


def train_theirs(
    pair: Pair, peer: ModuleType, network: nn.Module, sets: Mapping[str, Batches], run: Run
) -> Run:
    """`run` with the cost of one of torchunlearn's trainers on a copy of the network. Samples
    count that pass through it and through the teachers that are copies of it.
    """
    robust = peer.RobModel(copy.deepcopy(network), n_classes=classifier_layer(network).out_features)

    def count(module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        run.count_reads("all", len(inputs[0]), backward=torch.is_grad_enabled())

    robust.model.register_forward_pre_hook(count)  # of the copies, too
    merged = importlib.import_module("torchunlearn.utils.data").MergedLoaders
    maker = getattr(importlib.import_module("torchunlearn.unlearn"), pair.theirs)
    epochs = pair.parameters["epochs"]
    with contextlib.redirect_stdout(io.StringIO()), run.clock():
        trainer = maker(robust, **pair.options)
        if hasattr(trainer, "compute_saliency_mask"):
            trainer.compute_saliency_mask(sets["Forget"])
        trainer.setup(optimizer=pair.optimizer, n_epochs=epochs)
        trainer.fit(
            train_loaders=merged({name: sets[name] for name in pair.sets}),
            n_epochs=epochs,
            record_type=None,
            save_type=None,
        )
    return run
