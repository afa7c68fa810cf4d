"""Trade-offs of all methods through every goal at once: one upright axis a goal, one line a method.

Methods that nothing beats in all goals together have colour and a name; the others are grey until
hovered.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, families, noise, references
from dashboard.charts.parts.noise import Span
from dashboard.frames.tradeoffs import Contest, Measure, Scored

NAMED = 8  # more names than this cover each other
WIDE = 0.06  # of the way to the next axis: how far the grey of Retrain reaches on either side


@dataclass(frozen=True)
class Line:
    """One method through all goals: its scores, and where they lie between best (0) and worst (1)
    of each goal.
    """

    key: str
    title: str
    family: str
    scores: tuple[float, ...]
    heights: tuple[float, ...]
    front: bool
    place: str = ""


@dataclass(frozen=True)
class GoalLinesInfo:
    """All methods through all goals. `ends` are the scores at the bottom and the top of each axis,
    `noise` the heights between which Retrains of other seeds stand, None where that says nothing.
    """

    goals: tuple[Measure, ...]
    lines: tuple[Line, ...]
    references: tuple[Line, ...]
    ends: tuple[tuple[float, float], ...]
    noise: tuple[Span | None, ...] = ()

    def named(self, selected: str = "") -> list[Line]:
        """The lines in colour: the selected run's and those of the front, the lowest ones where
        there are more than names fit.
        """
        wanted = [line for line in self.lines if line.front or line.key == selected]
        return sorted(wanted, key=lambda line: (line.key != selected, sum(line.heights)))[:NAMED]


def goal_lines_info(found: Contest) -> GoalLinesInfo:
    """Heights run from the best possible score, or the best shown on a logarithmic axis, to the
    worst shown, references included.
    """
    everyone = [
        *found.entrants,
        *(
            row
            for row in found.references
            if all(row.scores[goal.id] is not None for goal in found.goals)
        ),
    ]
    ends = tuple(
        _ends([row.scores[goal.id] or 0.0 for row in everyone], goal) for goal in found.goals
    )
    made = [_line(row, found, ends) for row in everyone]
    count = len(found.entrants)
    bands = tuple(
        span and (_height(span[0], goal, *end), _height(span[1], goal, *end))
        for goal, end in zip(found.goals, ends, strict=True)
        for span in (found.noise(goal),)
    )
    return GoalLinesInfo(found.goals, tuple(made[:count]), tuple(made[count:]), ends, bands)


def _ends(scores: Sequence[float], goal: Measure) -> tuple[float, float]:
    if goal.log:
        known = [score for score in scores if score > 0]
        return (min(known), max(known)) if known else (0.0, 0.0)
    return min(0.0, *scores, 0.0), max(0.0, *scores, 0.0)


def _line(row: Scored, found: Contest, ends: Sequence[tuple[float, float]]) -> Line:
    scores = tuple(row.scores[goal.id] or 0.0 for goal in found.goals)
    heights = tuple(
        _height(score, goal, *end)
        for score, goal, end in zip(scores, found.goals, ends, strict=True)
    )
    return Line(
        row.key,
        row.title,
        row.line.family,
        scores,
        heights,
        found.leads(row),
        "" if row.line.reference else found.place(row),
    )


def _height(score: float, goal: Measure, low: float, high: float) -> float:
    if high <= low or (goal.log and score <= 0):
        return 0.0
    if goal.log:
        return (math.log(score) - math.log(low)) / (math.log(high) - math.log(low))
    return (score - low) / (high - low)


def draw(info: GoalLinesInfo, *, dark: bool, selected: str = "") -> go.Figure:
    """An upright axis a goal, best at the bottom; `GoalLinesInfo.named` in colour with a name at
    the right, the others grey until hovered.
    """
    look = theme.ground(dark)
    figure = axes.figure(dark=dark)
    places = list(range(len(info.goals)))
    for place, span in enumerate(info.noise):
        if span is not None:
            inside = (max(span[0], -0.05), min(span[1], 1.05))
            figure.add_shape(noise.band(look, x=(place - WIDE, place + WIDE), y=inside))
    for place in places:
        figure.add_shape(
            type="line",
            x0=place,
            x1=place,
            y0=0,
            y1=1,
            line={"width": 1, "color": look.muted},
            layer="below",
        )
    named = info.named(selected)
    for line in sorted(info.lines, key=lambda line: line in named):
        strong = line in named
        style = theme.family_style(line.family)
        color = style.color(dark) if strong else look.muted
        figure.add_trace(
            _trace(
                line,
                info,
                color,
                style.symbol,
                families.dash(line.family),
                3.0 if line.key == selected else 2.0 if strong else 1.0,
                strong,
            )
        )
    for line in info.references:
        dash = references.dash(line.title)
        figure.add_trace(_trace(line, info, look.text, "line-ew", dash, 1.2, True))
    labelled = [*named, *info.references]
    for line, height in zip(labelled, _apart([line.heights[-1] for line in labelled]), strict=True):
        color = (
            look.text if line in info.references else theme.family_style(line.family).color(dark)
        )
        axes.write(figure, line.title, color, x=places[-1], y=height, xanchor="left", xshift=10)
    for place, goal, (low, high) in zip(places, info.goals, info.ends, strict=True):
        for height, score, shift in ((0, low, -14), (1, high, 12)):
            axes.write(
                figure, goal.text(score), look.muted, size=11, x=place, y=height, yshift=shift
            )
    heads = [
        "<br>".join(
            filter(
                None, [goal.short, "gap" if goal.gap else "log" if goal.log else "", goal.unit_name]
            )
        )
        for goal in info.goals
    ]
    figure.update_xaxes(
        tickvals=places,
        ticktext=heads,
        range=[-0.25, len(places) - 0.15],
        showgrid=False,
        zeroline=False,
        side="top",
    )
    figure.update_yaxes(visible=False, range=[-0.09, 1.08])
    figure.update_layout(height=456, showlegend=False, margin={"t": 72, "r": 110})
    return figure


def _trace(
    line: Line, info: GoalLinesInfo, color: str, symbol: str, dash: str, width: float, strong: bool
) -> go.Scatter:
    said = [
        f"{goal.short}{' gap' if goal.gap else ''} {goal.text(s)} {goal.unit_name}".strip()
        for goal, s in zip(info.goals, line.scores, strict=True)
    ]
    return go.Scatter(
        x=list(range(len(info.goals))),
        y=line.heights,
        name=line.title,
        mode="lines+markers",
        customdata=[
            [line.key, line.title, "<br>".join([*said, line.place] if line.place else said)]
            for _ in info.goals
        ],
        line={"color": color, "width": width, "dash": dash},
        marker={"symbol": symbol, "size": 8 if strong else 5, "color": color},
        opacity=1 if strong else 0.55,
        hovertemplate="<b>%{customdata[1]}</b><br>%{customdata[2]}<extra></extra>",
    )


def _apart(heights: Sequence[float], gap: float = 0.06) -> list[float]:
    """Heights of names, moved so far that no two are nearer than `gap`, in the order given."""
    order = sorted(range(len(heights)), key=lambda place: heights[place])
    moved = list(heights)
    for below, above in zip(order, order[1:], strict=False):
        moved[above] = max(moved[above], moved[below] + gap)
    over = max(moved, default=0.0) - 1.04
    if over > 0:  # the stack has grown past the top: move it down from there, as far as it must be
        moved[order[-1]] -= over
        for above, below in zip(order[::-1], order[-2::-1], strict=False):
            moved[below] = min(moved[below], moved[above] - gap)
    return moved


def alt_text(info: GoalLinesInfo) -> str:
    goals = ", ".join(goal.short for goal in info.goals)
    front = [line.title for line in info.lines if line.front]
    return (
        f"One line for each of {len(info.lines)} methods through {goals}; the best score is at "
        f"the bottom. In colour, because none beats them: {', '.join(front) or 'none'}."
    )
