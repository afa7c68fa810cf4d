"""One sample under several runs: small bars of the probabilities that each gives, the true label in
colour.
"""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import subplots

MOST = 10  # classes shown; the others have less probability under every run
ACROSS = 5  # panels in a line
TITLE, ROW = 34, 18  # pixels of a panel's title, and of a class


def likeliest(every: pd.DataFrame, true: Collection[str]) -> pd.DataFrame:
    """Of probabilities by class and run those of the `true` classes and of the classes with the
    largest under any run, in the order of the classes.
    """
    ranked = every.max(axis=1).where(~every.index.isin(list(true)), 2.0).nlargest(MOST)
    return every[every.index.isin(ranked.index)]


def draw(percent: pd.DataFrame, true: Collection[str], *, dark: bool) -> go.Figure:
    """A panel a run (column), classes (rows) from the top; `true`: the true class, or the
    attributes that the sample has.
    """
    look = theme.ground(dark)
    across = min(ACROSS, len(percent.columns))
    lines = -(-len(percent.columns) // ACROSS)
    height = lines * (TITLE + ROW * len(percent)) + 60
    figure = subplots.figure(
        rows=lines,
        cols=across,
        shared_yaxes=True,
        shared_xaxes=True,
        subplot_titles=list(percent.columns),
        horizontal_spacing=0.03,
        vertical_spacing=TITLE / height,
        size=12,
        dark=dark,
    )
    colors = [look.primary if name in true else look.muted for name in percent.index]
    for number, (title, values) in enumerate(percent.items()):
        figure.add_trace(
            go.Bar(
                x=values,
                y=percent.index,
                orientation="h",
                name=str(title),
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


def alt_text(percent: pd.DataFrame, true: Collection[str]) -> str:
    said = "; ".join(
        f"{title} says {values.idxmax()} with {values.max():.0f} %"
        for title, values in percent.items()
    )
    return f"Probabilities of one sample whose true label is {', '.join(true) or 'none'}. {said}."
