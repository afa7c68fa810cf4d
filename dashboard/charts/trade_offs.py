"""Two goals against each other, a mark a method in the colour of its verdict; the Pareto front has
names.

x and y are scores: absolute gaps to Retrain in points, or costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pandas as pd
import plotly.graph_objects as go

from dashboard import frames, theme
from dashboard.charts import scatter
from dashboard.charts.parts import noise
from dashboard.frames.tradeoffs import Front, Measure

NAMED: Final = 12  # of the front


def draw(
    found: Front,
    across: Measure,
    up: Measure,
    scored: pd.DataFrame,
    references: Sequence[frames.Row],
    *,
    dark: bool,
    near: bool = True,
    selected: str = "",
    height: int = 520,
) -> go.Figure:
    """`scored` has the scores of all rows. With `near`, arrows at the edges stand for what lies
    outside a window that holds the front, and of all methods the half with the least distance to
    Retrain. Grey: Retrains of other seeds.
    """
    places = scored[[across.id, up.id]].dropna()
    rows = [row for row in found.rows if row.id in places.index]
    ends = {row.method: row.id for row in references if row.id in places.index}
    close = {row.id for row in (*found.leaders, *rows[: (len(rows) + 1) // 2])}
    shown = [row.id for row in rows if row.id in close] if near else []
    window = places.loc[shown or [row.id for row in rows] + list(ends.values())]
    figure = scatter.draw(
        [_dot(row, places.loc[row.id], across, up, found) for row in rows],
        _axis(across, window[across.id].tolist()),
        _axis(up, window[up.id].tolist()),
        dark=dark,
        retrain=_place(places, ends.get("retrain")),
        original=_place(places, ends.get("original")),
        selected=selected,
        names=[row.keys[0] for row in found.leaders[:NAMED]],
        height=height,
        size=(940, height - 80),
    )
    x, y = (_band(how, scored, references) for how in (across, up))
    if x is not None or y is not None:
        figure.add_shape(noise.band(theme.ground(dark), x=x, y=y))
    return figure


def _place(places: pd.DataFrame, row: str | None) -> tuple[float, float] | None:
    return None if row is None else (places.loc[row].iloc[0], places.loc[row].iloc[1])


def _dot(
    row: frames.Row, place: pd.Series, across: Measure, up: Measure, found: Front
) -> scatter.Dot:
    said = [
        f"{how.short}{' gap' if how.gap else ''} {how.text(score)} {how.unit_name}".strip()
        for how, score in zip((across, up), place, strict=True)
    ]
    told = f"{', '.join(said)}<br>beaten by: {found.place(row)}"
    return scatter.dot_of(row, place.iloc[0], place.iloc[1], told)


def _band(
    how: Measure, scored: pd.DataFrame, references: Sequence[frames.Row]
) -> tuple[float, float] | None:
    """Where scores of a Retrain of another seed fall: up from no gap, or about Retrain's value.
    None for costs, which are no property of the network, and below two seeds.
    """
    half = None if how.log else frames.noise(references, how.id)
    if half is None:
        return None
    base = next(scored.at[row.id, how.id] for row in references if row.method == "retrain")
    reach = how.scale * half
    return (0.0, reach) if how.gap else (base - reach, base + reach)


def _axis(how: Measure, scores: Sequence[float]) -> scatter.Axis:
    low, high = min(scores, default=0.0), max(scores, default=1.0)
    title = how.axis
    if how.log:
        least = low or high / 1000 or 0.001
        return scatter.Axis(title=title, low=least / 1.6, high=1.6 * max(high, least), log=True)
    floor = 0.0 if how.gap else low
    room = 0.08 * (high - floor) or 0.5
    return scatter.Axis(title=title, low=floor - room / 2, high=high + room)


def alt_text(found: Front, across: Measure, up: Measure) -> str:
    named = ", ".join(row.title for row in found.leaders)
    return (
        f"Scatter of {len(found.rows)} methods, {across.short} across and {up.short} up. "
        f"Pareto front: {named or 'none'}."
    )
