"""Networks that were judged as their user brought them, by what they predict; and the check of a
pack of such. Imports no torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from mucore.errors import MucoreError
from mucore.metrics import MetricInputs, measure
from mucore.outputs import Outputs, confusion
from mucore.store import Store, open_pack
from mucore.store.records import Measured
from mucore.suite.verify import alike

SHOWN: Final = 3  # of the forgotten samples, for a reader to see that they are the right ones
# Networks do not tell what unlearning took.
COST: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("seconds", "processor_seconds", "peak_memory_bytes")),
    **dict.fromkeys(("steps", "prepared_seconds", "prepared_for_request_seconds"), 0),
    **dict.fromkeys(("persistent_bytes", "scratch_bytes"), 0),
    "reads": {},
    "shared_device": False,
    "missing": "Networks do not tell what unlearning took. mu.compare measures it.",
}


@dataclass(eq=False)
class Judged:
    """One network with what it predicts. `weights` are its trainable ones by name."""

    name: str
    method: str  # of its row: "uploaded", or that of a reference
    seed: int
    outputs: Outputs = field(default_factory=partial(Outputs, {}))
    weights: Mapping[str, np.ndarray] | None = None
    metrics: Mapping[str, Measured] = field(default_factory=dict)
    flags: Sequence[str] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class Asked:
    """What networks were asked about. Of `total` training samples `ids`, (f,) int64, are forgotten;
    `content` holds arrays that tell the data from others, or is a hash of them.
    """

    ids: np.ndarray
    total: int
    content: Mapping[str, Any] | str
    classes: int
    data: str = "data"  # names that pages show
    name: str = "net"
    preprocess: str = ""  # what pixels became; "" where samples went in as they are
    device: str = "cpu"
    pictures: Sequence[np.ndarray] = ()  # the first forgotten, uint8 (h, w) or (h, w, 3)


def whole_classes(gone: np.ndarray, kept: np.ndarray) -> tuple[int, ...]:
    """The classes of forgotten labels (f,), where none of these is among the `kept` (r,)."""
    return () if np.isin(gone, kept).any() else tuple(np.unique(gone).tolist())


def inputs_of(
    judged: Judged, original: Judged | None, retrained: Judged | None, gone: tuple[int, ...]
) -> MetricInputs:
    """What the metrics of a network look at; `retrained` has its own already."""
    return MetricInputs(
        outputs=judged.outputs,
        original=original.outputs if original else None,
        retrained=retrained.outputs if retrained else None,
        classes=judged.outputs["test"].logits.shape[1],
        forgotten_classes=gone,
        weights=judged.weights,
        original_weights=original.weights if original else None,
        retrained_weights=retrained.weights if retrained else None,
        cost=COST,
        retrain_cost=None,
        # of a Retrain itself there are none yet
        retrain_metrics=(retrained.metrics or None) if retrained else None,
        evaluation_seed=0,
        mia_samples=2_000,
    )


def check(folder: Path) -> tuple[list[str], int]:
    """Measure every network of a pack again from its predictions: a sentence on each thing that
    the pack says otherwise, and how many numbers were measured. Distances of weights are not.
    """
    with open_pack(folder) as store:
        return _checked(store)


def _checked(store: Store) -> tuple[list[str], int]:
    wrong: list[str] = []
    found: dict[tuple[str, int], Judged] = {}
    results = {(one.spec["method"], one.spec["training_seed"]): one for one in store.results()}
    for (method, seed), result in results.items():
        try:
            outputs = store.artifacts.get_outputs(result.outputs or "")
            found[method, seed] = Judged(result.key, method, seed, outputs)
        except MucoreError as error:
            wrong.append(f"{method}, seed {seed}: {error}")
    count = 0
    for method, seed in sorted(found, key=lambda one: one[0] != "retrain"):  # gaps are to Retrain
        result, mine = results[method, seed], found[method, seed]
        references = (found.get((name, seed)) for name in ("original", "retrain"))
        original, retrained = (None if each is mine else each for each in references)
        gone = tuple(result.spec["scenario_parameters"].get("class_ids", ()))
        inputs = inputs_of(mine, original, retrained, gone)
        mine.metrics = measure(inputs, scenario=result.spec["scenario"], method=method)
        numbers = {name: each for name, each in mine.metrics.items() if each.value is not None}
        count += len(numbers)
        wrong += [
            f"{method}, seed {seed}: {name} is {each.value:.6g} by its predictions."
            for name, each in numbers.items()
            if not _same(result.metrics.get(name), each)
        ]
        wrong += [
            f"{method}, seed {seed}: other counts on the {name} set than its predictions."
            for name, part in mine.outputs.items()
            if result.confusion.get(name) != _counts(part).tolist()
        ]
    return wrong, count


def _same(told: Measured | None, found: Measured) -> bool:
    return told is not None and alike(told.value, found.value) and alike(told.gap, found.gap)


def _counts(part: Any) -> np.ndarray:
    return confusion(part.labels, part.logits.argmax(1), part.logits.shape[1])
