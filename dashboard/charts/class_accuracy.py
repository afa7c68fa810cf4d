"""Accuracy of each class on the test set, beside Retrain's: where a method pays for forgetting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from dashboard import theme
from dashboard.charts.parts import axes, classes, noise
from mucore.statistics.significance import half_band
from mucore.store.rows import Result


@dataclass(frozen=True)
class ClassAccuracyInfo:
    """Accuracies in percent, one a class; None where the class has no sample in the split.
    `retrain` is empty without a reference, and `noise`, half of the band of Retrain against Retrain
    in points, without two seeds of it.

    An attribute counts as two classes, the samples without it and those with it; `of` is "Class" or
    "Attribute".
    """

    names: tuple[str, ...]
    method: tuple[float | None, ...]
    retrain: tuple[float | None, ...]
    of: str = "Class"
    noise: tuple[float | None, ...] = ()


def class_accuracy_info(
    confusion: ArrayLike,
    names: Sequence[str] = (),
    retrain: ArrayLike | None = None,
    halves: tuple[float | None, ...] = (),
) -> ClassAccuracyInfo:
    """`confusion`, `retrain`: counts (C, C), rows true, columns predicted; (A, 2, 2) of attributes.
    `names` may be empty: then numbers. `halves` are those of `retrains_apart`.
    """
    confusion = np.asarray(confusion)
    labels = classes.names(names, len(confusion))
    attributes = confusion.ndim == 3
    if attributes:
        labels = tuple(f"{label}: {answer}" for label in labels for answer in ("no", "yes"))
    reference = () if retrain is None else _recall(np.asarray(retrain))
    return ClassAccuracyInfo(
        labels,
        _recall(confusion),
        reference,
        of="Attribute" if attributes else "Class",
        noise=halves if len(halves) == len(reference) else (),
    )


def _recall(confusion: np.ndarray) -> tuple[float | None, ...]:
    totals, hits = confusion.sum(axis=-1).ravel(), confusion.diagonal(axis1=-2, axis2=-1).ravel()
    return tuple(
        100 * float(hit) / float(total) if total else None
        for hit, total in zip(hits, totals, strict=True)
    )


def retrains_apart(
    retrains: Sequence[Result], names: Sequence[str] = (), *, split: str = "test"
) -> tuple[float | None, ...]:
    """Half of the 95 % band of Retrains of different training seeds in each class, in points
    (`significance.half_band`): None in a class without a sample; () below two seeds.
    """
    by_seed: dict[int, list[np.ndarray]] = {}
    for result in retrains:
        if split in result.confusion:
            info = class_accuracy_info(result.confusion[split], names)
            by_seed.setdefault(training_seed(result), []).append(as_array(info.method))
    seeds = [np.mean(each, axis=0) for each in by_seed.values()]
    if len({len(each) for each in seeds}) != 1:
        return ()
    halves = [
        None if np.isnan(values).any() else half_band(values.tolist())
        for values in np.transpose(seeds)
    ]
    return tuple(halves) if any(half is not None for half in halves) else ()


def training_seed(result: Result) -> int:
    return int(result.spec.get("training_seed", 0))


def as_array(values: Sequence[float | None]) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values])


def draw(info: ClassAccuracyInfo, *, dark: bool) -> go.Figure:
    """Bars for the method, a dash for Retrain in each class, grey as far as its other seeds lie
    apart.
    """
    look = theme.ground(dark)
    figure = axes.figure(dark=dark)
    figure.add_trace(
        go.Bar(
            x=info.names,
            y=info.method,
            name="This run",
            marker={"color": look.primary, "opacity": 0.75},
            hovertemplate="%{x}: %{y:.1f} %<extra></extra>",
        )
    )
    if info.retrain:
        figure.add_trace(
            go.Scatter(
                x=info.names,
                y=info.retrain,
                name="Retrain",
                mode="markers",
                marker={"symbol": "line-ew", "size": 16, "line": {"width": 2, "color": look.text}},
                error_y={
                    "array": [half or 0.0 for half in info.noise],
                    "visible": bool(info.noise),
                    "color": look.grid,
                    "thickness": 12,
                    "width": 0,
                },
                hovertemplate="Retrain, %{x}: %{y:.1f} %<extra></extra>",
            )
        )
    figure.update_xaxes(title=info.of, type="category")
    figure.update_yaxes(title="Test accuracy, %", range=[0, 103])
    figure.update_layout(height=240)
    return figure


def alt_text(info: ClassAccuracyInfo) -> str:
    known = [
        (value, name)
        for value, name in zip(info.method, info.names, strict=True)
        if value is not None
    ]
    if not known:
        return f"Test accuracy of each {info.of.lower()}; the split is empty."
    low, high = min(known), max(known)
    halves = [half for half in info.noise if half is not None]
    what = "classes" if info.of == "Class" else "answers to attributes"
    return (
        f"Test accuracy of {len(known)} {what}: lowest {low[1]} with {low[0]:.1f} %, highest "
        f"{high[1]} with {high[0]:.1f} %."
        + noise.said(*([f"up to {max(halves):.1f} points"] if halves else []))
    )
