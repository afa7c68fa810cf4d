"""Confusion matrices side by side: of each true class, the share predicted as each class, or how
far that is from Retrain's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from dashboard.charts.parts import classes, heatmap, subplots
from dashboard.text.labels import MINUS

PRINTED = 10  # classes up to which cells carry their number
SMALLEST_LIMIT = 10.0  # points at which a difference has its full colour, at least


@dataclass(frozen=True)
class Panel:
    """One run: percent of each true class (rows) by predicted class (columns), or points of
    difference; None where the class is empty.
    """

    title: str
    cells: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True)
class ConfusionInfo:
    """`names` of the predicted classes; `true` of the rows: classes with a sample in some panel.
    `difference`: cells are less Retrain's. `worst`: per panel the largest cell beside the diagonal,
    (title, true, predicted, value).
    """

    names: tuple[str, ...]
    true: tuple[str, ...]
    panels: tuple[Panel, ...]
    difference: bool
    limit: float
    worst: tuple[tuple[str, str, str, float], ...]


def confusion_info(
    panels: Sequence[tuple[str, ArrayLike]],
    names: Sequence[str] = (),
    bases: Sequence[ArrayLike] | None = None,
) -> ConfusionInfo:
    """`panels`: title and counts (C, C), rows true; `bases`: Retrain's counts for each of them, to
    be subtracted.
    """
    shares = [_percent(np.asarray(counts)) for _, counts in panels]
    if bases is not None:
        shares = [
            mine - _percent(np.asarray(base)) for mine, base in zip(shares, bases, strict=True)
        ]
    size = len(shares[0]) if shares else 0
    labels = classes.names(names, size)
    rows = [row for row in range(size) if any(not np.isnan(cells[row]).all() for cells in shares)]
    made, worst = [], []
    for (title, _), cells in zip(panels, shares, strict=True):
        made.append(
            Panel(
                title,
                tuple(tuple(None if np.isnan(v) else float(v) for v in cells[row]) for row in rows),
            )
        )
        beside = np.where(np.eye(size, dtype=bool) | np.isnan(cells), 0.0, np.abs(cells))
        if beside.size and beside.max() > 0:
            row, column = np.unravel_index(int(beside.argmax()), beside.shape)
            worst.append((title, labels[row], labels[column], float(cells[row, column])))
    largest = max(
        (float(np.nanmax(np.abs(cells))) for cells in shares if not np.isnan(cells).all()),
        default=0.0,
    )
    limit = max(largest, SMALLEST_LIMIT) if bases is not None else 100.0
    return ConfusionInfo(
        labels,
        tuple(labels[row] for row in rows),
        tuple(made),
        bases is not None,
        limit,
        tuple(worst),
    )


def _percent(counts: np.ndarray) -> np.ndarray:
    totals = counts.sum(axis=1, keepdims=True)
    return np.where(totals > 0, 100 * counts / np.maximum(totals, 1), np.nan)


def draw(info: ConfusionInfo, *, dark: bool) -> go.Figure:
    """One square a run, true classes from the top; all share one colour scale."""
    titles = [panel.title for panel in info.panels]
    figure = subplots.figure(
        cols=max(1, len(titles)),
        subplot_titles=titles,
        size=14,
        horizontal_spacing=0.06,
        shared_yaxes=True,
        dark=dark,
    )
    for place, panel in enumerate(info.panels, start=1):
        # cells that round to nothing stay blank: the others are then seen at once
        text = [
            [
                "" if abs(value or 0.0) < 0.5 else _text(value or 0.0, info.difference)
                for value in row
            ]
            for row in panel.cells
        ]
        trace = heatmap.cells(
            panel.cells,
            info.names,
            info.true,
            text,
            span=(-info.limit if info.difference else 0, info.limit),
            what="points" if info.difference else "%",
            hover="true %{y}, predicted %{x}<br>%{z:.1f}"
            + (" points" if info.difference else " %"),
            dark=dark,
            printed=len(info.names) <= PRINTED,
            signed=info.difference,
        )
        if place < len(info.panels):
            trace.showscale = False
        figure.add_trace(trace, row=1, col=place)
    figure.update_xaxes(title="Predicted", type="category", showgrid=False)
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    figure.update_yaxes(title="True", col=1)
    figure.update_layout(height=max(400, min(520, 130 + 32 * len(info.true))), margin={"t": 32})
    return figure


def _text(value: float, signed: bool) -> str:
    return (f"{value:+.0f}" if signed else f"{value:.0f}").replace("-", MINUS)


def alt_text(info: ConfusionInfo) -> str:
    what = "difference to Retrain of the shares" if info.difference else "shares"
    parts = [
        f"{title}: true {true}, predicted {predicted}, {_text(value, info.difference)}"
        for title, true, predicted, value in info.worst
    ]
    return (
        f"Confusion matrices, {what} of each true class. Largest beside the diagonal: "
        f"{'; '.join(parts) or 'none'}."
    )
