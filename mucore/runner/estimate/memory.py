"""How much memory runs will take at least: from the table of networks and the data sets' sizes.
Imports no torch.

It is what training takes: the data, the original, the network that changes with its gradient, the
optimiser and the last finite copy that `fit` keeps, and the graph of a batch. What methods hold
besides, copies and masks of the weights for most, is not counted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mucore import catalog
from mucore.catalog.networks import Network, network
from mucore.errors import BadValue, UnknownName
from mucore.fitting import BUDGET, fitting
from mucore.runs import REFERENCES, RunSpec, complete
from mucore.userfiles.sizes import size_of

FLOAT = 4
PROCESS = 4e8  # Python, PyTorch and pandas
# The graph and the gradients on their way through it, as multiples of the graph; measured on a CPU
# (docs/records/benchmarks-2026-11.md, Large models).
WORKING = 1.5
PREDICTED = 512  # samples that predictions take at once within the budget of chunks
# What was measured took at least 0.56 of what is estimated (the same), so that a run which is said
# to take more than twice what a device has cannot fit.
SURE = 2.0
WAY_OUT = "Choose a smaller model, fewer images (recipe.per_class) or a smaller batch"


def memory_of(spec: RunSpec) -> float | None:
    """Bytes that a run takes; None where nothing says how large its data are, or the card of its
    method is gone.
    """
    try:
        card, size = catalog.method(spec.method), size_of(spec.dataset, spec.data_hash)
    except (UnknownName, BadValue):
        return None
    if size is None:
        return None
    recipe = spec.recipe
    shape = (1 if recipe.greyscale else size.shape[0], *size.shape[1:])
    net = network(spec.model, shape)
    weights = weights_of(net, size.classes)
    state = weights + net.buffers
    if spec.method in REFERENCES:
        batch, adam = recipe.batch_size, recipe.optimizer in ("adam", "adamw")
        moments = 2 if adam else int(recipe.momentum > 0)
    else:
        values = complete(card, spec.parameters)
        batch, moments = values.get("batch_size", recipe.batch_size), bool(values.get("momentum"))
    train = min(size.train, recipe.per_class * size.classes or size.train)
    images = 0 if catalog.dataset(spec.dataset).streamed else train + size.validation + size.test
    predicting = 2 * net.passing * fitting(2 * net.passing, PREDICTED, BUDGET)
    return (
        PROCESS
        + images * math.prod(shape)
        + 3 * state  # the original, the network that changes, its last finite copy
        + (1 + moments) * weights  # gradient and optimiser
        + max(WORKING * batch * net.graph, predicting)
    )


@dataclass(frozen=True)
class Fit:
    """The run of a plan that takes most memory, and what there is for it, in bytes."""

    run: RunSpec
    needed: float
    device: str
    available: float | None  # None where nobody knows
    whole: float | None = None  # of the device, whoever has them now; None: nobody knows

    @property
    def fits(self) -> bool:
        """Whether it does, as far as anybody knows."""
        return self.available is None or self.needed <= self.available

    @property
    def hopeless(self) -> bool:
        """Whether it cannot fit, whatever else runs and however wrong the estimate is."""
        return self.whole is not None and self.needed > SURE * self.whole

    def content(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "run": self.run.label,
            "method": self.run.method,
            "needed_bytes": round(self.needed),
            "device": self.device,
            "available_bytes": None if self.available is None else round(self.available),
            "whole_bytes": None if self.whole is None else round(self.whole),
            "fits": self.fits,
            "hopeless": self.hopeless,
        }

    def warning(self) -> str:
        """What may not fit, and a way out, in a sentence; "" where all does."""
        if self.fits or self.available is None:
            return ""
        return (
            f"{self.run.label} may not fit into memory: it takes about {_size(self.needed)}, but "
            f"{self.device} has {_size(self.available)}. {WAY_OUT}."
        )

    def refusal(self, insist: str) -> str:
        """Why a run is not started, in a sentence; `insist` is how to start it all the same. ""
        where it may fit.
        """
        if not self.hopeless or self.whole is None:
            return ""
        return (
            f"{self.run.label} cannot fit into memory: it takes about {_size(self.needed)}, but "
            f"{self.device} has {_size(self.whole)} in all. {WAY_OUT}, or {insist}."
        )


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
        kinds.setdefault(
            repr((spec.dataset, spec.model, spec.recipe, spec.method, spec.parameters)), spec
        )
    found = [(need, spec) for spec in kinds.values() if (need := memory_of(spec)) is not None]
    if not found:
        return None
    most, spec = max(found, key=lambda each: each[0])
    return Fit(spec, most, device, available, whole)


def weights_of(net: Network, classes: int) -> int:
    """Bytes of all weights, those of the classifier for so many classes among them."""
    return FLOAT * (net.parameters + classes * (net.features + 1))


def _size(count: float) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e8 else f"{count / 1e6:.0f} MB"
