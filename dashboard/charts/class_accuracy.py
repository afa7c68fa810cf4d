"""Accuracy of each class on the test set, beside Retrain's: where a method pays for forgetting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from dashboard import theme
from dashboard.charts.parts import axes, classes


@dataclass(frozen=True)
class ClassAccuracyInfo:
    """Accuracies in percent, one a class; None where the class has no sample in the split.
    `retrain` is empty without a reference.

    An attribute counts as two classes, the samples without it and those with it; `of` is "Class" or
    "Attribute".
    """

    names: tuple[str, ...]
    method: tuple[float | None, ...]
    retrain: tuple[float | None, ...]
    of: str = "Class"


def class_accuracy_info(
    confusion: ArrayLike, names: Sequence[str] = (), retrain: ArrayLike | None = None
) -> ClassAccuracyInfo:
    """`confusion`, `retrain`: counts (C, C), rows true, columns predicted; (A, 2, 2) of attributes.
    `names` may be empty: then numbers.
    """
    confusion = np.asarray(confusion)
    labels = classes.names(names, len(confusion))
    attributes = confusion.ndim == 3
    if attributes:
        labels = tuple(f"{label}: {answer}" for label in labels for answer in ("no", "yes"))
    reference = () if retrain is None else _recall(np.asarray(retrain))
    return ClassAccuracyInfo(
        labels, _recall(confusion), reference, of="Attribute" if attributes else "Class"
    )


def _recall(confusion: np.ndarray) -> tuple[float | None, ...]:
    totals, hits = confusion.sum(axis=-1).ravel(), confusion.diagonal(axis1=-2, axis2=-1).ravel()
    return tuple(
        100 * float(hit) / float(total) if total else None
        for hit, total in zip(hits, totals, strict=True)
    )


def draw(info: ClassAccuracyInfo, *, dark: bool) -> go.Figure:
    """Bars for the method, a dash for Retrain in each class."""
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
    what = "classes" if info.of == "Class" else "answers to attributes"
    return (
        f"Test accuracy of {len(known)} {what}: lowest {low[1]} with {low[0]:.1f} %, highest "
        f"{high[1]} with {high[0]:.1f} %."
    )
