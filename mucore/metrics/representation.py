"""How alike two encoders are: CKA of their features, neighbours in feature space, and the scores
that join them with accuracies.

Features are (n, d) of any float type, one row a sample, from the layer before the last linear one;
two models are compared on the same samples in the same order, their widths may differ. Accuracies
and gaps are fractions in 0..1.
Source: Are We Truly Forgetting? (Kim, Cha, Kim; Engineering Applications of AI), sections 3.3 and
    4.1. Bad input raises `BadValue`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mucore.catalog.metrics.representation import LEAST
from mucore.errors import BadValue

NEIGHBOURS = 5
# Accuracies on the forget and retain set, and on the test samples of the forgotten and of the
# remaining classes.
CLASS_ACCURACIES = ("fa", "ra", "tfa", "tra")
# What the literature of forgetting single samples averages instead (SalUn, l1-sparse): "average
# gap" alone says nothing without its list.
SAMPLE_ACCURACIES = ("fa", "ra", "ta", "mia_confidence")
_BLOCK = 1 << 22  # distances held at once


# -- similarity


def linear_cka(first: np.ndarray, second: np.ndarray) -> float:
    """Unbiased linear CKA of features (n, d) and (n, e) of four samples at least; at most 1, for
    equal features.

    ‖YᵀX‖²_F / (‖XᵀX‖_F ‖YᵀY‖_F) of centred features, which is biased upwards unless n is much
    larger than d, with each term replaced by its U-statistic, whose mean is 0 for independent
    features, so that values below 0 occur. Invariant to rotation, reflection, shift and one scale
    for all features. Source: Kornblith et al., ICML 2019; the U-statistic of HSIC: Song et al.,
    JMLR 2012.
    """
    x, y = _centred(first), _centred(second)
    return _ratio(_alignment(x, y), _own_alignment(x), _own_alignment(y))


def cka_by_layer(first: Mapping[str, np.ndarray], second: Mapping[str, np.ndarray]) -> np.ndarray:
    """Unbiased CKA of each layer of one model with each of another, (layers of first, layers of
    second) in the order of the mappings; of `LEAST` samples at least.
    """
    left, right = ([_centred(features) for features in model.values()] for model in (first, second))
    if len(left[0]) < LEAST:
        raise BadValue(
            f"CKA needs {LEAST} samples, but there are {len(left[0])}, on which chance alone could "
            "make it. Choose a larger set."
        )
    own = [[_own_alignment(features) for features in side] for side in (left, right)]
    return np.array(
        [
            [_ratio(_alignment(x, y), a, b) for y, b in zip(right, own[1], strict=True)]
            for x, a in zip(left, own[0], strict=True)
        ]
    )


def _centred(features: np.ndarray) -> np.ndarray:
    """(n, d) in float64 with columns of mean 0; feature maps are flattened."""
    x = finite(features)
    x = x.reshape(len(x), -1)
    return x - x.mean(axis=0)


def _alignment(x: np.ndarray, y: np.ndarray) -> float:
    """The unbiased counterpart of ‖YᵀX‖²_F, n(n−3) times the U-statistic of HSIC, of centred
    features.

    d x e products where features are fewer than samples, Gram matrices (n, n) otherwise; both are
    the same number.
    """
    n = len(x)
    if max(x.shape[1], y.shape[1]) <= n:
        product = x.T @ y
        total = float(np.vdot(product, product))
    else:
        gram = x @ x.T
        total = float(np.vdot(gram, gram if y is x else y @ y.T))
    if n < 4:
        raise BadValue(f"CKA needs four samples at least, but got {n}. Use more samples.")
    # Centring makes the row sums of the Gram matrix without its diagonal equal to minus the
    # diagonal, which shortens Song's formula.
    p, q = np.einsum("ij,ij->i", x, x), np.einsum("ij,ij->i", y, y)
    return total - n / (n - 2) * float(p @ q) + float(p.sum() * q.sum()) / ((n - 1) * (n - 2))


def _own_alignment(x: np.ndarray) -> float:
    value = _alignment(x, x)
    if value <= 0:
        raise BadValue(
            "CKA is undefined for features without variation, but a model gives all samples the "
            "same. It has collapsed."
        )
    return value


def _ratio(both: float, first: float, second: float) -> float:
    return min(both / float(np.sqrt(first) * np.sqrt(second)), 1.0)


# -- neighbours


def nearest(
    queries: np.ndarray, gallery: np.ndarray, *, k: int = NEIGHBOURS, own: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Positions (m, k) in the gallery (n, d) of the nearest neighbours of each query (m, d),
    nearest first, and their cosines (m, k).

    Equal cosines go to the lower position. `own` (m,) gives each query's own position, which is
    left out. The cosine with features that are all zero counts as 0.
    """
    room = len(gallery) - (own is not None)
    if not 1 <= k <= room:
        raise BadValue(
            f"The number of neighbours must lie between 1 and {room}, the samples to choose from, "
            f"but is {k}."
        )
    known, asked = directions(gallery), directions(queries)
    positions, cosines = np.empty((len(asked), k), np.int64), np.empty((len(asked), k))
    step = max(1, _BLOCK // len(known))
    for start in range(0, len(asked), step):
        rows = slice(start, start + step)
        near = asked[rows] @ known.T
        if own is not None:
            near[np.arange(len(near)), own[rows]] = -np.inf
        edge = -np.partition(-near, k - 1, axis=1)[:, k - 1 : k]
        above, at = near > edge, near == edge
        # Of those at the edge, the first ones fill the places that are left.
        chosen = above | (at & (at.cumsum(axis=1) <= k - above.sum(axis=1, keepdims=True)))
        found = np.nonzero(chosen)[1].reshape(-1, k)
        values = np.take_along_axis(near, found, axis=1)
        order = np.argsort(-values, axis=1, kind="stable")
        positions[rows], cosines[rows] = (
            np.take_along_axis(found, order, axis=1),
            np.take_along_axis(values, order, axis=1),
        )
    return positions, cosines


def knn_accuracy(
    *,
    train: np.ndarray,
    train_labels: np.ndarray,
    test: np.ndarray,
    test_labels: np.ndarray,
    k: int = NEIGHBOURS,
) -> float:
    """Share of test samples (m, d) whose k nearest training samples (n, d) by cosine vote for the
    true class; labels (n,), (m,) from 0.

    One vote each, ties to the lowest class index.
    """
    votes = np.asarray(train_labels)[nearest(test, train, k=k)[0]]
    counts = np.zeros((len(votes), int(np.max(train_labels)) + 1), np.int64)
    np.add.at(counts, (np.arange(len(votes))[:, None], votes), 1)
    return float(np.mean(counts.argmax(axis=1) == np.asarray(test_labels)))


def directions(features: np.ndarray) -> np.ndarray:
    """Features (n, d) at length one in float64, whose products are cosines: those of neighbours,
    maps and replays. Features that are all zero stay so, at a right angle to all others.
    """
    x = finite(features)
    norms = np.linalg.norm(x, axis=1, keepdims=True)
    return np.divide(x, norms, out=np.zeros_like(x), where=norms > 0)


def finite(features: np.ndarray) -> np.ndarray:
    """Features in float64. Raises `BadValue` where some are not finite."""
    x = np.asarray(features, dtype=np.float64)
    if not np.isfinite(x).all():
        raise BadValue(
            "Features are compared, but some are infinite or not a number: the model has "
            "diverged. Leave it out."
        )
    return x


# -- scores


def average_gap(
    *,
    unlearned: Mapping[str, float],
    retrained: Mapping[str, float],
    over: tuple[str, ...] = CLASS_ACCURACIES,
) -> float:
    """Mean of |value − value of Retrain| over the metrics named in `over`; 0 is Retrain (Table 2
    takes `CLASS_ACCURACIES`).
    """
    return float(np.mean(_gaps(unlearned, retrained, over)))


def agl(*, unlearned: Mapping[str, float], retrained: Mapping[str, float]) -> float:
    """Agreement of logits: Π (1 − |A(θu) − A(θr)|) over `CLASS_ACCURACIES`, in 0..1; 1 is
    Retrain.
    """
    return float(np.prod(1 - _gaps(unlearned, retrained, CLASS_ACCURACIES)))


def agr(*, knn_gaps: Mapping[str, float], ckas: Mapping[str, float]) -> float:
    """Agreement of representations: (1 − G_kNN) · CKA(θu, θr), each averaged over the downstream
    sets first; 1 is Retrain. G_kNN = |A^k(θu) − A^k(θr)| of a set.

    Both mappings are by downstream set. Pass all sets in random-class scenarios, the matching one
    alone in top-class scenarios.
    """
    return float((1 - np.mean(list(knn_gaps.values()))) * np.mean(list(ckas.values())))


def h_lr(*, agl: float, agr: float) -> float:
    """Harmonic mean 2 / (1/AGL + 1/AGR), in 0..1; 0 where either is not above 0."""
    return 2 * agl * agr / (agl + agr) if agl > 0 and agr > 0 else 0.0


def _gaps(
    unlearned: Mapping[str, float], retrained: Mapping[str, float], over: tuple[str, ...]
) -> np.ndarray:
    if missing := [name for name in over if name not in unlearned or name not in retrained]:
        raise BadValue(
            f"This score compares {', '.join(over)} with Retrain's, but {', '.join(missing)} "
            "cannot be had here."
        )
    return np.array([abs(unlearned[name] - retrained[name]) for name in over])
