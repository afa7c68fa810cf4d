"""How much memory runs will take at least: from the table of networks and the data sets' sizes.
Imports no torch.

It is what training takes: the data, the original, the network that changes with its gradient, the
optimiser and the last finite copy that `fit` keeps, and the graph of a batch. What one step
allocates and frees again comes on top by `WORKING`. What methods hold besides, copies and masks of
the weights for most, is not counted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mucore import catalog
from mucore.catalog.networks import Network, network
from mucore.errors import BadValue, UnknownName
from mucore.fitting import BUDGET, fitting
from mucore.spec import RunSpec, complete
from mucore.spec.budget import samples_of
from mucore.userfiles.sizes import DataSize, size_of

FLOAT = 4
PROCESS = 4e8  # Python, PyTorch and pandas
# The graph and the gradients on their way through it, as multiples of the graph; measured on a CPU
# (docs/records/benchmarks-2026-11.md, Large models).
WORKING = 1.5
PREDICTED = 512  # samples that predictions take at once within the budget of chunks
FORGOTTEN = 0.1  # of the training set, where only the run itself can tell
# What was measured took at least 0.56 of what is estimated (the same), so that a run which is said
# to take more than twice what a device has cannot fit.
SURE = 2.0


@dataclass(frozen=True)
class Memory:
    """Bytes of one run."""

    data: float  # images that lie on the device
    networks: float  # the original, and the network that changes
    training: float  # gradient, optimiser and last finite copy
    graph: float  # of a batch, or of a chunk of predictions

    @property
    def total(self) -> float:
        return PROCESS + sum(asdict(self).values())


def memory_of(spec: RunSpec) -> Memory | None:
    """What a run takes; None where nothing says how large its data are, or the card of its method
    is gone.
    """
    found = _facts(spec)
    if found is None:
        return None
    values, net, size = found
    weights, state = values["weights"], values["state"]
    if spec.method in ("original", "retrain"):
        batch, optimizer = spec.recipe.batch_size, _copies(spec.recipe.optimizer, spec.recipe)
    else:
        batch, optimizer = values["batch_size"], float(bool(values.get("momentum")))
    train, validation, test = _sizes(size, spec)
    streamed = catalog.dataset(spec.dataset).streamed
    return Memory(
        data=0.0 if streamed else (train + validation + test) * values["image"] / FLOAT,
        networks=2 * state,
        training=state + (1 + optimizer) * weights,
        graph=max(WORKING * batch * net.graph, _chunk(2 * net.passing, PREDICTED)),
    )


@dataclass(frozen=True)
class Fit:
    """The run of a plan that takes most memory, and what there is for it."""

    run: RunSpec
    memory: Memory
    device: str
    available: float | None  # bytes; None where nobody knows
    too_large: int  # runs that take more, those that differ in their seeds alone counted once
    whole: float | None = None  # bytes of the device, whoever has them now; None: nobody knows

    @property
    def fits(self) -> bool:
        """Whether it does, as far as anybody knows."""
        return self.available is None or self.memory.total <= self.available

    @property
    def hopeless(self) -> bool:
        """Whether it cannot fit, whatever else runs and however wrong the estimate is."""
        return self.whole is not None and self.memory.total > SURE * self.whole

    def content(self) -> dict[str, Any]:
        """As JSON has it, in bytes."""
        return {
            "run": self.run.label,
            "method": self.run.method,
            "needed_bytes": round(self.memory.total),
            "parts": {name: round(size) for name, size in asdict(self.memory).items()},
            "device": self.device,
            "available_bytes": None if self.available is None else round(self.available),
            "whole_bytes": None if self.whole is None else round(self.whole),
            "fits": self.fits,
            "hopeless": self.hopeless,
            "too_large": self.too_large,
        }

    def warning(self) -> str:
        """What does not fit, and a way out, in sentences; "" where all does."""
        if self.fits or self.available is None:
            return ""
        others = self.too_large - 1
        more = f" and {others} other {'kind' if others == 1 else 'kinds'} of runs" * (others > 0)
        return (
            f"{self.run.label}{more} may not fit into memory: {self._takes()} and {self.device} "
            f"has {_size(self.available)}. Choose {self._way_out()}."
        )

    def refusal(self, insist: str) -> str:
        """Why a run is not started, in a sentence; `insist` is how to start it all the same. ""
        where it may fit.
        """
        if not self.hopeless or self.whole is None:
            return ""
        return (
            f"{self.run.label} cannot fit into memory: {self._takes()} and {self.device} has "
            f"{_size(self.whole)} in all. Choose {self._way_out()}, or {insist}."
        )

    def _takes(self) -> str:
        parts = asdict(self.memory)
        part = self._largest()
        return (
            f"it takes about {_size(self.memory.total)}, {_size(parts[part])} of that for "
            f"{WHAT[part]},"
        )

    def _way_out(self) -> str:
        return WAY_OUT[self._largest()]

    def _largest(self) -> str:
        parts = asdict(self.memory)
        return max(parts, key=lambda name: parts[name])


# of each part: what it is, and how it becomes less
WHAT = {
    "data": "the images",
    "networks": "the networks",
    "training": "gradient, optimiser and a copy of the weights",
    "graph": "what a batch leaves behind on its way through the network",
}
WAY_OUT = {
    "data": "a smaller data set, or fewer images of each class (recipe.per_class)",
    "networks": "a smaller model",
    "training": "a smaller model",
    "graph": "a smaller batch size, a smaller model, or another method",
}


def check_fit(fit: Fit | None, *, anyway: bool, insist: str) -> str:
    """The warning of runs that may not fit. Raises `BadValue` for one that cannot, unless a person
    wants it `anyway`; `insist` tells them how to.
    """
    if fit is None:
        return ""
    if not anyway and (sentence := fit.refusal(insist)):
        raise BadValue(sentence)
    return fit.warning()


def fit_of(
    specs: Sequence[RunSpec], device: str, available: float | None, whole: float | None = None
) -> Fit | None:
    """Whether the runs fit on a device of which so many bytes are `available`, and which has so
    many as a `whole`; None where nothing is known of any of them.
    """
    kinds: dict[str, RunSpec] = {}
    for spec in specs:  # seeds change nothing
        kind = (spec.dataset, spec.model, spec.recipe, spec.scenario, spec.scenario_parameters)
        kinds.setdefault(repr((*kind, spec.method, spec.parameters)), spec)
    found = [(spec, need) for spec in kinds.values() if (need := memory_of(spec)) is not None]
    if not found:
        return None
    spec, most = max(found, key=lambda each: each[1].total)
    large = sum(available is not None and need.total > available for _, need in found)
    return Fit(spec, most, device, available, large, whole)


def values_of(
    net: Network,
    *,
    shape: tuple[int, int, int],
    classes: int,
    sizes: Mapping[str, float],
    leaving: int = 0,
    recipe_epochs: int = 0,
    recipe_batch: int = 64,
) -> dict[str, Any]:
    """What formulas count with, `catalog.formulas.NAMES`; `sizes` has train, forget, retain and
    validation.
    """
    weights = FLOAT * (net.parameters + classes * (net.features + 1))
    return {
        "weights": weights,
        "state": weights + net.buffers,
        "moments": 8 * net.moments,
        "widest": net.widest,
        "image": FLOAT * math.prod(shape),
        "pixels": shape[1] * shape[2],
        "features": net.features,
        "channels": net.channels + classes,
        "classes": classes,
        "leaving": leaving,
        **sizes,
        "chunk": fitting(3 * net.graph, 256, BUDGET),
        "recipe_epochs": recipe_epochs,
        "recipe_batch": recipe_batch,
    }


def _facts(spec: RunSpec) -> tuple[dict[str, Any], Network, DataSize] | None:
    """The sizes and parameters of a run, its network, and how large its data are."""
    try:
        card, size = catalog.method(spec.method), size_of(spec.dataset, spec.data_hash)
    except (UnknownName, BadValue):
        return None
    if size is None:
        return None
    channels = 1 if spec.recipe.greyscale else size.shape[0]
    shape = channels, *size.shape[1:]
    net = network(spec.model, shape)
    train, validation, _ = _sizes(size, spec)
    forget, leaving = _forgotten(spec, size.classes, train)
    values = values_of(
        net,
        shape=shape,
        classes=size.classes,
        sizes={
            "train": train,
            "forget": forget,
            "retain": train - forget,
            "validation": validation,
        },
        leaving=leaving,
        recipe_epochs=spec.recipe.epochs,
        recipe_batch=spec.recipe.batch_size,
    )
    values = {"batch_size": spec.recipe.batch_size} | values | complete(card, spec.parameters)
    return values, net, size


def _sizes(size: DataSize, spec: RunSpec) -> tuple[int, int, int]:
    """Training, validation and test samples as the recipe cuts them."""
    train, validation, test = size.train, size.validation, size.test
    if spec.recipe.validation_from == "test":
        train, validation = train + validation, test // 2
        test -= validation
    if spec.recipe.per_class:
        train = min(train, spec.recipe.per_class * size.classes)
    return train, validation, test


def _forgotten(spec: RunSpec, classes: int, train: int) -> tuple[int, int]:
    """How many samples a scenario forgets, about, and how many classes go entirely."""
    if spec.scenario is None:
        return 0, 0
    card, values = catalog.scenario(spec.scenario), spec.scenario_parameters
    if card.class_wise:
        leaving = len(values.get("class_ids") or ()) or int(values.get("n") or 1)
        return round(train * leaving / classes), leaving
    if values.get("ids"):
        return len(values["ids"]), 0
    budget = values.get("budget", values.get("fraction"))
    if budget is None:
        return round(FORGOTTEN * train), 0
    within = train // classes if "class_id" in values else train
    try:
        return samples_of(budget, within, "the training set"), 0
    except BadValue:  # the run itself will say so
        return min(int(budget), within), 0


def _size(count: float) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e8 else f"{count / 1e6:.0f} MB"


def _chunk(size: float, most: int) -> float:
    """Bytes of as many samples of `size` as `engine/chunks.py` takes at once."""
    return size * fitting(size, most, BUDGET)


def _copies(name: str, recipe: Any) -> float:
    """Copies of the weights that a recipe's optimiser keeps."""
    return 2.0 if name in ("adam", "adamw") else float(recipe.momentum > 0)
