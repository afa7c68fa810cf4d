"""`python -m mucore bench --gpu`: what this project promises on a GPU, in eight minutes.

The images are generated (no archive has to be there), written as an npz file and read as a user's
own data are: 50,000 of 32 by 32 pixels in ten classes, on which ResNet-18 is trained. How long
that takes does not depend on what they show. Every part has a time that it needs; one that no
longer fits is said to be skipped, and one that fails costs no other.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

import numpy as np
import torch

from mucore import training
from mucore.bench import page
from mucore.bench.bare import bare_loop
from mucore.bench.page import Line
from mucore.bench.runs import Setting, measure, one_line
from mucore.engine.loop import Optimizer, Phase, fit
from mucore.engine.run import Run
from mucore.errors import BadValue, Cancelled, MucoreError
from mucore.runner.session import Session
from mucore.spec import RunSpec, make_recipe
from mucore.store import Store, open_store

SECONDS = 480.0  # for everything
SHARE_OF_BARE = 0.9
# One of each kind, those that read the retain set among them.
METHODS = (
    "finetune",
    "gradient_ascent",
    "neggrad_plus",
    "scrub",
    "bad_teacher",
    "salun",
    "ssd",
    "l1_sparse",
    "cf_k",
    "boundary_shrink",
)
Variant = tuple[str, int]  # precision, and revision of the recipe: 2 is channels_last
VARIANTS: Mapping[Variant, str] = {
    ("fp32", 1): "fp32, usual layout",
    ("fp32", 2): "fp32, channels_last",
    ("bf16", 1): "bf16, usual layout",
    ("bf16", 2): "bf16, channels_last",
}


@dataclass(frozen=True)
class Size:
    """How large everything is."""

    images: int
    pixels: int
    model: str
    batch: int
    large: int  # a batch for which memory is made too small
    epochs: int  # at most, of the original
    workers: tuple[int, ...]
    methods: tuple[str, ...]

    def setting(self, dataset: str, variant: Variant, epochs: int = 1) -> Setting:
        precision, revision = variant
        changes = {
            "epochs": epochs,
            "batch_size": self.batch,
            "precision": precision,
            "revision": revision,
        }
        return Setting(dataset, self.model, make_recipe("standard", changes))


FULL = Size(50_000, 32, "resnet18", 128, 4096, 15, (1, 2, 4), METHODS)
QUICK = Size(200, 8, "resnet9-small", 32, 64, 1, (1, 2), METHODS)


class Budget:
    """Seconds left for all parts together, and the figures so far."""

    def __init__(self, seconds: float):
        self.seconds = seconds
        self.ends = time.monotonic() + seconds
        self.lines: list[Line] = []

    @property
    def left(self) -> float:
        return self.ends - time.monotonic()

    def part(self, what: str, needs: float, measured: Callable[[], Sequence[Line]]) -> None:
        """Add the figures of one part, or a line that says why there are none."""
        if self.left < needs:
            self.lines.append(
                Line(what, f"skipped: it takes {needs:.0f} s, and {max(self.left, 0):.0f} are left")
            )
            return
        page.say(what)
        try:
            self.lines += measured()
        except Exception as problem:  # one part that fails must not cost the others' figures
            self.lines.append(Line(what, f"failed: {one_line(problem)}", met=False))


def benchmark_gpu(
    *, quick: bool = False, write: bool = False, device: str = "auto", seconds: float = SECONDS
) -> bool:
    """Measure, print, and with `write` put the figures into docs/benchmarks.md. Returns whether
    every promise was kept and no part failed.

    `quick` runs the same code at a small size, on a CPU too, and judges nothing. Raises `BadValue`
    without a GPU otherwise.
    """
    page.refuse_quick_figures(quick, write)
    if not quick and (device == "cpu" or not torch.cuda.is_available()):
        raise BadValue(
            "These figures are of a CUDA GPU, and this torch sees none. Run it on a machine with "
            "one, or look whether the code runs with --quick --device cpu."
        )
    device = "cuda" if device == "auto" and torch.cuda.is_available() else device
    size = QUICK if quick else FULL
    budget = Budget(seconds)
    with tempfile.TemporaryDirectory(prefix="mucore-bench-") as folder:
        page.say(f"drawing {size.images:,} images")
        dataset = f"npz:{drawn(Path(folder) / 'drawn.npz', size.images, size.pixels)}"
        with open_store(Path(folder) / "home") as store:
            measure_gpu(budget, size, dataset, Session(store, device))
    page.show(budget.lines, judge=not quick)
    failed = any(line.value.startswith("failed") for line in budget.lines)
    if write:
        page.put_section(section(budget.lines, page.machine(device), seconds))
        print(f"Written to docs/{page.PAGE.name}.")
    return not failed and (quick or all(line.met is not False for line in budget.lines))


@dataclass
class Found:
    """What later parts need of earlier ones."""

    rates: dict[Variant, float] = field(default_factory=dict)  # of bare loops, images a second
    trained: dict[Variant, float] = field(default_factory=dict)  # of epochs as trainings run
    retrain: float | None = None  # seconds

    @property
    def fastest(self) -> Variant:
        return max(self.rates, key=lambda each: self.rates[each], default=("fp32", 2))


def measure_gpu(budget: Budget, size: Size, dataset: str, session: Session) -> None:
    """All parts, in the order of their weight."""
    found = Found()

    def needs(seconds: float) -> float:
        return 0.0 if size is QUICK else seconds

    budget.part("Bare loops", needs(40), lambda: bare_rates(size, dataset, session, found))
    # two epochs in each precision, which may take longer than a bare loop does
    passes = [2 * size.images / found.rates[each] for each in VARIANTS if each in found.rates]
    budget.part(
        "Epochs of training",
        needs(max(60.0, sum(passes) / 2 / SHARE_OF_BARE)),
        lambda: epochs(size, dataset, session, found),
    )
    best = found.fastest
    budget.part(
        "Running out of memory",
        needs(20),
        lambda: out_of_memory(size.setting(dataset, best).spec("retrain"), session, size.large),
    )
    # original and Retrain may take a third of all; where no epoch was measured, it is taken to be
    # half as fast as the bare loop
    rate = found.trained.get(best, found.rates.get(best, 2 * size.images) / 2)
    epoch = size.images / rate
    count = max(1, min(size.epochs, int(budget.seconds / 3 / (2 * epoch))))
    long = size.setting(dataset, best, count)
    budget.part(
        "Original and Retrain",
        needs(2.2 * count * epoch),
        lambda: references(long, size, session, found),
    )
    budget.part(
        "Several runs at once",
        needs(90),
        lambda: at_once(size.workers, size.setting(dataset, best), session, budget.left / 2),
    )
    for name in size.methods:
        budget.part(
            f"{name} against Retrain",
            needs(5),
            lambda name=name: [against(name, long, session, found.retrain, budget.left)],
        )


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


def bare_rates(size: Size, dataset: str, session: Session, found: Found) -> list[Line]:
    """Images a second of the bare loop in each precision and layout."""
    for variant in VARIANTS:
        spec = size.setting(dataset, variant).spec("retrain")
        found.rates[variant] = bare_loop(session, spec, passes=0.4)
    slow = found.rates["fp32", 1]
    return [
        Line(
            f"Bare loop, {name}",
            f"{found.rates[variant]:,.0f} images a second, "
            f"{found.rates[variant] / slow:.2f} x the first",
        )
        for variant, name in VARIANTS.items()
    ]


def epochs(size: Size, dataset: str, session: Session, found: Found) -> list[Line]:
    """One epoch in each precision, as trainings run, and one more with crops and flips."""
    lines = []
    for variant in (each for each in VARIANTS if each[1] == 2):
        spec = size.setting(dataset, variant).spec("retrain")
        session.splits(spec)
        for what, natural in (("", False), (" with crops and flips", True)):
            samples = replace(session.samples(spec, "train"), natural=natural)
            run = session.run(spec, 0)
            model = training.fresh_model(spec, session.splits(spec), 0).to(session.device)
            with run.clock():
                training.train(model, samples, spec.recipe, run)
            rate = len(samples) / run.cost.seconds
            found.trained[variant] = min(rate, found.trained.get(variant, rate))
            share = rate / found.rates[variant]
            lines.append(
                Line(
                    f"An epoch{what}, {VARIANTS[variant]}",
                    f"{rate:,.0f} images a second, {share:.1%} of the bare loop, "
                    f"{_gib(run.cost.peak_memory_bytes)} at most",
                    f"at least {SHARE_OF_BARE:.0%} of the bare loop",
                    share >= SHARE_OF_BARE,
                )
            )
    return lines


def references(where: Setting, size: Size, session: Session, found: Found) -> list[Line]:
    """Original and Retrain, by the recipe that the methods are then compared under."""
    _, record = session.original(where.spec("retrain"))
    retrain = measure(where.spec("retrain"), session)
    found.retrain = retrain["seconds"]
    count, how = where.recipe.epochs, VARIANTS[found.fastest]
    return [
        Line(
            f"Original, {count} epochs on {size.images:,} images, {how}",
            f"{record.cost['seconds']:.1f} s, {_gib(record.cost['peak_memory_bytes'])} at most",
        ),
        Line(f"Retrain without one class of ten, {count} epochs", f"{found.retrain:.1f} s"),
    ]


def against(
    name: str, where: Setting, session: Session, retrain: float | None, limit: float
) -> Line:
    """A method's time against Retrain's; it is ended when the time for everything is over."""
    what = f"{name} against Retrain"
    if retrain is None:
        return Line(what, "skipped: there is no Retrain to compare it with")
    try:
        one = measure(where.spec(name), session, limit=limit)
    except Cancelled:
        return Line(what, f"skipped: not done after the {limit:.0f} s that were left")
    return Line(
        what,
        f"{one['seconds'] / retrain:.3f} ({one['seconds']:.2f} s, {one['status']}), "
        f"{_gib(one['peak'])} at most",
    )


def at_once(counts: Sequence[int], where: Setting, session: Session, limit: float) -> list[Line]:
    """How many images a second whole runs of originals get through, training and evaluation, with
    so many workers side by side on the device, each with a run of its own.
    """
    ends = time.monotonic() + limit
    base = where.spec("retrain").original()
    rates: dict[int, float] = {}
    lines = []
    if session.device.type == "cuda":
        torch.cuda.empty_cache()  # what this process has kept is the workers' now
    for count in counts:
        specs = [
            base.model_copy(update={"training_seed": 1000 * count + number})
            for number in range(count)
        ]
        seconds = side_by_side(specs, session, ends)
        what = f"{count} run{'s' if count > 1 else ''} at once"
        if seconds is None:
            lines.append(Line(what, "skipped: not done in the time that was left"))
            break
        images = len(session.splits(base).train.ids) * where.recipe.epochs * count
        rates[count] = images / seconds
        first = rates[counts[0]]
        lines.append(
            Line(
                what,
                f"{rates[count]:,.0f} images a second together, {rates[count] / first:.2f} x "
                "one alone",
            )
        )
    return lines


def side_by_side(specs: Sequence[RunSpec], session: Session, ends: float) -> float | None:
    """Seconds from the start of the first run to the end of the last, each by a worker process of
    its own; None where that is not done when the time is over. Raises `MucoreError` where a run
    fails.
    """
    store = session.store
    command = [sys.executable, "-m", "mucore", "worker", "--device", str(session.device)]
    command += ["--idle-exit", "120", "--home", str(store.home)]
    path = os.pathsep.join([str(page.ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path}
    keys = [spec.key for spec in specs]
    with tempfile.TemporaryFile() as words:
        workers = [subprocess.Popen(command, env=environment, stderr=words) for _ in specs]

        def until(there: Callable[[], bool], store: Store | None = None) -> bool:
            return _until(there, ends, workers, words, store)

        try:
            # all of them are awake before there is work
            if not until(lambda: len(store.workers()) >= len(specs)):
                return None
            store.enqueue(specs)
            if not until(lambda: len(store.known(keys)) == len(keys), store):
                return None
            if not until(lambda: all(job.finished for job in store.jobs(keys=keys))):
                return None
        finally:
            for worker in workers:
                worker.terminate()
            for worker in workers:
                worker.wait(timeout=30)
    jobs = store.jobs(keys=keys)
    started = min(job.started for job in jobs if job.started)
    return (max(job.finished for job in jobs if job.finished) - started).total_seconds()


def _until(
    there: Callable[[], bool],
    ends: float,
    workers: Sequence[subprocess.Popen],
    words: IO[bytes],
    store: Store | None,
) -> bool:
    """Wait; whether it came before the end. Raises `MucoreError` where a worker, whose stderr is
    `words`, or a run fails.
    """
    while not there():
        if time.monotonic() > ends:
            return False
        failed = store.jobs(states=["failed", "lost"], limit=1) if store is not None else []
        if failed:
            raise MucoreError(f"{failed[0].label}: {failed[0].error}")
        if any(worker.poll() is not None for worker in workers):
            words.seek(0)
            last = words.read().decode(errors="replace").strip().splitlines()[-1:]
            raise MucoreError(" ".join(["A worker ended before its run.", *last]))
        time.sleep(0.1)
    return True


def out_of_memory(spec: RunSpec, session: Session, batch: int) -> list[Line]:
    """What becomes of a training whose batch does not fit: memory is made too small for it, first
    large enough for its half, then not.
    """
    if not limitable(session.device):
        return [
            Line("Running out of memory", "skipped: only on a GPU can memory be made too small")
        ]
    samples = session.samples(spec, "train")
    samples = samples[torch.arange(min(len(samples), batch))]

    def step(size: int) -> Run:
        run = session.run(spec, 0)
        model = training.fresh_model(spec, session.splits(spec), 0).to(session.device)
        phase = Phase(data=samples, batch_size=size, augment=False)
        fit(model, [phase], run, epochs=1, optimizer=Optimizer(lr=1e-3))
        return run

    whole = reserved(session.device, lambda: step(batch))
    half = reserved(session.device, lambda: step(-(-batch // 2)))
    with only((whole + half) / 2, session.device):
        run = step(batch)
    lines = [
        Line(
            f"A batch of {batch:,}, which takes {_gib(whole)}, in {_gib((whole + half) / 2)}",
            f"{run.status}; {' '.join(run.notes) or 'nothing noted'}",
            "goes on with halves",
            run.status == "ok" and bool(run.notes),
        )
    ]
    what = f"The same in {_gib(half / 2)}"
    try:
        with only(half / 2, session.device):
            step(batch)
    except MucoreError as problem:
        figures = "GiB" in str(problem)  # one_line may cut them off
        lines.append(
            Line(what, one_line(problem), "a sentence with a way out and figures", figures)
        )
    else:
        lines.append(Line(what, "fitted after all", "a sentence with figures", False))
    return lines


def limitable(device: torch.device) -> bool:
    return device.type == "cuda"


def reserved(device: torch.device, call: Callable[[], object]) -> int:
    """Bytes that torch's allocator has taken of the device at most while it ran."""
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats(device)
    call()
    return int(torch.cuda.max_memory_reserved(device))


@contextmanager
def only(size: float, device: torch.device) -> Generator[None]:
    """Inside, torch's allocator takes at most so many bytes of the device."""
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(device).total_memory
    index = device.index  # None is the current one, which "cuda" alone means, too
    torch.cuda.set_per_process_memory_fraction(min(1.0, size / total), index)
    try:
        yield
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0, index)
        torch.cuda.empty_cache()


def _gib(size: float | None) -> str:
    return "unknown memory" if size is None else f"{size / 2**30:.2f} GiB"


def section(lines: Sequence[Line], names: Mapping[str, str], seconds: float = SECONDS) -> str:
    """The section of docs/benchmarks.md."""
    text = [
        "## On a GPU",
        "",
        (
            "Written by `python -m mucore bench --gpu --write`: ResNet-18 on 50,000 generated "
            "images of 32 by 32 pixels in ten classes, read from an npz"
        ),
        (
            "file as a user's own, preset `standard` with batches of 128 and as many epochs as fit "
            f"into {seconds:.0f} seconds for everything. Ten methods with"
        ),
        (
            "their authors' values forget one class; fewer epochs make Retrain cheaper and so the "
            "ratios larger. Memory is that of torch's allocator."
        ),
        "",
        *page.rows(lines),
        "",
        f"{names['Device']}, torch {names['torch']}, {names['System']}, {names['Measured']}.",
        "",
    ]
    return "\n".join(text)
