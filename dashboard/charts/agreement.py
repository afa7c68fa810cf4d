"""How well things agree two by two, as a square heat map: metrics by Kendall's tau, or runs by
equal predictions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from dashboard.charts.parts import axes, heatmap
from dashboard.text.labels import MINUS

NUMBERED = 26  # larger squares carry no numbers: they would not be readable


@dataclass(frozen=True)
class AgreementInfo:
    """A symmetric table; None where a pair cannot be compared. `signed`: from −1 (opposite) to 1,
    else from 0 to 1.
    """

    names: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    what: str  # what a value is, for the colour bar
    signed: bool

    @property
    def least(self) -> tuple[str, str, float] | None:
        """The two that agree least; None where no pair has a value."""
        count = len(self.names)
        pairs = [
            (value, i, j)
            for i in range(count)
            for j in range(i + 1, count)
            if (value := self.values[i][j]) is not None
        ]
        if not pairs:
            return None
        value, i, j = min(pairs)
        return self.names[i], self.names[j], value


def agreement_info(
    names: Sequence[str], values: np.ndarray, *, what: str, signed: bool
) -> AgreementInfo:
    """`values` (n, n); NaN where a pair cannot be compared."""
    rows = tuple(
        tuple(None if math.isnan(value) else float(value) for value in row)
        for row in np.asarray(values, dtype=float)
    )
    return AgreementInfo(tuple(names), rows, what, signed)


def draw(info: AgreementInfo, *, dark: bool) -> go.Figure:
    """Rows from the top; what cannot be compared stays empty."""
    figure = axes.figure(dark=dark)
    count = len(info.names)
    places = list(range(count))
    text = [
        ["" if value is None else _text(value, info.signed) for value in row] for row in info.values
    ]
    figure.add_trace(
        heatmap.cells(
            info.values,
            places,  # places and not names, so that two of one name stay two
            places,
            text,
            span=(-1 if info.signed else _lowest(info), 1),
            what=info.what,
            hover="%{customdata[0]}<br>%{customdata[1]}<br>%{text}",
            dark=dark,
            printed=count <= NUMBERED,
            signed=info.signed,
            customdata=[[[one, other] for other in info.names] for one in info.names],
        )
    )
    figure.update_xaxes(
        tickvals=places, ticktext=info.names, tickangle=-45, showgrid=False, zeroline=False
    )
    figure.update_yaxes(
        tickvals=places, ticktext=info.names, showgrid=False, zeroline=False, autorange="reversed"
    )
    figure.update_layout(height=max(400, 140 + 26 * count), margin={"t": 8})
    return figure


def _lowest(info: AgreementInfo) -> float:
    """Where the colours of shares begin: a step of ten percent below the smallest, so that small
    differences among large shares show.
    """
    known = [value for row in info.values for value in row if value is not None]
    return max(0.0, math.floor(10 * min(known, default=0.0) - 1e-9) / 10)


def _text(value: float, signed: bool) -> str:
    return f"{value:.2f}".replace("-", MINUS) if signed else f"{100 * value:.0f}"


def alt_text(info: AgreementInfo) -> str:
    if info.least is None:
        return (
            f"Heat map, {info.what}, {len(info.names)} by {len(info.names)}; no pair can be "
            "compared."
        )
    one, other, value = info.least
    return (
        f"Heat map, {info.what}, {len(info.names)} by {len(info.names)}. Least: {one} and "
        f"{other}, {_text(value, info.signed)}."
    )
