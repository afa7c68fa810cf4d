"""Requests one after another: forget accuracy of each request's samples after every later one.

Cells print the method's accuracy and Retrain's in brackets; the colour is their difference.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, heatmap
from dashboard.text.labels import number

SMALLEST_LIMIT = 10.0  # points at which the colour is full, at least


@dataclass(frozen=True)
class RequestMatrixInfo:
    """`requests` says what each asked for; `method` and `retrain` are fractions, a line a request,
    a column for the model before any request and after each; None where there is no number.
    """

    title: str
    requests: tuple[str, ...]
    method: tuple[tuple[float | None, ...], ...]
    retrain: tuple[tuple[float | None, ...], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return ("Original", *(f"after {each + 1}" for each in range(len(self.requests))))

    @property
    def gaps(self) -> list[list[float | None]]:
        """The method less Retrain, in points."""
        return [
            [
                None if mine is None or other is None else 100 * (mine - other)
                for mine, other in zip(ours, theirs, strict=True)
            ]
            for ours, theirs in zip(self.method, self.retrain, strict=True)
        ]


def request_matrix_info(
    title: str,
    requests: Sequence[str],
    *,
    method: np.ndarray,
    retrain: np.ndarray,
    original: np.ndarray,
) -> RequestMatrixInfo:
    """`method` and `retrain` (k, k), `original` (k,), as the analysis `requests` gives them."""

    def lines(
        values: np.ndarray, before: np.ndarray | None
    ) -> tuple[tuple[float | None, ...], ...]:
        first = np.full(len(values), np.nan) if before is None else before
        return tuple(
            tuple(None if math.isnan(each) else float(each) for each in (start, *line))
            for start, line in zip(first, values, strict=True)
        )

    return RequestMatrixInfo(title, tuple(requests), lines(method, original), lines(retrain, None))


def draw(info: RequestMatrixInfo, *, dark: bool) -> go.Figure:
    look = theme.ground(dark)
    gaps = info.gaps
    limit = max((abs(value) for line in gaps for value in line if value is not None), default=0.0)
    limit = max(limit, SMALLEST_LIMIT)
    texts = [
        [_cell(mine, other) for mine, other in zip(ours, theirs, strict=True)]
        for ours, theirs in zip(info.method, info.retrain, strict=True)
    ]
    figure = axes.figure(dark=dark)
    shown = [
        [0.0 if gap is None and text else gap for gap, text in zip(line, row, strict=True)]
        for line, row in zip(gaps, texts, strict=True)
    ]
    figure.add_trace(
        heatmap.cells(
            shown,
            info.columns,
            info.requests,
            texts,
            span=(-limit, limit),
            what="points",
            hover="<b>%{y}</b><br>%{x}: %{text} %",
            dark=dark,
            signed=True,
            hoverongaps=False,
        )
    )
    figure.update_xaxes(
        title="The model: accuracy, %, in brackets Retrain's", type="category", showgrid=False
    )
    figure.update_yaxes(
        type="category", autorange="reversed", showgrid=False, tickfont={"color": look.text}
    )
    figure.update_layout(height=max(400, 120 + 44 * len(info.requests)), margin={"t": 12})
    return figure


def _cell(mine: float | None, other: float | None) -> str:
    if mine is None:
        return ""
    return number(mine, "percent") + ("" if other is None else f" ({number(other, 'percent')})")


def alt_text(info: RequestMatrixInfo) -> str:
    last = "; ".join(
        f"{name}: {_cell(ours[-1], theirs[-1])} %"
        for name, ours, theirs in zip(info.requests, info.method, info.retrain, strict=True)
    )
    return (
        f"Table of {len(info.requests)} requests by the model after each, {info.title}. After the "
        f"last, with Retrain's in brackets, {last}."
    )
