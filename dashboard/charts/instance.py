"""One sample under several runs: small bars of the probabilities that each gives, the true label in
colour.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import classes, subplots

MOST = 10  # classes shown; the others have less probability under every run
ACROSS = 5  # panels in a line
TITLE, ROW = 34, 18  # pixels of a panel's title, and of a class


@dataclass(frozen=True)
class InstanceInfo:
    """`panels`: title and percent of each of `names`. `true`: places in `names` of the true class,
    or of the attributes that it has.
    """

    names: tuple[str, ...]
    true: tuple[int, ...]
    panels: tuple[tuple[str, tuple[float, ...]], ...]
    left_out: int  # classes not shown


def instance_info(
    titles: Sequence[str],
    probabilities: Sequence[np.ndarray],
    label: np.ndarray,
    names: Sequence[str] = (),
) -> InstanceInfo:
    """`probabilities`: (C,) or (A,) of each run in 0..1; `label`: the class, or (A,) of 0 and 1.

    The true class and those with the largest probability under any run are shown, in the order of
    the classes.
    """
    size = len(probabilities[0])
    every = classes.names(names, size)
    true = {int(label)} if np.ndim(label) == 0 else {int(place) for place in np.flatnonzero(label)}
    largest = np.max(probabilities, axis=0)
    ranked = sorted(range(size), key=lambda place: (place not in true, -largest[place]))
    shown = sorted(ranked[:MOST])
    panels = tuple(
        (title, tuple(100 * float(each[place]) for place in shown))
        for title, each in zip(titles, probabilities, strict=True)
    )
    return InstanceInfo(
        names=tuple(every[place] for place in shown),
        true=tuple(number for number, place in enumerate(shown) if place in true),
        panels=panels,
        left_out=size - len(shown),
    )


def draw(info: InstanceInfo, *, dark: bool) -> go.Figure:
    """A panel a run; classes from the top."""
    look = theme.ground(dark)
    across = min(ACROSS, len(info.panels))
    lines = -(-len(info.panels) // ACROSS)
    height = lines * (TITLE + ROW * len(info.names)) + 60
    figure = subplots.figure(
        rows=lines,
        cols=across,
        shared_yaxes=True,
        shared_xaxes=True,
        subplot_titles=[title for title, _ in info.panels],
        horizontal_spacing=0.03,
        vertical_spacing=TITLE / height,
        size=12,
        dark=dark,
    )
    colors = [
        look.primary if place in info.true else look.muted for place in range(len(info.names))
    ]
    for number, (title, values) in enumerate(info.panels):
        figure.add_trace(
            go.Bar(
                x=values,
                y=info.names,
                orientation="h",
                name=title,
                marker={"color": colors, "line": {"width": 0}},
                text=[f"{value:.0f}" if value >= 1 else "" for value in values],
                textposition="outside",
                cliponaxis=False,
                textfont={"size": 11, "color": look.text},
                hovertemplate=f"<b>{title}</b><br>%{{y}}: %{{x:.1f}} %<extra></extra>",
                showlegend=False,
            ),
            row=number // across + 1,
            col=number % across + 1,
        )
    figure.update_xaxes(range=[0, 118], tickvals=[0, 50, 100], zeroline=False)
    figure.update_xaxes(title="Probability, %", row=lines)
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    figure.update_layout(height=height, margin={"t": 28}, bargap=0.25)
    return figure


def alt_text(info: InstanceInfo) -> str:
    true = ", ".join(info.names[place] for place in info.true) or "none"
    parts = []
    for title, values in info.panels:
        best = int(np.argmax(values))
        parts.append(f"{title} says {info.names[best]} with {values[best]:.0f} %")
    return f"Probabilities of one sample whose true label is {true}. {'; '.join(parts)}."
