"""`python -m mucore bench --gpu`: training and ten methods on a CUDA GPU.

The images are generated (no archive has to be there), written as an npz file and read as a user's
own data are: 50,000 of 32 by 32 pixels in ten classes, on which ResNet-18 is trained. How long
that takes does not depend on what they show.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from mucore import training
from mucore.bench import page
from mucore.bench.page import Line, bare_rate
from mucore.engine.run import Run
from mucore.errors import BadValue
from mucore.runner.execute import execute, unlearn_recorded
from mucore.runner.session import Session
from mucore.runs import RunSpec, make_recipe, make_spec
from mucore.store import open_store
from mucore.userfiles import datasets

SHARE_OF_BARE, GRAPHS = 0.9, 3.0
PROFILED = 20  # steps
# One of each kind, those that read the retain set among them.
METHODS = (
    *("finetune", "gradient_ascent", "neggrad_plus", "scrub", "bad_teacher"),
    *("salun", "ssd", "l1_sparse", "cf_k", "boundary_shrink"),
)
ABOUT = (
    "Written by `python -m mucore bench --gpu --write`: ResNet-18 on 50,000 generated images of 32 "
    "by 32 pixels in ten classes, preset `standard` with 5 epochs in batches of 128. Ten methods "
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


FULL = Size(50_000, 32, "resnet18", 128, 5)
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
            parts = (epochs, whole_run, against_retrain)
            lines = [line for part in parts for line in part(size, dataset, session)]
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
    """One epoch in each precision as trainings run, one with crops and flips, and that as graphs;
    what a step starts; the bare loop of the same call, plain and compiled.
    """
    lines, rates = [], {}
    compiled = partial(torch.compile, mode="reduce-overhead", disable=not torch.cuda.is_available())
    for precision in ("fp32", "bf16"):
        spec = size.spec(dataset, "retrain", precision=precision, epochs=1)
        page.say(f"epochs in {precision}")
        bare = bare_rate(session, spec)
        for what, natural, graphs, least in (
            ("An epoch", False, False, SHARE_OF_BARE),
            ("An epoch with crops and flips", True, False, SHARE_OF_BARE),
            ("The same as graphs", True, True, GRAPHS),
        ):
            run = epoch(session, spec, natural=natural, graphs=graphs)
            rate = size.images / run.cost.seconds
            beside = rates[precision] if graphs else bare
            rates[precision] = rate
            of = f"that, {_replayed(run)}" if graphs else "the bare loop"
            said = f"{rate:,.0f} images a second, {rate / beside:.2f} x of {of}, {_gib(run)}"
            what = f"{what}, {precision}"
            lines.append(Line(what, said, f"at least {least:g} x", rate / beside >= least))
        for name, graphs in (("A step", False), ("A step as a graph", True)):
            lines.append(Line(f"{name}, {precision}", profiled(session, spec, graphs=graphs)))
        began, images = time.perf_counter(), len(session.samples(spec, "train"))
        rate = bare_rate(session, spec, compiled)
        waited = time.perf_counter() - began - images / rate
        said = f"{rate / bare:.2f} x of the bare loop, after {waited:.0f} s"
        lines.append(Line(f"torch.compile, {precision}", said))
    ratio = rates["bf16"] / rates["fp32"]
    lines.append(Line("bf16 as graphs against fp32", f"{ratio:.2f} x", "1.2 x", ratio >= 1.2))
    return [*lines, many(session)]


def epoch(
    session: Session, spec: RunSpec, *, graphs: bool, natural: bool = True, most: int | None = None
) -> Run:
    """A run that trained one epoch of at most `most` samples."""
    samples = replace(session.samples(spec, "train"), natural=natural)
    samples = samples[torch.arange(len(samples))[:most]]
    run = session.run(spec, 0)
    run.graphs = graphs
    model = training.fresh_model(spec, session.splits(spec), 0).to(session.device)
    with run.clock():
        training.train(model, samples, spec.recipe, run)
    return run


def _replayed(run: Run) -> str:
    share = run.diagnostics.get("graph_steps", 0) / max(run.cost.steps, 1)
    return "; ".join([f"{share:.0%} of its steps replayed", *run.notes])


def profiled(session: Session, spec: RunSpec, *, graphs: bool) -> str:
    """What the host starts in a step, on average, and how much of the time the device works."""
    most = PROFILED * spec.recipe.batch_size
    with torch.profiler.profile() as seen:  # of CPU and GPU
        run = epoch(session, spec, most=most, graphs=graphs)
    events = seen.key_averages()
    kinds = ("aten::", "Launch", "cudaMemcpy", "Synchronize")
    counts = [sum(e.count for e in events if kind in e.key) / run.cost.steps for kind in kinds]
    said = zip(counts, ("operations", "launches", "copies", "waits"), strict=True)
    busy = sum(e.self_device_time_total for e in events) / 1e6 / run.cost.seconds
    return f"{', '.join(f'{n:,.0f} {what}' for n, what in said)}, GPU at work {busy:.0%}"


def many(session: Session, networks: int = 64) -> Line:
    """Gradients of small networks, of one after the other and of all as one batch of networks."""
    one = nn.Sequential(nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 10)).to(session.device)
    weights = {name: torch.stack([p.detach()] * networks) for name, p in one.named_parameters()}
    x = torch.randn((128, 784)).to(session.device)

    def loss(weights: dict[str, Tensor]) -> Tensor:
        return torch.func.functional_call(one, weights, (x,)).logsumexp(1).mean()

    def alone(weights: dict[str, Tensor]) -> None:
        for _ in range(networks):
            torch.autograd.grad(one(x).logsumexp(1).mean(), list(one.parameters()))

    runs = []
    for step in (alone, torch.func.vmap(torch.func.grad(loss))):
        step(weights)
        runs.append(Run(seed=0, device=session.device))
        with runs[-1].clock():
            for _ in range(10):
                step(weights)
    first, second = (run.cost.seconds * 100 for run in runs)
    said = f"{first:,.1f} ms one by one, {second:,.1f} ms as one, {first / second:.1f} x"
    return Line(f"Gradients of {networks} small networks", said)


def whole_run(size: Size, dataset: str, session: Session) -> list[Line]:
    """Where the time of a stored run goes whose references are there."""
    spec = size.spec(dataset, "finetune", precision="fp32", epochs=size.epochs)
    for needed in spec.needs():
        execute(needed, session)
    cost = execute(spec, session).cost
    method, judged = (cost[f"{part}seconds"] / cost["wall_seconds"] for part in ("", "evaluation_"))
    said = (
        f"method {method:.0%}, evaluation {judged:.0%}, data and storing {1 - method - judged:.0%}"
    )
    return [Line("A whole run of finetune", said, "at least 75 % the method", method >= 0.75)]


def against_retrain(size: Size, dataset: str, session: Session) -> list[Line]:
    """Retrain, and the time of each method relative to it and to its own as graphs."""
    lines, retrain = [], 0.0
    for method in ("retrain", *METHODS):
        page.say(method)
        spec = size.spec(dataset, method, precision="fp32", epochs=size.epochs)
        run = measure(spec, session)
        quick = measure(spec, session, graphs=True)
        retrain = retrain or run.cost.seconds
        said = f"{run.cost.seconds / retrain:.3f} of Retrain, {run.cost.seconds:.2f} s"
        said += f", {run.cost.seconds / quick.cost.seconds:.2f} x as graphs ({_replayed(quick)})"
        lines.append(Line(method, f"{said}, {run.status}, {_gib(run)}"))
    return lines


def measure(spec: RunSpec, session: Session, *, graphs: bool = False) -> Run:
    """A run of a method or of Retrain, with what it cost. The original, the forget set and the
    training records are there before the clock starts, as they are for a run of the queue.
    """
    original, _ = session.original(spec)
    run = session.run(spec, spec.training_seed)
    run.graphs = graphs
    forget = session.forget_set(spec, original, run)
    data = session.unlearning_data(spec, forget)
    if spec.method == "retrain":
        training.retrain(spec, run, session.splits(spec), data.retain)
    else:
        unlearn_recorded(spec, session, original, forget, data, run)
    return run


def _gib(run: Run) -> str:
    return f"{(run.cost.peak_memory_bytes or 0) / 2**30:.2f} GiB at most"
