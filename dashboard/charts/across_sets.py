"""One method followed over forget sets: agreement of logits above, of representations below, the
paper's sets as ghosts on the right (Are We Truly Forgetting?, Figure 7).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, intervals, references, scatter, subplots
from dashboard.frames.representation import Line, Paper, Point, similarity

MOST = 8  # lines that can be told apart
# marks of a second, third and fourth method of one family, whose colour they share
_NEXT = ("x", "star-square", "hourglass")
_FEW = 8  # forget sets whose names have room beside each other
_WIDTH = 0.5  # of the room of a forget set: what its marks are spread over
Measure = Literal["agl", "agr"]
TITLES: Mapping[Measure, str] = {"agl": "AGL", "agr": "AGR"}


@dataclass(frozen=True)
class AcrossSetsInfo:
    """`lines` over the titles `sets`; `ghosts` are the paper's points of the same methods by title
    of the line, over `printed`.
    """

    sets: tuple[str, ...]
    lines: tuple[Line, ...]
    printed: tuple[str, ...]
    ghosts: Mapping[str, Mapping[str, Point]]
    printed_as: str  # what stands over the paper's sets

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What any line has a value of."""
        points = [point for line in self.lines for point in line.points.values()]
        has: dict[Measure, bool] = {
            "agl": any(one.agl is not None for one in points),
            "agr": any(one.agr is not None for one in points),
        }
        return tuple(name for name, there in has.items() if there)


def across_sets_info(
    sets: Sequence[str],
    lines: Sequence[Line],
    paper: Mapping[str, Sequence[Paper]] | None = None,
    *,
    printed_as: str = "the paper",
) -> AcrossSetsInfo:
    """`paper`: what it prints, by the title of its set. A method with several settings has the
    paper's points once, with its first line.
    """
    ghosts: dict[str, dict[str, Point]] = {}
    firsts = {line.method: line.title for line in reversed(lines)}
    for title, values in (paper or {}).items():
        for one in values:
            if one.method in firsts and (one.agl is not None or one.agr is not None):
                ghosts.setdefault(firsts[one.method], {})[title] = Point(
                    key="", agl=one.agl, agr=one.agr
                )
    return AcrossSetsInfo(
        tuple(sets), tuple(lines), tuple(paper or ()) if ghosts else (), ghosts, printed_as
    )


def draw(info: AcrossSetsInfo, *, dark: bool, selected: str = "") -> go.Figure:
    """`selected` is the key of the run whose mark is ringed."""
    look = theme.ground(dark)
    measures = info.measures
    figure = subplots.figure(
        rows=len(measures), shared_xaxes=True, vertical_spacing=0.06, dark=dark
    )
    symbols = _symbols(info.lines)
    for row, measure in enumerate(measures, start=1):
        for number, line in enumerate(info.lines):
            offset = _WIDTH * ((number + 0.5) / len(info.lines) - 0.5)
            own = [
                (place + offset, title, line.points[title])
                for place, title in enumerate(info.sets)
                if title in line.points
            ]
            figure.add_trace(
                _line(
                    line,
                    symbols[line.id],
                    own,
                    measure,
                    dark,
                    ghost=False,
                    legend=row == 1,
                    selected=selected,
                ),
                row,
                1,
            )
            printed = info.ghosts.get(line.title, {})
            theirs = [
                (place + offset, title, printed[title])
                for place, title in enumerate(info.printed, len(info.sets))
                if title in printed
            ]
            if theirs:
                figure.add_trace(
                    _line(
                        line,
                        symbols[line.id],
                        theirs,
                        measure,
                        dark,
                        ghost=True,
                        legend=False,
                        selected="",
                    ),
                    row,
                    1,
                )
        figure.update_yaxes(
            title=f"{TITLES[measure]}: 1 is Retrain",
            range=(-0.03, 1.06),
            zeroline=False,
            row=row,
            col=1,
        )
        figure.add_hline(y=1, line=references.line("Retrain", look, 1.2), row=row, col=1)
        figure.update_xaxes(showticklabels=row == len(measures), row=row, col=1)
    names = [
        _broken(name, tight=len(info.sets) + len(info.printed) > _FEW)
        for name in (*info.sets, *info.printed)
    ]
    figure.update_xaxes(
        tickvals=list(range(len(names))),
        ticktext=names,
        tickangle=0,
        range=(-0.6, len(names) - 0.4),
        showgrid=False,
        zeroline=False,
        tickfont={"color": look.text, "size": 12},
    )
    if info.printed:
        figure.add_vline(x=len(info.sets) - 0.5, line={"width": 1, "color": look.muted})
        axes.write(
            figure,
            info.printed_as,
            look.muted,
            x=len(info.sets) - 0.45,
            y=1,
            yref="paper",
            yanchor="bottom",
            xanchor="left",
        )
    below = 60 + 16 * max(name.count("<br>") + 1 for name in names)
    legend = {
        "orientation": "h",
        "yref": "container",
        "y": 0,
        "yanchor": "bottom",
        "x": 0,
        "itemsizing": "constant",
    }
    figure.update_layout(
        height=26 + below + 230 * len(measures),
        margin={"t": 26, "b": below},
        legend=legend,
        showlegend=True,
    )
    return figure


def alt_text(info: AcrossSetsInfo) -> str:
    if not info.lines:
        return "Agreement with Retrain over forget sets; no method has been measured yet."
    measure = info.measures[-1]
    found = [
        (value, line.title, title)
        for line in info.lines
        for title, point in line.points.items()
        if (value := _value(point, measure)) is not None
    ]
    low, high = min(found), max(found)
    what = " and ".join(TITLES[name] for name in info.measures)
    return (
        f"{what} of {len(info.lines)} methods over {len(info.sets)} forget sets. "
        f"{TITLES[measure]} runs from {similarity(low[0])} ({low[1]}, {low[2]}) to "
        f"{similarity(high[0])} ({high[1]}, {high[2]})."
    )


def _line(
    line: Line,
    symbol: str,
    places: Sequence[tuple[float, str, Point]],
    measure: Measure,
    dark: bool,
    *,
    ghost: bool,
    legend: bool,
    selected: str,
) -> go.Scatter:
    style, look = theme.family_style(line.family), theme.ground(dark)
    color = style.color(dark)
    places = [each for each in places if _value(each[2], measure) is not None]
    halves = [point.agl_half if measure == "agl" else point.agr_half for _, _, point in places]
    return go.Scatter(
        x=[x for x, _, _ in places],
        y=[_value(point, measure) for _, _, point in places],
        name=line.title,
        legendgroup=line.id,
        showlegend=legend,
        mode="lines+markers",
        customdata=[
            [
                point.key,
                title,
                intervals.said(_value(point, measure) or 0.0, half, digits=3),
                scatter.verdict_line(point.said),
            ]
            for (_, title, point), half in zip(places, halves, strict=True)
        ],
        line={"color": color, "width": 1, "dash": "dot" if ghost else "solid"},
        marker={
            "symbol": f"{symbol}-open" if ghost else symbol,
            "size": 9
            if ghost
            else [14 if selected and point.key == selected else 10 for _, _, point in places],
            "color": color,
            "opacity": 1,
            "line": {
                "width": 1.5
                if ghost
                else [2 if selected and point.key == selected else 0 for _, _, point in places],
                "color": color if ghost else look.text,
            },
        },
        error_y=intervals.bars(halves, color),
        hovertemplate=f"<b>{line.title}{' in the paper' if ghost else ''}</b><br>"
        f"%{{customdata[1]}}<br>{TITLES[measure]} "
        "%{customdata[2]}%{customdata[3]}<extra></extra>",
    )


def _value(point: Point, measure: Measure) -> float | None:
    return point.agl if measure == "agl" else point.agr


def _symbols(lines: Sequence[Line]) -> dict[str, str]:
    """A mark for each line's id: that of its family, and others for further methods of the same
    family.
    """
    found: dict[str, str] = {}
    for line in lines:
        before = sum(other.family == line.family for other in lines if other.id in found)
        found[line.id] = (theme.family_style(line.family).symbol, *_NEXT)[before % (1 + len(_NEXT))]
    return found


def _broken(name: str, *, tight: bool) -> str:
    """A name on two lines where it has a place to break; where names are `tight`, a word a line."""
    if tight:
        return name.replace(" ", "<br>")
    return (
        name.replace(" near ", "<br>near ").replace(" at ", "<br>at ").replace("Near ", "Near<br>")
    )
