"""Accuracy of each class on the test set, beside Retrain's: where a method pays for forgetting."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from dashboard import theme
from dashboard.charts.parts import axes, classes
from mucore.statistics.significance import half_band
from mucore.store.records import Result


def accuracies(confusion: ArrayLike, names: Sequence[str] = ()) -> pd.Series:
    """Percent right of each class, NaN where it has no sample; the index is called "Class". Of
    attributes, two entries each, the samples without it and those with it, called "Attribute".

    `confusion`: counts (C, C), rows true, columns predicted; (A, 2, 2) of attributes. `names` may
    be empty: then numbers.
    """
    counts = np.asarray(confusion)
    labels, of = classes.names(names, len(counts)), "Class"
    if counts.ndim == 3:
        labels, of = [f"{label}: {each}" for label in labels for each in ("no", "yes")], "Attribute"
    totals = counts.sum(axis=-1).ravel()
    hits = counts.diagonal(axis1=-2, axis2=-1).ravel()
    shares = np.where(totals > 0, 100 * hits / np.maximum(totals, 1), np.nan)
    return pd.Series(shares, pd.Index(labels, name=of))


def retrains_apart(
    retrains: Sequence[Result], names: Sequence[str] = (), *, split: str = "test"
) -> pd.Series:
    """Half of the 95 % band of Retrains of different training seeds in each class, in points
    (`significance.half_band`): NaN in a class without a sample; empty below two seeds.
    """
    having = [each for each in retrains if split in each.confusion]
    seeds = [each.spec.get("training_seed", 0) for each in having]
    if len(set(seeds)) < 2:
        return pd.Series(dtype=float)
    found = pd.DataFrame([accuracies(each.confusion[split], names) for each in having])
    halves = found.groupby(seeds).mean().dropna(axis=1).apply(lambda each: half_band(each.tolist()))
    return halves.reindex(found.columns)


def draw(mine: pd.Series, retrain: pd.Series | None, halves: pd.Series, *, dark: bool) -> go.Figure:
    """Bars for the run's `accuracies`, a dash for Retrain in each class, grey as far as its other
    seeds lie apart (`retrains_apart`).
    """
    look = theme.ground(dark)
    figure = axes.figure(dark=dark)
    figure.add_trace(
        go.Bar(
            x=mine.index,
            y=mine,
            name="This run",
            marker={"color": look.primary, "opacity": 0.75},
            hovertemplate="%{x}: %{y:.1f} %<extra></extra>",
        )
    )
    if retrain is not None:
        half = halves.reindex(retrain.index)
        figure.add_trace(
            go.Scatter(
                x=retrain.index,
                y=retrain,
                name="Retrain",
                mode="markers",
                marker={"symbol": "line-ew", "size": 16, "line": {"width": 2, "color": look.text}},
                error_y={
                    "array": half.clip(upper=100 - retrain).fillna(0.0),
                    "arrayminus": half.clip(upper=retrain).fillna(0.0),
                    "visible": not halves.empty,
                    "color": look.grid,
                    "thickness": 12,
                    "width": 0,
                },
                hovertemplate="Retrain, %{x}: %{y:.1f} %<extra></extra>",
            )
        )
    figure.update_xaxes(title=mine.index.name, type="category")
    figure.update_yaxes(title="Test accuracy, %", range=[0, 103])
    figure.update_layout(height=240)
    return figure


def alt_text(mine: pd.Series, retrain: pd.Series | None, halves: pd.Series) -> str:
    if not mine.notna().any():
        return "Test accuracy of each class; the split is empty."
    band = (
        "" if retrain is None or halves.empty else f" Band of Retrains: {halves.max():.1f} points."
    )
    return (
        f"Test accuracy of {mine.notna().sum()} classes: lowest {mine.idxmin()} with "
        f"{mine.min():.1f} %, highest {mine.idxmax()} with {mine.max():.1f} %.{band}"
    )
