"""Which training samples a model finds most alike to a query (Are We Truly Forgetting?, Figure
9).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from mucore.analysis.features import common, pick, stored
from mucore.errors import BadValue
from mucore.metrics.representation import NEIGHBOURS, nearest
from mucore.rng import numpy_rng
from mucore.store import Store


class Parameters(BaseModel):
    """`queries`: sample ids of `split`; None: `count` of them, drawn by `seed` from what was
    forgotten, or from all where nothing was.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    keys: list[str] = Field(min_length=1, max_length=12)
    split: Literal["train", "test"] = "train"
    queries: list[int] | None = None
    count: int = Field(default=5, ge=1, le=100)
    k: int = Field(default=NEIGHBOURS, ge=1, le=50)
    seed: int = Field(default=0, ge=0)


def compute(
    results: Store, parameters: Parameters, progress: Callable[[float, str], None]
) -> dict[str, Any]:
    """`queries` and `labels` (q,) int64; for each key (q, k) int64: the ids of the nearest training
    samples, nearest first, by cosine of the penultimate features, the query itself left out.

    Beside each, all (q, k): `<key>/labels` int64, `<key>/forgotten` bool, `<key>/cosines` float64.
    `note`: what is searched, a sentence.
    """
    progress(0.0, "reading predictions")
    gallery = common([stored(results, key, "train") for key in parameters.keys])
    asked = (
        gallery
        if parameters.split == "train"
        else common([stored(results, key, "test") for key in parameters.keys])
    )
    rows = _rows(asked[0].ids, asked[0].forgotten, parameters)
    first = gallery[0]
    value: dict[str, Any] = {
        "keys": list(parameters.keys),
        "queries": asked[0].ids[rows],
        "labels": asked[0].labels[rows],
        "note": (
            f"Searched are the {len(first.ids):,} of {first.total:,} training samples whose "
            "features were kept."
        ),
    }
    own = rows if parameters.split == "train" else None
    for number, (key, base, part) in enumerate(zip(parameters.keys, gallery, asked, strict=True)):
        progress(number / len(gallery), f"run {number + 1} of {len(gallery)}")
        found, cosines = nearest(pick(part, rows).features, base.features, k=parameters.k, own=own)
        value |= {
            key: base.ids[found],
            f"{key}/labels": base.labels[found],
            f"{key}/forgotten": base.forgotten[found],
            f"{key}/cosines": cosines,
        }
    return value


def _rows(ids: np.ndarray, forgotten: np.ndarray, parameters: Parameters) -> np.ndarray:
    """Positions of the queries, in the order in which they were named, or drawn ones sorted."""
    if parameters.queries is None:
        pool = np.flatnonzero(forgotten) if forgotten.any() else np.arange(len(ids))
        return np.sort(numpy_rng(parameters.seed, "subset").permutation(pool)[: parameters.count])
    place = {int(each): number for number, each in enumerate(ids)}
    if unknown := [each for each in parameters.queries if each not in place]:
        raise BadValue(
            f"Sample {unknown[0]} is not among the {len(ids)} samples of the {parameters.split} "
            "split whose features all runs kept. Choose another query."
        )
    return np.array([place[each] for each in parameters.queries], np.int64)
