"""The accuracies and an attack of a few networks beside Retrain's: where nobody knows a cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import plotly.graph_objects as go

from dashboard import frames
from dashboard.charts import dots
from dashboard.charts.parts import axes
from dashboard.widgets import clicks
from mucore import catalog

METRICS: Final = ("fa", "ra", "ta", "mia_confidence")


def show(rows: Sequence[frames.Row]) -> go.Figure:
    """A click opens the first run of a line."""
    lines = [
        dots.line_of(row, [dots.mark_of(row, metric, 100) for metric in METRICS]) for row in rows
    ]
    panels = [_panel(rows, metric) for metric in METRICS]
    figure, clicked = clicks.dotted(rows, lines, panels, "beside_retrain", axis="Percent")
    clicks.open_run(clicked)
    return figure


def _panel(rows: Sequence[frames.Row], metric: str) -> dots.Panel:
    base = next((row.mean(metric) for row in rows if row.method == "retrain"), None)
    half = frames.noise(rows, metric)
    values = [100 * value for row in rows if (value := row.mean(metric)) is not None]
    return dots.Panel(
        name=metric,
        title=catalog.metric(metric).title,
        span=axes.padded(values, 0.2, 2.0),
        limits=(0.0, 100.0),
        base=None if base is None else 100 * base,
        half_band=None if half is None else 100 * half,
    )
