"""A search, setting by setting: what each scored, and the best so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, references
from dashboard.frames.method import CAME, Came, Found

MARGIN: Final = 1.0  # of the verdict (mucore/tuning/objective.py)
LEAST: Final = 0.05  # a score of 0 has no place on a logarithmic axis
TICKS: Final = (0.05, 0.1, 0.3, 1, 3, 10, 30, 100, 200)
MARKS: Mapping[Came, str] = {"judged": "circle", "fewer": "circle-open", "out": "x-thin-open"}


@dataclass(frozen=True)
class SearchProgressInfo:
    """Of each setting its score (of at least `LEAST`, for the axis is logarithmic), what came of
    it, and its text; `falling` is the best so far.
    """

    scores: tuple[float, ...]
    came: tuple[Came, ...]
    settings: tuple[str, ...]
    falling: tuple[float | None, ...]
    original: float | None


def search_progress_info(one: Found) -> SearchProgressInfo:
    return SearchProgressInfo(
        scores=tuple(max(each.score, LEAST) for each in one.tried),
        came=tuple(each.came for each in one.tried),
        settings=tuple(each.setting for each in one.tried),
        falling=tuple(None if best is None else max(best, LEAST) for best in one.falling),
        original=one.original,
    )


def draw(info: SearchProgressInfo, *, dark: bool, height: int = 340) -> go.Figure:
    look = theme.ground(dark)
    figure = axes.figure(dark=dark)
    numbers = range(1, len(info.scores) + 1)
    figure.add_trace(
        go.Scatter(
            x=list(numbers),
            y=info.falling,
            mode="lines",
            line={"shape": "hv", "width": 2, "color": look.primary},
            name="best so far",
            hoverinfo="skip",
        )
    )
    for came, title in CAME.items():
        mine = [at for at, each in enumerate(info.came) if each == came]
        if mine:
            figure.add_trace(_marks(info, mine, title, came, look))
    ends = [0.5, len(info.scores) + 0.5]
    for value, name, dash in (
        (MARGIN, "Margin of the verdict", "solid"),
        (info.original, "Original", references.DASHES["Original"]),
    ):
        if value is not None:
            line = {"dash": dash, "width": 1.2, "color": look.text}
            figure.add_trace(
                go.Scatter(
                    x=ends, y=[value] * 2, mode="lines", line=line, name=name, hoverinfo="skip"
                )
            )
    figure.update_xaxes(title="Setting", tickformat="d", range=[0, len(info.scores) + 1])
    figure.update_yaxes(
        title="Share of the verdict's margin (log axis)",
        type="log",
        tickvals=TICKS,
        ticktext=[f"{value:g}" for value in TICKS],
    )
    figure.update_layout(height=height, margin={"t": 24}, legend=axes.below(-0.22))
    return figure


def _marks(
    info: SearchProgressInfo, mine: list[int], title: str, came: Came, look: theme.Ground
) -> go.Scatter:
    marker: dict[str, Any] = {"symbol": MARKS[came], "size": 9, "color": look.primary}
    if came != "judged":
        marker["line"] = {"width": 1.6, "color": look.text}
    return go.Scatter(
        x=[at + 1 for at in mine],
        y=[info.scores[at] for at in mine],
        mode="markers",
        marker=marker,
        name=title,
        customdata=[info.settings[at] for at in mine],
        hovertemplate="setting %{x}: %{y:.3g}<br>%{customdata}<extra></extra>",
    )


def alt_text(info: SearchProgressInfo) -> str:
    best = next((each for each in reversed(info.falling) if each is not None), None)
    end = "no setting may be chosen" if best is None else f"the best has {best:.3g}"
    return (
        f"{len(info.scores)} settings of a search, by the share of the verdict's margin that they "
        f"use up; {end}."
    )
