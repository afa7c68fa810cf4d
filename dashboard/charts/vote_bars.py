"""What a room voted on a question: a bar an option, or one each ten percent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes
from dashboard.lessons.ballots import Bin
from dashboard.text import units

ROW, ROW_LARGE, UPRIGHT = 44, 66, 260
WRAP = 38  # characters of an option in a line


@dataclass(frozen=True)
class VoteBarsInfo:
    """`upright`: bars of numbers stand in their order from left to right."""

    bins: tuple[Bin, ...]
    upright: bool

    @property
    def total(self) -> int:
        return sum(one.count for one in self.bins)


def vote_bars_info(bins: Sequence[Bin], *, numbers: bool) -> VoteBarsInfo:
    return VoteBarsInfo(tuple(bins), numbers)


def draw(info: VoteBarsInfo, *, dark: bool, large: bool = False) -> go.Figure:
    """The right bars are filled in the primary colour and say so, the others are grey; `large` is
    for a projector.
    """
    look, size = theme.ground(dark), 20 if large else 13
    titles = [_wrapped(one.title) for one in info.bins]
    counts = [one.count for one in info.bins]
    figure = axes.figure(dark=dark)
    if any(before := [one.before or 0 for one in info.bins]):
        figure.add_trace(
            go.Bar(
                x=titles if info.upright else before,
                y=before if info.upright else titles,
                orientation="v" if info.upright else "h",
                marker={"color": look.muted},
                opacity=0.3,
                name="before the discussion",
            )
        )
    figure.add_trace(
        go.Bar(
            x=titles if info.upright else counts,
            y=counts if info.upright else titles,
            orientation="v" if info.upright else "h",
            marker={
                "color": [look.primary if one.right else look.muted for one in info.bins],
                "opacity": 0.85,
            },
            customdata=[[units.count(one.count, "vote"), _word(one)] for one in info.bins],
            hovertemplate="%{customdata[0]}%{customdata[1]}<extra></extra>",
            showlegend=False,
        )
    )
    for title, one in zip(titles, info.bins, strict=True):
        place = (
            {"x": title, "y": one.count, "yanchor": "bottom"}
            if info.upright
            else {"x": one.count, "y": title, "xanchor": "left", "xshift": 4}
        )
        said = f"{one.count}{_word(one, '<br>' if info.upright else ' · ')}"
        axes.write(figure, said, look.text, size=size, **place)
    long = {"range": [0, 1.3 * max(*counts, *before, 3)], "showticklabels": False}
    short = {"tickfont": {"size": size, "color": look.text}, "showgrid": False, "type": "category"}
    figure.update_xaxes(short if info.upright else long)
    figure.update_yaxes(long if info.upright else {**short, "autorange": "reversed"})
    row = ROW_LARGE if large else ROW
    height = UPRIGHT + (90 if large else 0) if info.upright else 30 + row * len(titles)
    legend = {"orientation": "h", "y": 1, "yanchor": "bottom", "font": {"size": size}}
    margin = {"t": 36 if any(before) else 8, "b": 8, "r": 8}
    figure.update_layout(height=height, bargap=0.3, bargroupgap=0.05, margin=margin)
    figure.update_layout(showlegend=any(before), legend=legend)
    return figure


def _word(one: Bin, before: str = " · ") -> str:
    """What is to be said of a bar beside its number."""
    words = [*(["right"] if one.right else []), *(["yours"] if one.mine else [])]
    return "".join(f"{before}{word}" for word in words)


def _wrapped(text: str) -> str:
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + len(word) >= WRAP:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "<br>".join(lines)


def alt_text(info: VoteBarsInfo) -> str:
    told = ", ".join(
        f"{one.title}: {one.count}{_word(one, ', ')}"
        + (f", {one.before} before" if one.before else "")
        for one in info.bins
    )
    return f"{units.count(info.total, 'vote')}. {told}."
