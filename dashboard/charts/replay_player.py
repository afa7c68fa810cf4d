"""One or two replayed runs on one slider: the browser goes through the frames by itself, and
nothing plays before it is asked to.

A row a run. Only what moves is in a frame, without a redraw of the axes, so that hundreds of points
glide from one frame to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, replay_panels, subplots
from dashboard.frames.replay import Replay, Tick, ticks

WHOLE_MS = 7000  # to play everything
LONGEST_MS = 700  # for one frame
_PANEL, _ALONE, _GAP = 225, 320, 62  # pixels: a row of two, the only row, between rows
# pixels: titles of panels, legend and what plays above them, axes below
_TITLE, _LEGEND, _CONTROLS, _BOTTOM = 24, 26, 72, 64
_TOP = _TITLE + _LEGEND + _CONTROLS
_AT_ONCE = {"frame": {"duration": 0, "redraw": False}, "mode": "immediate"}


@dataclass(frozen=True, eq=False)
class ReplayPlayerInfo:
    """Up to two replays, and the moments of the slider."""

    replays: tuple[Replay, ...]
    ticks: tuple[Tick, ...]


def replay_player_info(replays: Sequence[Replay]) -> ReplayPlayerInfo:
    return ReplayPlayerInfo(tuple(replays), ticks(replays))


def draw(info: ReplayPlayerInfo, *, dark: bool) -> go.Figure:
    """The figure at its first moment, with a slider, a button that plays and one that stops."""
    figure, moving = _base(info, dark=dark)
    places = [place for place, _, _ in moving]
    figure.frames = [
        go.Frame(name=str(number), data=_changes(moving, tick), traces=places)
        for number, tick in enumerate(info.ticks)
    ]
    _fill(figure, info, moving, info.ticks[0])
    _controls(figure, info, dark=dark)
    return figure


def still(info: ReplayPlayerInfo, *, dark: bool) -> go.Figure:
    """The figure at its last moment, without anything to press: for files."""
    figure, moving = _base(info, dark=dark)
    _fill(figure, info, moving, info.ticks[-1])
    return figure


def alt_text(info: ReplayPlayerInfo) -> str:
    names = " and ".join(replay.title for replay in info.replays)
    ends = []
    for replay in info.replays:
        forget, test = (
            f"{replay.accuracy[name][0]:.0f} % to {replay.accuracy[name][-1]:.0f} %"
            for name in ("forget", "test")
        )
        ends.append(f"{replay.title}: forget accuracy from {forget}, test accuracy from {test}")
    return (
        f"Replay of {names}, {len(info.ticks)} moments on a slider: map of features, accuracies, "
        f"classes. {'. '.join(ends)}."
    )


# number of a trace that moves, number of its replay, and what it is
Slot = tuple[int, int, replay_panels.Moving]


def _base(info: ReplayPlayerInfo, *, dark: bool) -> tuple[go.Figure, list[Slot]]:
    """The figure with all that stays, and what moves in it."""
    rows = len(info.replays)
    inner = _ALONE if rows == 1 else rows * _PANEL + (rows - 1) * _GAP
    figure = subplots.figure(
        rows=rows,
        cols=3,
        column_widths=[0.36, 0.34, 0.3],
        horizontal_spacing=0.09,
        vertical_spacing=_GAP / inner if rows > 1 else 0.0,
        dark=dark,
    )
    moving: list[Slot] = []
    for number, replay in enumerate(info.replays):
        for each in replay_panels.traces(replay, dark=dark, legend=number == 0):
            if each.at is not None:
                moving.append((len(figure.data), number, each))
            figure.add_trace(each.trace, row=number + 1, col=each.column)
        _axes(figure, replay, number + 1, last=number + 1 == rows, dark=dark)
    figure.update_layout(
        height=_TOP + inner + _BOTTOM,
        margin={"l": 8, "r": 8, "t": _TOP, "b": _BOTTOM},
        legend={"orientation": "h", "yref": "paper", **axes.above(1 + _TITLE / inner)},
        bargap=0.25,
    )
    return figure, moving


def _axes(figure: go.Figure, replay: Replay, row: int, *, last: bool, dark: bool) -> None:
    """Ranges and titles of a run's panels; the axes are named below the `last` run."""
    look = theme.ground(dark)
    titles = (f"<b>{replay.title}</b>", *(replay_panels.TITLES[1:] if row == 1 else ()))
    place = {"x": 0.5, "y": 1, "xref": "x domain", "yref": "y domain", "yanchor": "bottom"}
    for column, title in enumerate(titles, start=1):
        axes.write(figure, title, look.text, size=13, row=row, col=column, yshift=3, **place)
    across, up = replay_panels.window(replay)
    bare: dict[str, Any] = {"showticklabels": False, "showgrid": False, "zeroline": False}
    framed = {"showline": True, "mirror": True, "linecolor": look.grid}
    figure.update_xaxes(range=across, row=row, col=1, **bare, **framed)
    figure.update_yaxes(range=up, row=row, col=1, **bare, **framed)
    steps = "Share of its steps, %" if replay.between else "Before and after, nothing between"
    for column, span, title in ((2, [-2, 102], steps), (3, [0, 103], "Test accuracy, %")):
        figure.update_xaxes(
            range=span, title=title if last else None, zeroline=False, row=row, col=column
        )
    figure.update_yaxes(range=[0, 103], zeroline=False, row=row, col=2)
    bars: dict[str, Any] = {"type": "category", "autorange": "reversed", "showgrid": False}
    figure.update_yaxes(tickfont={"size": 11}, row=row, col=3, **bars)


def _changes(moving: Sequence[Slot], tick: Tick) -> list[dict[str, Any]]:
    """What each moving trace holds at a moment."""
    found = []
    for _, number, each in moving:
        assert each.at is not None
        found.append({"type": each.trace.type, **each.at(tick.frames[number], tick.at)})
    return found


def _fill(figure: go.Figure, info: ReplayPlayerInfo, moving: Sequence[Slot], tick: Tick) -> None:
    for (place, _, _), change in zip(moving, _changes(moving, tick), strict=True):
        figure.data[place].update(change)


def _controls(figure: go.Figure, info: ReplayPlayerInfo, *, dark: bool) -> None:
    look = theme.ground(dark)
    pace = min(LONGEST_MS, WHOLE_MS // max(len(info.ticks), 1))
    play = {
        "frame": {"duration": pace, "redraw": False},
        "transition": {"duration": pace, "easing": "linear"},
        "fromcurrent": True,
        "mode": "immediate",
    }
    halt = {**_AT_ONCE, "transition": {"duration": 0}}
    jump = {**_AT_ONCE, "transition": {"duration": 200, "easing": "cubic-out"}}
    above = {"y": 1, "yanchor": "bottom"}
    buttons = [
        {"label": "▶ Play", "method": "animate", "args": [None, play]},
        {"label": "❚❚ Pause", "method": "animate", "args": [[None], halt]},
    ]
    menu = {
        "type": "buttons",
        "direction": "left",
        "showactive": False,
        "x": 0,
        "xanchor": "left",
        "pad": {"b": _TITLE + _LEGEND + 14, "r": 8},
        "bgcolor": look.panel,
        "bordercolor": look.muted,
        "font": {"color": look.text, "size": 13},
        "buttons": buttons,
    }
    slider = {
        "active": 0,
        "x": 0.26,
        "len": 0.74,
        "pad": {"b": _TITLE + _LEGEND, "l": 4, "r": 4},
        "currentvalue": {
            "prefix": "",
            "xanchor": "left",
            "font": {"color": look.text, "size": 14},
            "offset": 10,
        },
        "bgcolor": look.primary,
        "activebgcolor": look.text,
        "bordercolor": look.muted,
        "tickcolor": look.muted,
        "font": {"color": look.muted, "size": 11},
        "steps": [
            {"label": tick.label, "method": "animate", "args": [[str(number)], jump]}
            for number, tick in enumerate(info.ticks)
        ],
    }
    figure.update_layout(updatemenus=[menu | above], sliders=[slider | above])
