"""The three panels of a replayed run: a map of its features, accuracies so far, accuracy of each
class.

Each panel has traces that stay and traces that move; those that move give their content at a frame,
so that a player can swap it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import classes
from dashboard.frames.replay import SETS, Replay

TITLES = ("", "Accuracy, %", "Accuracy of classes, %")
_ROOM = 0.04  # around the points of the map
_LETTERS = 14  # of the name of a class


@dataclass(frozen=True, eq=False)
class Moving:
    """A trace of panel `column` (1 to 3) as it is at first; `at` gives what changes at a frame and
    how many percent of the steps are done.
    """

    column: int
    trace: go.Scatter | go.Bar
    at: Callable[[int, float], dict[str, Any]] | None = None


def set_color(name: str, dark: bool) -> str:
    """The colour of a set: orange is to forget, on every figure."""
    families = {"forget": "gradient_ascent", "retain": "influence"}
    return (
        theme.family_style(families[name]).color(dark)
        if name in families
        else theme.ground(dark).text
    )


def traces(replay: Replay, *, dark: bool, legend: bool) -> list[Moving]:
    """All traces of a run, from left to right; `legend`: whether they are named in it."""
    return [
        *_map(replay, dark=dark),
        *_lines(replay, dark=dark, legend=legend),
        *_classes(replay, dark=dark),
    ]


def window(replay: Replay) -> tuple[list[float], list[float]]:
    """The ranges of a map that hold every frame."""
    points = np.asarray(replay.value["map/points"], float).reshape(-1, 2)
    low, high = points.min(axis=0), points.max(axis=0)
    room = _ROOM * np.maximum(high - low, 1e-6)
    (left, bottom), (right, top) = (low - room).tolist(), (high + room).tolist()
    return [left, right], [bottom, top]


def _map(replay: Replay, *, dark: bool) -> list[Moving]:
    """What stays below what is to be forgotten."""
    points = np.asarray(replay.value["map/points"], float).round(2)
    forgotten = np.asarray(replay.value["map/forgotten"], bool)
    labels = np.asarray(replay.value["map/labels"], int)
    muted = [classes.color(int(label), dark) for label in labels[~forgotten]]
    return [
        _points(replay, points, ~forgotten, muted, 5),
        _points(replay, points, forgotten, set_color("forget", dark), 6),
    ]


def _points(
    replay: Replay, points: np.ndarray, chosen: np.ndarray, color: str | list[str], size: int
) -> Moving:
    """The points (f, m, 2) of the `chosen` samples (m,)."""
    labels, ids = replay.value["map/labels"][chosen], replay.value["map/ids"][chosen]
    trace = go.Scatter(
        mode="markers",
        marker={"size": size, "color": color, "opacity": 0.9, "line": {"width": 0}},
        customdata=[
            [replay.name(int(label)), int(each)] for label, each in zip(labels, ids, strict=True)
        ],
        hovertemplate="%{customdata[0]}<br>sample %{customdata[1]}<extra></extra>",
        showlegend=False,
    )

    def at(frame: int, done: float) -> dict[str, Any]:
        x, y = points[frame, chosen].T.tolist()
        return {"x": x, "y": y}

    return Moving(1, trace, at)


def _lines(replay: Replay, *, dark: bool, legend: bool) -> list[Moving]:
    look, made = theme.ground(dark), []
    places = replay.progress
    for name, title in SETS.items():
        color, values = set_color(name, dark), replay.accuracy[name].round(2)
        line = go.Scatter(
            x=places.round(3).tolist(),
            y=values.tolist(),
            name=title,
            mode="lines",
            line={"color": color, "width": 2, "shape": "linear" if replay.between else "hv"},
            legendgroup=name,
            showlegend=legend,
            hovertemplate=f"{title}: %{{y:.1f}} %<extra></extra>",
        )
        made.append(Moving(2, line))
        if name in replay.levels:
            level = go.Scatter(
                x=[0, 100],
                y=[replay.levels[name]] * 2,
                mode="lines",
                line={"color": color, "width": 1.2, "dash": "dash"},
                hovertemplate=f"Retrain, {title.lower()}: %{{y:.1f}} %<extra></extra>",
                showlegend=False,
            )
            made.append(Moving(2, level))
    if legend and replay.levels:
        named = go.Scatter(
            x=[None],
            y=[None],
            mode="lines",
            name="Retrain",
            line={"color": look.muted, "width": 1.2, "dash": "dash"},
        )
        made.append(Moving(2, named))
    cursor = go.Scatter(
        mode="lines", line={"color": look.primary, "width": 1.5}, hoverinfo="skip", showlegend=False
    )
    dots = go.Scatter(
        mode="markers",
        marker={
            "size": 8,
            "color": [set_color(name, dark) for name in SETS],
            "line": {"width": 1, "color": look.background},
        },
        hoverinfo="skip",
        showlegend=False,
    )

    def line_at(frame: int, done: float) -> dict[str, Any]:
        return {"x": [done, done], "y": [0, 103]}

    def dots_at(frame: int, done: float) -> dict[str, Any]:
        return {
            "x": [float(places[frame])] * len(SETS),
            "y": [float(replay.accuracy[name][frame]) for name in SETS],
        }

    return [*made, Moving(2, cursor, line_at), Moving(2, dots, dots_at)]


def _classes(replay: Replay, *, dark: bool) -> list[Moving]:
    look = theme.ground(dark)
    shown = replay.shown_classes()
    names = [
        f"<b>{name}</b>" if label in replay.gone else name
        for label in shown
        for name in (classes.short(replay.name(label), _LETTERS),)
    ]
    colors = [
        set_color("forget", dark) if label in replay.gone else look.primary for label in shown
    ]
    bars = go.Bar(
        y=names,
        orientation="h",
        marker={"color": colors, "opacity": 0.75},
        hovertemplate="%{y}: %{x:.1f} %<extra></extra>",
        showlegend=False,
    )
    known = [
        float(replay.level_classes[label]) if np.isfinite(replay.level_classes[label]) else None
        for label in shown
    ]
    levels = go.Scatter(
        y=names,
        mode="markers",
        marker={"symbol": "line-ns", "size": 12, "line": {"width": 2, "color": look.text}},
        hovertemplate="Retrain, %{y}: %{x:.1f} %<extra></extra>",
        showlegend=False,
    )

    def at(frame: int, done: float) -> dict[str, Any]:
        return {"x": replay.class_accuracy[frame, shown].round(2).tolist()}

    # the marks stay where they are, but plotly takes away marks that are in no frame where bars of
    # the same panel are
    return [Moving(3, bars, at), Moving(3, levels, lambda frame, done: {"x": known})]
