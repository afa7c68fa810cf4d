"""Efficacy against membership inference, a mark a method (Becker & Liebig, Figures 4 and 8)."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from dashboard.charts import scatter
from dashboard.charts.parts import axes
from dashboard.frames import Row

Places = dict[str, tuple[float, float]]


def places(rows: Sequence[Row], attack: str) -> Places:
    """Efficacy (a power of ten) and what the attack calls unseen (percent) by the id of the row, of
    rows that have both.
    """
    found = {row.id: (row.mean("efficacy"), row.mean(f"mia_{attack}")) for row in rows}
    return {name: (x, 100 * y) for name, (x, y) in found.items() if x is not None and y is not None}


def draw(rows: Sequence[Row], attack: str, *, dark: bool, selected: str = "") -> go.Figure:
    known = places(rows, attack)
    low, high = axes.padded([x for x, _ in known.values()], 0.06, 0.2)
    dots = [
        scatter.dot_of(
            row,
            x,
            y,
            f"efficacy 10<sup>{x:.2f}</sup>, {y:.1f} % called unseen",
            key=row.keys[0],
        )
        for row in rows
        if not row.reference and row.id in known
        for x, y in [known[row.id]]
    ]
    references = {row.method: known.get(row.id) for row in rows if row.reference}
    return scatter.draw(
        dots,
        scatter.Axis(title="log₁₀ efficacy: lower is less exposed", low=low, high=high),
        scatter.Axis(title="Forgotten samples called unseen, %", low=-4, high=104),
        dark=dark,
        retrain=references.get("retrain"),
        original=references.get("original"),
        selected=selected,
        height=460,
    )


def alt_text(rows: Sequence[Row], attack: str) -> str:
    return (
        f"Scatter of {len(places(rows, attack))} models: efficacy on x, the share of forgotten "
        "samples that the attack calls unseen on y."
    )
