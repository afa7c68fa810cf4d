"""t-SNE maps of the penultimate features of several runs, over the same samples (Are We Truly
Forgetting?, Figures 3 and 12).

Positions can be compared between maps: all start from the same points, the first two principal
components of the first run's features, scaled to a standard deviation of 1e-4, and share a random
state. A point then moves from one map to the next because its neighbours did, not because the map
was turned. Distances between far clusters still mean nothing, as in every t-SNE.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from mucore.analysis.features import Split, common, result_of, stored
from mucore.errors import BadValue
from mucore.metrics.representation import finite, nearest
from mucore.rng import numpy_rng
from mucore.store import Store

PERPLEXITY = 30.0
FEWEST = 10
_ITERATIONS = 250, 500  # exaggerated and plain ones
_SCALE = 1e-4  # of the start; larger ones keep the map from unfolding (Kobak and Berens, 2019)


class Parameters(BaseModel):
    """`split`: "train" is the forget and the retain set; `samples`: at most so many a class;
    `classes`: only these, all where None.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    keys: list[str] = Field(min_length=1, max_length=12)
    split: Literal["train", "test"] = "train"
    samples: int = Field(default=100, ge=2, le=2000)
    classes: list[int] | None = None
    seed: int = Field(default=0, ge=0, le=2**31)


def compute(
    results: Store, parameters: Parameters, progress: Callable[[float, str], None]
) -> dict[str, Any]:
    """For each key an (n, 2) float32 array of positions; `ids` and `labels` (n,) int64 and
    `forgotten` (n,) bool of its points, by id.

    `keys`: the runs in order; the first one's features gave the start. `classes`: those that the
    maps show. `forgotten` on the test set are samples of classes that the runs forgot whole.
    `note`: what a reader must know of the samples, a sentence.
    """
    progress(0.0, "reading predictions")
    parts = [stored(results, key, parameters.split) for key in parameters.keys]
    parts = common(parts)
    first = parts[0]
    chosen = _sample(first, parameters)
    if len(chosen) < FEWEST:
        raise BadValue(
            f"A map needs {FEWEST} samples at least, but the runs have {len(chosen)} in common in "
            "the chosen classes. Choose more classes or samples."
        )
    start = principal(first.features[chosen])
    method = result_of(results, parameters.keys[0]).spec["method"]
    value: dict[str, Any] = {
        "keys": list(parameters.keys),
        "ids": first.ids[chosen],
        "labels": first.labels[chosen],
        "forgotten": first.forgotten[chosen],
        "classes": np.unique(first.labels[chosen]).tolist(),
        "note": (
            f"{len(chosen):,} of {first.total:,} samples. All maps start from the principal "
            f"components of {method}'s features."
        ),
    }
    for number, (key, part) in enumerate(zip(parameters.keys, parts, strict=True)):
        progress(number / len(parts), f"map {number + 1} of {len(parts)}")
        value[key] = embed(part.features[chosen], start, parameters.seed)
    return value


def _sample(part: Split, parameters: Parameters) -> np.ndarray:
    """Positions of up to `samples` samples a class; forgotten and kept ones count apart, so that
    few forgotten ones are not lost.
    """
    wanted = np.unique(part.labels) if parameters.classes is None else np.array(parameters.classes)
    groups = [
        np.flatnonzero((part.labels == label) & (part.forgotten == forgotten))
        for label in wanted
        for forgotten in (True, False)
    ]
    draw = numpy_rng(parameters.seed, "subset")
    chosen = [np.sort(draw.permutation(group)[: parameters.samples]) for group in groups]
    return np.sort(np.concatenate(chosen)) if chosen else np.empty(0, np.int64)


def principal(features: np.ndarray) -> np.ndarray:
    """The first two principal components (n, 2), the larger loading of each positive, with a
    standard deviation of `_SCALE`.
    """
    centred = finite(features) - np.mean(features, axis=0, dtype=np.float64)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    axes = np.zeros((2, centred.shape[1]))
    axes[: len(directions[:2])] = directions[:2]
    axes *= np.where(axes[np.arange(2), np.abs(axes).argmax(axis=1)] < 0, -1.0, 1.0)[:, None]
    points = centred @ axes.T
    spread = points[:, 0].std()
    if not spread > 0:
        raise BadValue(
            "The first run gives all samples the same features, so its map has no start. It has "
            "collapsed."
        )
    return points / spread * _SCALE


def embed(
    features: np.ndarray, start: np.ndarray, seed: int, *, perplexity: float = PERPLEXITY
) -> np.ndarray:
    """Positions (n, 2) float32 of features (n, d), by their cosines (`nearest`), from the positions
    `start`; on one thread, so always the same.
    """
    from openTSNE import TSNE
    from openTSNE.nearest_neighbors import PrecomputedNeighbors

    perplexity = min(perplexity, (len(features) - 1) / 3)
    own = np.arange(len(features))
    near, cosines = nearest(features, features, k=int(3 * perplexity), own=own)
    made = TSNE(
        perplexity=perplexity,
        initialization=start.copy(),
        neighbors=PrecomputedNeighbors(near, np.maximum(1 - cosines, 0)),
        negative_gradient_method="bh",
        early_exaggeration_iter=_ITERATIONS[0],
        n_iter=_ITERATIONS[1],
        n_jobs=1,
        random_state=seed,
    ).fit(features)
    return np.asarray(made, np.float32)
