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
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from mucore.bench import page
from mucore.bench.clock import Spread, Stopwatch
from mucore.bench.runs import Setting, measure, one_line, work
from mucore.engine.data import Samples
from mucore.engine.memory import give_back, keep_freed
from mucore.engine.run import Run
from mucore.errors import BadValue
from mucore.runner.session import Session
from mucore.spec import make_recipe
from mucore.store import default_home, open_store

GOAL = 1.2  # theirs / ours, for each shared method
BATCH = 128
RATE: Mapping[str, Any] = {"lr": 1e-3, "momentum": 0.9, "weight_decay": 5e-4}
SGD = "SGD(lr=0.001, momentum=0.9, weight_decay=0.0005)"
BOTH = ("Retain", "Forget")


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
    epochs: int = 1
    sets: tuple[str, ...] = BOTH


PAIRS: Sequence[Pair] = (
    # plain training on the retain set by the recipe; its trainer takes a loader, not two
    Pair(
        "Standard",
        "retrain",
        {},
        optimizer="SGD(lr=0.05, momentum=0.9, weight_decay=0.0005, nesterov=True)",
        sets=(),
    ),
    Pair("Finetune", "finetune", {**RATE, "batch_size": BATCH, "epochs": 1}),
    Pair(
        "NegGrad",
        "gradient_ascent",
        {
            **RATE,
            "batch_size": BATCH,
            "epochs": 5,
            "stop_loss": None,
            "grad_clip": None,
            "bn": "train",
        },
        epochs=5,
        sets=("Forget",),
    ),
    Pair(
        "NegGrad",
        "neggrad_plus",
        {
            **RATE,
            "batch_size": BATCH,
            "epochs": 1,
            "retain_weight": 0.95,
            "bn_forward": "concat",
            "forget_loss_cap": None,
        },
        options={"retain_lambda": 0.95},
    ),
    Pair(
        "RandomLabel",
        "random_labels",
        {**RATE, "batch_size": BATCH, "epochs": 5, "mode": "forget_only"},
        epochs=5,
        sets=("Forget",),
    ),
    Pair(
        "L1Sparse",
        "l1_sparse",
        {**RATE, "batch_size": BATCH, "epochs": 1, "alpha": 1e-5},
        options={"gamma": 1e-5},
    ),
    Pair(
        "SalUn",
        "salun",
        {**RATE, "batch_size": BATCH, "epochs": 1, "density": 0.5},
        options={"saliency_threshold": 0.5},
    ),
    Pair(
        "SCRUB",
        "scrub",
        {
            **RATE,
            "epochs": 1,
            "msteps": 1,
            "alpha": 1.0,
            "gamma": 1.0,
            "temperature": 1.0,
            "retain_batch_size": BATCH,
            "forget_batch_size": BATCH,
            "grad_clip": None,
        },
    ),
    Pair(
        "BadTeacher",
        "bad_teacher",
        {
            "lr": 1e-4,
            "batch_size": BATCH,
            "epochs": 1,
            "retain_fraction": 1.0,
            "temperature": 1.0,
            "reduction": "batchmean",
        },
        optimizer="Adam(lr=0.0001)",
    ),
)


@dataclass(frozen=True)
class Compared:
    """Seconds of both sides, the ratio theirs / ours round by round, and the same for their network
    in our layout of memory; passes of a sample through a network on either side. `error` says why
    there are none.
    """

    pair: Pair
    theirs: Spread | None = None
    ours: Spread | None = None
    ratio: Spread | None = None
    alike: Spread | None = None
    their_work: float = 0.0
    our_work: float = 0.0
    error: str = ""


def benchmark_peers(
    *, quick: bool = False, write: bool = False, device: str = "auto", repeats: int | None = None
) -> list[Compared]:
    """Measure, print, and with `write` put the table into docs/benchmarks.md.

    Raises `BadValue` where torchunlearn or its trainers cannot be imported.
    """
    page.refuse_quick_figures(quick, write)
    peer = imported()
    rounds = repeats or (1 if quick else 3)
    with open_store(default_home() / "bench") as store:
        session = Session(store, device)
        if session.device.type == "cpu":
            keep_freed()  # as a worker does
        found = [compare(pair, peer, setting(quick), session, rounds) for pair in PAIRS]
        if write:
            text = section(found, peer, rounds, page.machine(device))
    print(table(found))
    if write:
        page.put_section(text)
        print(f"Written to docs/{page.PAGE.name}.")
    return found


def imported() -> ModuleType:
    """torchunlearn with what is used of it. Raises `BadValue`."""
    try:
        peer = importlib.import_module("torchunlearn")
        importlib.import_module("torchunlearn.unlearn").Finetune  # noqa: B018 - not in every release
        importlib.import_module("torchunlearn.utils.data")
    except (ImportError, AttributeError) as problem:
        raise BadValue(
            f"torchunlearn and its trainers cannot be imported here ({one_line(problem)}). Install "
            "its sources: pip install git+https://github.com/Harry24k/machine-unlearning-pytorch."
        ) from None
    return peer


def setting(quick: bool) -> Setting:
    """One epoch: what a network has learned changes no time."""
    changes = {"epochs": 1, "batch_size": BATCH, "schedule": "constant"}
    return (
        Setting("digits", "resnet9-small", make_recipe("standard", changes | {"per_class": 30}))
        if quick
        else Setting(
            "fashion-mnist-10k",
            "resnet9-small",
            make_recipe("standard", changes | {"per_class": 300}),
        )
    )


def compare(
    pair: Pair, peer: ModuleType, where: Setting, session: Session, rounds: int
) -> Compared:
    """Both sides in turn, round by round. What fails is said in `error`."""
    page.say(f"{pair.theirs} and {pair.ours}")
    spec = where.of(pair.ours, "class_wise", {"class_ids": (0,)}, pair.parameters)
    original, _ = session.original(spec)
    run = session.run(spec, 0)
    data = session.unlearning_data(spec, session.forget_set(spec, original, run))
    loaders = {
        "Retain": Batches(data.retain, BATCH, run),
        "Forget": Batches(data.forget, BATCH, run),
    }
    usual = copy.deepcopy(original).to(memory_format=torch.contiguous_format)  # ty: ignore[no-matching-overload]
    theirs, alike, ours = [], [], []
    try:
        # not counted: the first time loads code and chooses kernels
        measure(spec, session)
        train_theirs(pair, peer, usual, loaders, data.classes)
        for _ in range(rounds):
            ours.append(measure(spec, session))
            theirs.append(train_theirs(pair, peer, usual, loaders, data.classes))
            with contextlib.suppress(RuntimeError):  # `view` of a weight in another layout
                alike.append(train_theirs(pair, peer, original, loaders, data.classes))
    except Exception as problem:  # one pair that fails must not cost the others' figures
        return Compared(pair, error=one_line(problem))
    seconds = [each["seconds"] for each in ours]
    return Compared(
        pair,
        theirs=Spread.of([each["seconds"] for each in theirs]),
        ours=Spread.of(seconds),
        ratio=_ratio(theirs, seconds),
        alike=_ratio(alike, seconds) if len(alike) == rounds else None,
        their_work=work(theirs[0]),
        our_work=work(ours[0]),
    )


def _ratio(theirs: Sequence[Mapping[str, Any]], ours: Sequence[float]) -> Spread:
    return Spread.of([each["seconds"] / beside for each, beside in zip(theirs, ours, strict=True)])


class Loader(Protocol):
    """What torchunlearn's trainers iterate."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]: ...


class Batches:
    """Batches (x, y) of normalised images, shuffled at each pass, as torchunlearn's trainers take
    them from a loader.
    """

    def __init__(self, samples: Samples, batch_size: int, run: Run):
        parts = [(batch.x, batch.y) for batch in samples.batches(run, batch_size)]
        self.x, self.y = (torch.cat(each) for each in zip(*parts, strict=True))
        self.batch_size = batch_size
        self.generator = torch.Generator().manual_seed(0)

    def __len__(self) -> int:
        return -(-len(self.y) // self.batch_size)

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        order = torch.randperm(len(self.y), generator=self.generator)
        for chosen in order.split(self.batch_size):
            yield self.x[chosen.to(self.x.device)], self.y[chosen.to(self.y.device)]


def train_theirs(
    pair: Pair, peer: ModuleType, network: nn.Module, loaders: Mapping[str, Loader], classes: int
) -> dict[str, Any]:
    """Seconds of one of torchunlearn's trainers on a copy of the network, and the samples that pass
    through it and through the teachers that are copies of it, with a gradient or without.
    """
    # the hook is of the copies too
    robust = peer.RobModel(copy.deepcopy(network), n_classes=classes)
    reads: Counter[str] = Counter()

    def count(module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        reads["backward" if torch.is_grad_enabled() else "forward"] += len(inputs[0])

    robust.model.register_forward_pre_hook(count)
    device = next(network.parameters()).device
    merged = importlib.import_module("torchunlearn.utils.data").MergedLoaders
    maker = getattr(importlib.import_module("torchunlearn.unlearn"), pair.theirs)
    give_back()  # ours begin so: what was kept of memory has to be asked for again
    with contextlib.redirect_stdout(io.StringIO()), Stopwatch(device) as watch:
        trainer = maker(robust, **pair.options)
        if hasattr(trainer, "compute_saliency_mask"):
            trainer.compute_saliency_mask(loaders["Forget"])
        trainer.setup(optimizer=pair.optimizer, n_epochs=pair.epochs)
        trainer.fit(
            train_loaders=merged({name: loaders[name] for name in pair.sets})
            if pair.sets
            else loaders["Retain"],
            n_epochs=pair.epochs,
            record_type=None,
            save_type=None,
        )
    return {"seconds": watch.seconds, "forward": 0, "backward": 0, **reads}


def table(found: Sequence[Compared]) -> str:
    """The table in Markdown, and a line for each pair that failed."""
    lines = [
        (
            "| theirs | ours | seconds theirs | seconds ours | theirs / ours | in our layout | "
            "passes theirs / ours | |"
        ),
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |",
        *(_row(each) for each in found if not each.error),
    ]
    lines += [
        f"\n{each.pair.theirs} and {each.pair.ours} were not compared: {each.error}"
        for each in found
        if each.error
    ]
    return "\n".join(lines)


def _row(each: Compared) -> str:
    assert each.theirs is not None and each.ours is not None and each.ratio is not None
    return (
        f"| {each.pair.theirs} | {each.pair.ours} | {each.theirs.text()} | {each.ours.text()} | "
        f"{each.ratio.text()} | {'' if each.alike is None else each.alike.text()} | "
        f"{each.their_work / each.our_work:.2f} | "
        f"{'' if each.ratio.median >= GOAL else f'**below {GOAL:g}**'} |"
    )


def section(
    found: Sequence[Compared], peer: ModuleType, rounds: int, names: Mapping[str, str]
) -> str:
    """The section of docs/benchmarks.md."""
    text = [
        "## Beside torchunlearn",
        "",
        (
            "Written by `python -m mucore bench --peers --write` beside torchunlearn "
            f"{getattr(peer, '__version__', '')} (Harry24k/machine-unlearning-pytorch): the same "
            "images of"
        ),
        (
            "`fashion-mnist-10k` (300 a class, one class goes), `resnet9-small` with the same "
            "weights, the same epochs, batches of 128 and optimiser."
        ),
        (
            "Its batches come from tensors that are normalised already. Seconds are of the "
            f"processor on a CPU, median of {rounds} turns, after one that is not counted, with "
            "the least and"
        ),
        (
            "the greatest. Its network has torch's usual layout of memory, and in the next column "
            "ours (recipe revision 2), where its code allows that."
        ),
        (
            "Passes are those of a sample through a network, a gradient counting as two more: "
            "torchunlearn cycles the forget set beside the retain set"
        ),
        f"where the papers' code, and ours, reads it once. Goal: {GOAL:g} for each.",
        "",
        table(found),
        "",
        (
            f"{names['Device']}, {names['Threads of torch']} threads, torch {names['torch']}, "
            f"{names['Measured']}."
        ),
        "",
    ]
    return "\n".join(text)
