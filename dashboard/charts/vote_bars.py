"""What a room voted on a question: a bar an option, or one each ten percent."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes
from dashboard.lessons.ballots import Bin
from dashboard.text import units

LEAST, ROW = 240, 30  # pixels of the figure, and of a bar where there are many
WRAP = 24  # characters of an option in a line


def draw(bins: Sequence[Bin], *, dark: bool) -> go.Figure:
    """The right bars are filled in the primary colour and say so, the others are grey; what was
    voted before a discussion is pale.
    """
    look = theme.ground(dark)
    titles = ["<br>".join(textwrap.wrap(one.title, WRAP)) for one in bins]
    before, counts = [one.before or 0 for one in bins], [one.count for one in bins]
    bars = {"y": titles, "orientation": "h", "hoverinfo": "skip"}
    figure = axes.figure(dark=dark)
    if any(before):
        pale = {"color": look.muted, "opacity": 0.3}
        figure.add_trace(go.Bar(x=before, marker=pale, name="before the discussion", **bars))
    colors = [look.primary if one.right else look.muted for one in bins]
    figure.add_trace(
        go.Bar(
            x=counts,
            marker={"color": colors, "opacity": 0.85},
            text=[f"{one.count}{_word(one)}" for one in bins],
            textposition="outside",
            cliponaxis=False,
            showlegend=False,
            **bars,
        )
    )
    longest = max(*counts, *before, 3)
    figure.update_xaxes(range=[0, 1.3 * longest], showticklabels=False, showgrid=False)
    figure.update_yaxes(
        autorange="reversed", showgrid=False, type="category", tickfont={"color": look.text}
    )
    room = 8 + 6 * max(len(_word(one)) for one in bins)
    return figure.update_layout(
        height=max(LEAST, ROW * len(bins)),
        bargap=0.3,
        bargroupgap=0.05,
        showlegend=any(before),
        legend=axes.above(1) | {"orientation": "h"},
        margin={"t": 36 if any(before) else 8, "b": 8, "r": room},
    )


def _word(one: Bin) -> str:
    """What is to be said of a bar beside its number."""
    return " · right" * bool(one.right) + " · yours" * one.mine


def alt_text(bins: Sequence[Bin]) -> str:
    told = ", ".join(
        f"{one.title}: {one.count}{_word(one)}" + (f", {one.before} before" if one.before else "")
        for one in bins
    )
    return f"{units.count(sum(one.count for one in bins), 'vote')}. {told}."
