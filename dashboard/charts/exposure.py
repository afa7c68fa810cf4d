"""Per-sample exposure: where each forgotten sample stands under a run against where it stands under
Retrain, the diagonal drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, score_axis
from dashboard.frames.membership import natural


@dataclass(frozen=True)
class ExposureInfo:
    """One mark a forgotten sample, most exposed first; positions on the attack's axis. The first
    `ringed` are the table's.
    """

    attack: str
    ids: tuple[int, ...]
    run: tuple[float, ...]
    retrain: tuple[float, ...]
    original: tuple[float | None, ...]
    ringed: int
    above: int  # samples that stand higher in this run than in Retrain


def exposure_info(frame: pd.DataFrame, *, attack: str, ringed: int) -> ExposureInfo:
    """From `frames.membership.vulnerable`; samples that Retrain has no score of are left out."""
    known = frame[frame["retrain"].notna()]
    return ExposureInfo(
        attack,
        tuple(int(each) for each in known["id"]),
        tuple(known["run"]),
        tuple(known["retrain"]),
        tuple(None if np.isnan(each) else float(each) for each in known["original"]),
        min(ringed, len(known)),
        int((known["lead"] > 0).sum()),
    )


def draw(info: ExposureInfo, *, title: str, family: str, dark: bool) -> go.Figure:
    look, style = theme.ground(dark), theme.family_style(family)
    values = [*info.run, *info.retrain, *(each for each in info.original if each is not None)]
    room = 0.05 * (max(values) - min(values)) or 0.5
    low, high = min(values) - room, max(values) + room
    figure = axes.figure(dark=dark)
    figure.add_trace(
        go.Scatter(
            x=[low, high],
            y=[low, high],
            mode="lines",
            name="as in Retrain",
            line={"dash": "dash", "width": 1.2, "color": look.text},
        )
    )
    known = [(x, y) for x, y in zip(info.retrain, info.original, strict=True) if y is not None]
    if known:
        figure.add_trace(
            go.Scatter(
                x=[x for x, _ in known],
                y=[y for _, y in known],
                mode="markers",
                name="Original",
                marker={"symbol": "circle-open", "size": 6, "color": look.muted, "opacity": 0.6},
                hoverinfo="skip",
            )
        )
    rings = [
        look.text
        if place < info.ringed and info.run[place] > info.retrain[place]
        else style.color(dark)
        for place in range(len(info.ids))
    ]
    figure.add_trace(
        go.Scatter(
            x=info.retrain,
            y=info.run,
            mode="markers",
            name=title,
            customdata=[
                [number, natural(info.attack, y), natural(info.attack, x)]
                for number, x, y in zip(info.ids, info.retrain, info.run, strict=True)
            ],
            marker={
                "symbol": style.symbol,
                "size": 8,
                "color": style.color(dark),
                "opacity": 0.85,
                "line": {"width": 1.5, "color": rings},
            },
            hovertemplate="Sample %{customdata[0]}<br>here %{customdata[1]}<br>Retrain "
            "%{customdata[2]}<extra></extra>",
        )
    )
    places = score_axis.ticks(info.attack, low, high)
    places = places[::2] if len(places) > 4 else places
    for axis, name in ((figure.update_xaxes, "Retrain"), (figure.update_yaxes, title)):
        axis(title=f"Score under {name}", range=[low, high], zeroline=False)
        if places:
            axis(tickvals=[place for place, _ in places], ticktext=[text for _, text in places])
    figure.update_layout(height=400, legend=axes.above(1.02), margin={"t": 44})
    return figure


def alt_text(info: ExposureInfo) -> str:
    return (
        f"Scatter of {len(info.ids)} forgotten samples, score under Retrain on x and under this "
        f"run on y; {info.above} lie above the diagonal and look more like training samples here "
        "than to a model that never saw them."
    )
