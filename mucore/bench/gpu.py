"""`python -m mucore bench --gpu`: training and ten methods on a CUDA GPU.

The images are generated (no archive has to be there), written as an npz file and read as a user's
own data are: 50,000 of 32 by 32 pixels in ten classes, on which ResNet-18 is trained. How long
that takes does not depend on what they show.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from mucore import training
from mucore.bench import page
from mucore.bench.page import Line, bare_rate
from mucore.engine.run import Run
from mucore.errors import BadValue
from mucore.runner.execute import unlearn_recorded
from mucore.runner.session import Session
from mucore.runs import RunSpec, make_recipe, make_spec
from mucore.store import open_store
from mucore.userfiles import datasets

SHARE_OF_BARE = 0.9
# One of each kind, those that read the retain set among them.
METHODS = (
    *("finetune", "gradient_ascent", "neggrad_plus", "scrub", "bad_teacher"),
    *("salun", "ssd", "l1_sparse", "cf_k", "boundary_shrink"),
)
ABOUT = (
    "Written by `python -m mucore bench --gpu --write`: ResNet-18 on 50,000 generated images of 32 "
    "by 32 pixels in ten classes, preset `standard` with 10 epochs in batches of 128. Ten methods "
    "with their authors' values forget one class."
)


@dataclass(frozen=True)
class Size:
    """How large everything is."""

    images: int
    pixels: int
    model: str
    batch: int
    epochs: int

    def spec(self, dataset: str, method: str, *, precision: str, epochs: int) -> RunSpec:
        """A run in which a method forgets the first class, with the authors' parameters."""
        changes = {"epochs": epochs, "batch_size": self.batch, "precision": precision}
        return make_spec(
            dataset=dataset,
            data_hash=datasets.data_hash(dataset),
            model=self.model,
            recipe=make_recipe("standard", changes),
            scenario="class_wise",
            scenario_parameters={"class_ids": (0,)},
            method=method,
        )


FULL = Size(50_000, 32, "resnet18", 128, 10)
QUICK = Size(200, 8, "resnet9-small", 32, 1)


def benchmark_gpu(*, quick: bool = False, write: bool = False, device: str = "auto") -> bool:
    """Measure and report. Returns whether every promise was kept.

    `quick` runs the same code at a small size, on a CPU too, and judges nothing. Raises `BadValue`
    without a GPU otherwise.
    """
    if not quick and (device == "cpu" or not torch.cuda.is_available()):
        raise BadValue(
            "These figures are of a CUDA GPU, and this torch sees none. Run it on a machine with "
            "one, or look whether the code runs with --quick --device cpu."
        )
    device = "cuda" if device == "auto" and torch.cuda.is_available() else device
    size = QUICK if quick else FULL
    with tempfile.TemporaryDirectory(prefix="mucore-bench-") as folder:
        dataset = f"npz:{drawn(Path(folder) / 'drawn.npz', size.images, size.pixels)}"
        with open_store(Path(folder) / "home") as store:
            session = Session(store, device)
            lines = [*epochs(size, dataset, session), *against_retrain(size, dataset, session)]
    return page.report("## On a GPU", ABOUT, lines, device=device, quick=quick, write=write)


def drawn(path: Path, images: int, pixels: int, classes: int = 10) -> Path:
    """An npz file of coloured noise, each class around a pattern of its own; as many images for
    validation and for test as a tenth of those for training.
    """
    rng = np.random.default_rng(0)
    patterns = rng.integers(0, 128, (classes, pixels, pixels, 3), dtype=np.uint8)
    arrays = {}
    for part, count in (("train", images), ("val", images // 10), ("test", images // 10)):
        labels = rng.permutation(np.arange(count) % classes)
        noise = rng.integers(0, 128, (count, pixels, pixels, 3), dtype=np.uint8)
        arrays |= {f"x_{part}": patterns[labels] + noise, f"y_{part}": labels}
    np.savez(path, **arrays)
    return path


def epochs(size: Size, dataset: str, session: Session) -> list[Line]:
    """One epoch in each precision as trainings run, and one with crops and flips, beside the bare
    loop.
    """
    lines = []
    for precision in ("fp32", "bf16"):
        spec = size.spec(dataset, "retrain", precision=precision, epochs=1)
        page.say(f"epochs in {precision}")
        bare = bare_rate(session, spec)
        for what, natural in (("An epoch", False), ("An epoch with crops and flips", True)):
            samples = replace(session.samples(spec, "train"), natural=natural)
            run = session.run(spec, 0)
            model = training.fresh_model(spec, session.splits(spec), 0).to(session.device)
            with run.clock():
                training.train(model, samples, spec.recipe, run)
            rate = len(samples) / run.cost.seconds
            lines.append(
                Line(
                    f"{what}, {precision}",
                    f"{rate:,.0f} images a second, {rate / bare:.1%} of the bare loop, {_gib(run)}",
                    f"at least {SHARE_OF_BARE:.0%} of the bare loop",
                    rate / bare >= SHARE_OF_BARE,
                )
            )
    return lines


def against_retrain(size: Size, dataset: str, session: Session) -> list[Line]:
    """Retrain, and the time of each method relative to it."""
    lines, retrain = [], 0.0
    for method in ("retrain", *METHODS):
        page.say(method)
        run = measure(size.spec(dataset, method, precision="fp32", epochs=size.epochs), session)
        retrain = retrain or run.cost.seconds
        share = f"{run.cost.seconds / retrain:.3f} of Retrain, {run.cost.seconds:.2f} s"
        lines.append(Line(method, f"{share}, {run.status}, {_gib(run)}"))
    return lines


def measure(spec: RunSpec, session: Session) -> Run:
    """A run of a method or of Retrain, with what it cost. The original, the forget set and the
    training records are there before the clock starts, as they are for a run of the queue.
    """
    original, _ = session.original(spec)
    run = session.run(spec, spec.training_seed)
    forget = session.forget_set(spec, original, run)
    data = session.unlearning_data(spec, forget)
    if spec.method == "retrain":
        training.retrain(spec, run, session.splits(spec), data.retain)
    else:
        unlearn_recorded(spec, session, original, forget, data, run)
    return run


def _gib(run: Run) -> str:
    return f"{(run.cost.peak_memory_bytes or 0) / 2**30:.2f} GiB at most"
