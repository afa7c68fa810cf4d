"""Test accuracy of each class less Retrain's, one line a method: where forgetting is paid for.

Cells are percentage points, means over training seeds; each method is compared with the Retrain of
the same training seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.class_accuracy import (
    ClassAccuracyInfo,
    as_array,
    class_accuracy_info,
    retrains_apart,
    training_seed,
)
from dashboard.charts.parts import axes, heatmap
from dashboard.frames import NOISE
from dashboard.text.labels import number
from mucore.store.rows import Result

PRINTED = 12  # classes up to which every cell shows its number
# points at which the colour is full, at least: smaller gaps never look like outliers
SMALLEST_LIMIT = 10.0


@dataclass(frozen=True)
class ClassGapsInfo:
    """`rows`: (title, gap of each class in points; None where the class has no sample). `missing`
    are titles that cannot be compared. `noise`: half of the band of Retrain against Retrain in each
    class, in points; empty without two seeds of it.
    """

    classes: tuple[str, ...]
    rows: tuple[tuple[str, tuple[float | None, ...]], ...]
    missing: tuple[str, ...]
    limit: float
    of: str = "Class"
    split: str = "test"
    noise: tuple[float | None, ...] = ()


def class_gaps_info(
    methods: Sequence[tuple[str, Sequence[Result]]],
    retrains: Sequence[Result],
    names: Sequence[str] = (),
    *,
    split: str = "test",
) -> ClassGapsInfo:
    """`methods`: title and runs of each; `retrains`: the retrained models of the same setting;
    `names` of the classes, if any.
    """
    reference: dict[int, list[ClassAccuracyInfo]] = {}
    for result in retrains:
        if split in result.confusion:
            reference.setdefault(training_seed(result), []).append(
                class_accuracy_info(result.confusion[split], names)
            )
    rows, missing = [], []
    labels: tuple[str, ...] = ()
    of = "Class"
    for title, results in methods:
        by_seed: dict[int, list[np.ndarray]] = {}
        for result in results:
            base = reference.get(training_seed(result))
            if base and split in result.confusion:
                mine = class_accuracy_info(result.confusion[split], names)
                if all(mine.names == each.names for each in base):
                    labels, of = mine.names, mine.of
                    gap = as_array(mine.method) - np.mean(
                        [as_array(each.method) for each in base], axis=0
                    )
                    by_seed.setdefault(training_seed(result), []).append(gap)
        if by_seed:
            means = np.mean([np.mean(each, axis=0) for each in by_seed.values()], axis=0)
            rows.append(
                (title, tuple(None if np.isnan(value) else float(value) for value in means))
            )
        else:
            missing.append(title)
    largest = max(
        (abs(value) for _, values in rows for value in values if value is not None), default=0.0
    )
    return ClassGapsInfo(
        labels,
        tuple(rows),
        tuple(missing),
        max(largest, SMALLEST_LIMIT),
        of,
        split,
        retrains_apart(retrains, names, split=split) if rows else (),
    )


def draw(info: ClassGapsInfo, *, dark: bool) -> go.Figure:
    """A heat map, methods from the top in the given order; white is as good as Retrain. Above them,
    in grey, is the 95 % band of Retrains of other seeds.
    """
    look = theme.ground(dark)
    # plotly finds a cell's text by the place of its line on the axis, so the line of the grey is
    # one of this map, too, without a number
    above = [[None] * len(info.classes)] if info.noise else []
    titles = [NOISE] * len(above) + [title for title, _ in info.rows]
    cells = [*above, *(list(values) for _, values in info.rows)]
    printed = [[""] * len(info.classes)] * len(above) + [
        [number(None if v is None else v / 100, "percent", signed=True) for v in values]
        for _, values in info.rows
    ]
    figure = axes.figure(dark=dark)
    figure.add_trace(
        heatmap.cells(
            cells,
            info.classes,
            titles,
            printed,
            span=(-info.limit, info.limit),
            what="points",
            hover="<b>%{y}</b><br>%{x}: %{text} points",
            dark=dark,
            printed=len(info.classes) <= PRINTED,
            signed=True,
        )
    )
    figure.update_xaxes(
        title=f"{info.of}: {info.split} accuracy less Retrain's", type="category", showgrid=False
    )
    if info.noise:
        figure.add_trace(_noise_trace(info, dark))
    figure.update_yaxes(
        type="category",
        categoryorder="array",
        categoryarray=titles,
        autorange="reversed",
        showgrid=False,
        tickfont={"color": look.text},
    )
    figure.update_layout(height=max(400, 110 + 30 * len(titles)), margin={"t": 12})
    return figure


def _noise_trace(info: ClassGapsInfo, dark: bool) -> go.Heatmap:
    trace = heatmap.cells(
        [list(info.noise)],
        info.classes,
        [NOISE],
        [["" if half is None else f"± {number(half / 100, 'percent')}" for half in info.noise]],
        span=(0, 1),
        what="",
        hover="<b>Retrains of other seeds</b><br>%{x}: %{text} points",
        dark=dark,
        printed=len(info.classes) <= PRINTED,
        name="noise",
    )
    grey = theme.ground(dark).grid
    return trace.update(colorscale=[(0.0, grey), (1.0, grey)], showscale=False)


def alt_text(info: ClassGapsInfo) -> str:
    """The figure in one or two sentences, for a reader who cannot see it."""
    known = [
        (value, title, name)
        for title, values in info.rows
        for name, value in zip(info.classes, values, strict=True)
        if value is not None
    ]
    if not known:
        return (
            f"Heat map of {info.split} accuracy of each class against Retrain; no method can be "
            "compared."
        )
    low, high = min(known), max(known)
    grey = max((half for half in info.noise if half is not None), default=None)
    return (
        f"Heat map of {len(info.rows)} methods by {len(info.classes)} columns: {info.split} "
        f"accuracy less Retrain's, in points. Lowest: {low[1]}, {low[2]}, {low[0]:+.1f}. Highest: "
        f"{high[1]}, {high[2]}, {high[0]:+.1f}."
        + (
            ""
            if grey is None
            else f" The 95 % band of Retrains of other seeds: up to {grey:.1f} points."
        )
    )
