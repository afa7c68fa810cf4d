"""One or two replayed runs on one slider: the browser goes through the frames by itself, and
nothing plays before it is asked to.

A row a run; two runs that begin at the same network share one map, as high as both rows. Only what
moves is in a frame, without a redraw of the axes, so that hundreds of points glide from one frame
to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, replay_panels, subplots
from dashboard.frames.replay import Clock, Replay, SharedMap, Tick, shared_map, ticks

WHOLE_MS = 7000  # to play everything
LONGEST_MS = 700  # for one frame
AXES = {"own": "Share of its steps, %", "seconds": "Seconds of unlearning, about"}
_PANEL, _ALONE, _GAP = 225, 320, 62  # pixels: a row of two, the only row, between rows
# pixels: titles of panels, legend and what plays above them, axes below
_TITLE, _LEGEND, _CONTROLS, _BOTTOM = 24, 26, 72, 64
_TOP = _TITLE + _LEGEND + _CONTROLS


@dataclass(frozen=True, eq=False)
class ReplayPlayerInfo:
    """Up to two replays, the moments of the slider, the clock that these are on, and the map that
    two share, if they can.
    """

    replays: tuple[Replay, ...]
    ticks: tuple[Tick, ...]
    clock: Clock
    shared: SharedMap | None = None

    @property
    def end(self) -> float:
        return self.ticks[-1].at if self.ticks else 0.0


def replay_player_info(replays: Sequence[Replay], clock: Clock) -> ReplayPlayerInfo:
    return ReplayPlayerInfo(tuple(replays), ticks(replays, clock), clock, shared_map(replays))


def draw(info: ReplayPlayerInfo, *, dark: bool) -> go.Figure:
    """The figure at its first moment, with a slider, a button that plays and one that stops."""
    figure, moving = _base(info, dark=dark)
    places = [place for place, _, _ in moving]
    figure.frames = [
        go.Frame(name=str(number), data=_changes(info, moving, tick), traces=places)
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
        f"classes, probabilities. {'. '.join(ends)}."
    )


# number of a trace that moves, number of its replay, and what it is
Slot = tuple[int, int, replay_panels.Moving]


def _base(info: ReplayPlayerInfo, *, dark: bool) -> tuple[go.Figure, list[Slot]]:
    rows = len(info.replays)
    panel = _ALONE if rows == 1 else _PANEL
    inner = rows * panel + (rows - 1) * _GAP
    columns = len(replay_panels.TITLES)
    specs: list[list[dict[str, int] | None]] = [[{} for _ in range(columns)] for _ in range(rows)]
    if info.shared is not None:
        specs[0][0], specs[1][0] = {"rowspan": 2}, None
    spacing = _GAP / inner if rows > 1 else 0.0
    figure = subplots.figure(
        rows=rows, cols=columns, specs=specs, vertical_spacing=spacing, dark=dark
    )
    moving: list[Slot] = []
    for number, replay in enumerate(info.replays):
        points = None if info.shared is None else info.shared.points[number]
        hollow = info.shared is not None and number == 1
        for each in replay_panels.traces(
            replay,
            info.clock,
            end=info.end,
            dark=dark,
            legend=number == 0,
            points=points,
            hollow=hollow,
        ):
            if each.at is not None:
                moving.append((len(figure.data), number, each))
            row = 1 if each.column == 1 and info.shared is not None else number + 1
            figure.add_trace(each.trace, row=row, col=each.column)
        _axes(figure, info, replay, number + 1, dark=dark)
    legend = {
        "orientation": "h",
        "yref": "paper",
        "y": 1 + _TITLE / inner,
        "yanchor": "bottom",
        "x": 0,
    }
    figure.update_layout(
        height=_TOP + inner + _BOTTOM,
        margin={"l": 8, "r": 8, "t": _TOP, "b": _BOTTOM},
        legend=legend,
        bargap=0.25,
    )
    return figure, moving


def _axes(
    figure: go.Figure, info: ReplayPlayerInfo, replay: Replay, row: int, *, dark: bool
) -> None:
    last, shared = row == len(info.replays), info.shared
    named = max(len(replay.name(label)) for each in info.replays for label in each.shown_classes())
    titles = [f"<b>{replay.title}</b>", *(replay_panels.TITLES[1:] if row == 1 else ())]
    if shared is not None:
        titles[0] = (
            "   ".join(
                f"<b>{mark} {each.title}</b>" for mark, each in zip("●○", info.replays, strict=True)
            )
            if row == 1
            else ""
        )
        titles[1:2] = [
            f"<b>{replay.title}</b>{f': {replay_panels.TITLES[1].lower()}' if row == 1 else ''}"
        ]
    columns = range(1 if shared is None or row == 1 else 2, len(replay_panels.TITLES) + 1)
    across = replay_panels.domains(named, wide=shared is not None)
    for column in columns:
        figure.update_xaxes(domain=across[column - 1], row=row, col=column)
    for column, title in enumerate(titles, start=1):
        if column in columns:
            place = {
                "y": 1,
                "xref": "x domain",
                "yref": "y domain",
                "yanchor": "bottom",
                "yshift": 3,
            }
            place = place | (
                {"x": 0.5} if column < 3 else {"x": 1, "xanchor": "right"}
            )  # these are wider than their panels, with room at the left
            axes.write(
                figure, title, theme.ground(dark).text, size=13, row=row, col=column, **place
            )
    if 1 in columns:
        points = (
            replay_panels.own_points(replay) if shared is None else np.concatenate(shared.points)
        )
        for update, range_ in zip(
            (figure.update_xaxes, figure.update_yaxes), replay_panels.window(points), strict=True
        ):
            update(
                range=range_, showticklabels=False, showgrid=False, zeroline=False, row=row, col=1
            )
        frame = {"x0": 0, "x1": 1, "y0": 0, "y1": 1, "xref": "x domain", "yref": "y domain"}
        figure.add_shape(
            type="rect",
            line={"color": theme.ground(dark).grid, "width": 1},
            layer="below",
            row=row,
            col=1,
            **frame,
        )
    room = 0.02 * max(info.end, 1e-9)
    across_title = (
        AXES[info.clock]
        if any(each.between for each in info.replays)
        else "Before and after, nothing between"
    )
    figure.update_xaxes(
        range=[-room, info.end + room],
        title=across_title if last else None,
        zeroline=False,
        row=row,
        col=2,
    )
    figure.update_yaxes(range=[0, 103], zeroline=False, row=row, col=2)
    figure.update_xaxes(range=[0, 103], title="Test accuracy, %" if last else None, row=row, col=3)
    figure.update_yaxes(
        type="category", autorange="reversed", showgrid=False, tickfont={"size": 11}, row=row, col=3
    )
    figure.update_xaxes(
        range=[0, 1],
        title="Probability of<br>the true class" if last else None,
        zeroline=False,
        row=row,
        col=4,
    )
    figure.update_yaxes(range=[0, 103], zeroline=False, row=row, col=4)


def _changes(info: ReplayPlayerInfo, moving: Sequence[Slot], tick: Tick) -> list[dict[str, Any]]:
    """What each moving trace holds at a moment."""
    found = []
    for _, number, each in moving:
        assert each.at is not None
        found.append({"type": each.trace.type, **each.at(tick.frames[number], tick.at)})
    return found


def _fill(figure: go.Figure, info: ReplayPlayerInfo, moving: Sequence[Slot], tick: Tick) -> None:
    for (place, _, _), change in zip(moving, _changes(info, moving, tick), strict=True):
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
    halt = {
        "frame": {"duration": 0, "redraw": False},
        "transition": {"duration": 0},
        "mode": "immediate",
    }
    jump = {
        "frame": {"duration": 0, "redraw": False},
        "transition": {"duration": 200, "easing": "cubic-out"},
        "mode": "immediate",
    }
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
