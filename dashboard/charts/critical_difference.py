"""Average ranks with the critical difference (Demšar, JMLR 2006): methods under one bar cannot be
told apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes
from mucore.statistics.significance import Ranking

ROW = 24  # pixels a line of the diagram
# methods up to which every rank is printed; beyond, two digits each would run into one another
PLAIN = 20


@dataclass(frozen=True)
class Ranked:
    title: str
    family: str
    rank: float
    key: str = ""  # of the run that stands for it
    forgot: int | None = None  # in how many of the scenarios; None where nobody asked


@dataclass(frozen=True)
class CriticalDifferenceInfo:
    """Methods best first; `bars` are (lowest, highest) rank of each group that the test cannot tell
    apart.
    """

    methods: tuple[Ranked, ...]
    bars: tuple[tuple[float, float], ...]
    difference: float
    blocks: int
    p: float


def critical_difference_info(
    ranking: Ranking,
    names: Mapping[str, tuple[str, str]],
    keys: Mapping[str, str] | None = None,
    forgot: Mapping[str, int] | None = None,
) -> CriticalDifferenceInfo:
    """`names`: (title, family) of each method of the ranking; `keys`: the run that stands for it;
    `forgot`: in how many scenarios.
    """
    methods = tuple(
        Ranked(*names[name], rank, (keys or {}).get(name, ""), (forgot or {}).get(name))
        for name, rank in ranking.ranks.items()
    )
    bars = tuple((ranking.ranks[group[0]], ranking.ranks[group[-1]]) for group in ranking.groups)
    return CriticalDifferenceInfo(
        methods, bars, ranking.critical_difference, ranking.blocks, ranking.p
    )


def draw(info: CriticalDifferenceInfo, *, dark: bool, selected: str = "") -> go.Figure:
    """The rank axis on top with the critical difference above it, bars below it, names in two
    columns at the sides.

    One unit of y is one line of `ROW` pixels. A method can be selected at its mark and, unseen, at
    its name; the name of `selected`, a key, is bold.
    """
    look = theme.ground(dark)
    figure = axes.figure(dark=dark)
    count = len(info.methods)
    last = max(float(count), 1 + info.difference)
    room = 0.02 * (last - 1)
    # added all at once in the end: plotly checks every trace and annotation that is there again for
    # each one that is added
    traces: list[go.Scatter] = []
    annotations: list[dict] = []

    def stroke(x: list[float], y: list[float], color: str, width: float) -> None:
        traces.append(
            go.Scatter(
                x=x,
                y=y,
                mode="lines",
                line={"color": color, "width": width},
                hoverinfo="skip",
                showlegend=False,
            )
        )

    def write(text: str, **place: Any) -> None:
        annotations.append({"text": text, "showarrow": False, **place})

    stroke([1, count], [0, 0], look.text, 1.2)
    every = 1 if count <= PLAIN else 5
    for rank in range(1, count + 1):
        stroke([rank, rank], [0, 0.22], look.text, 1.2)
        if rank % every == 0 or rank == 1:
            write(
                str(rank), x=rank, y=0.3, yanchor="bottom", font={"size": 12, "color": look.muted}
            )
    stroke([1, 1 + info.difference], [1.75, 1.75], look.primary, 3)
    for end in (1, 1 + info.difference):
        stroke([end, end], [1.6, 1.9], look.primary, 2)
    said = f"critical difference {info.difference:.2f}"
    write(
        said, x=1, y=1.95, xanchor="left", yanchor="bottom", font={"size": 12, "color": look.text}
    )
    for level, (low, high) in enumerate(info.bars):
        stroke([low - room / 2, high + room / 2], [-0.45 * (level + 1)] * 2, look.text, 5)
    start = -0.45 * len(info.bars) - 0.9
    left = (count + 1) // 2
    ends: list[tuple[float, float]] = []  # where each method's line meets its name
    for place, method in enumerate(info.methods):
        on_left = place < left
        depth = start - (place if on_left else count - 1 - place)
        color = theme.family_style(method.family).color(dark)
        edge = 1 - room if on_left else last + room
        ends.append((edge, depth))
        stroke([method.rank, method.rank, edge], [0, depth, depth], color, 1.2)
        said = (
            f"{method.title}  {method.rank:.1f}"
            if on_left
            else f"{method.rank:.1f}  {method.title}"
        )
        write(
            f"<b>{said}</b>" if selected and method.key == selected else said,
            x=edge,
            y=depth,
            xanchor="right" if on_left else "left",
            xshift=-6 if on_left else 6,
            font={"size": 13, "color": look.text},
        )
    told = {
        "mode": "markers",
        "customdata": [
            [method.key, method.title, method.rank, _forgot(method, info.blocks)]
            for method in info.methods
        ],
        "hovertemplate": (
            "<b>%{customdata[1]}</b><br>average rank "
            "%{customdata[2]:.2f}%{customdata[3]}<extra></extra>"
        ),
        "showlegend": False,
    }
    unseen = {"marker": {"opacity": 0}}
    traces.append(
        go.Scatter(
            x=[x for x, _ in ends],
            y=[y for _, y in ends],
            marker={"size": ROW, "opacity": 0},
            selected=unseen,
            unselected=unseen,
            **told,
        )
    )
    traces.append(
        go.Scatter(
            x=[method.rank for method in info.methods],
            y=[0] * count,
            marker={
                "symbol": [
                    theme.family_style(method.family).symbol.removesuffix("-open")
                    + ("-open" if method.forgot == 0 else "")
                    for method in info.methods
                ],
                "color": [theme.family_style(method.family).color(dark) for method in info.methods],
                "size": 10,
            },
            unselected={"marker": {"opacity": 1}},
            **told,
        )
    )
    bottom = start - left + 0.4
    figure.update_xaxes(visible=False, range=[1 - 0.42 * (last - 1), last + 0.42 * (last - 1)])
    figure.update_yaxes(visible=False, range=[bottom, 2.9])
    figure.add_traces(traces)
    figure.update_layout(
        height=round(ROW * (2.9 - bottom)) + 16, margin={"t": 8, "b": 8}, annotations=annotations
    )
    return figure


def _forgot(method: Ranked, scenarios: int) -> str:
    return (
        "" if method.forgot is None else f"<br>forgot in {method.forgot} of {scenarios} scenarios"
    )


def alt_text(info: CriticalDifferenceInfo) -> str:
    best, worst = info.methods[0], info.methods[-1]
    return (
        f"Critical difference diagram of {len(info.methods)} methods over {info.blocks} "
        f"scenarios, average ranks from {best.rank:.1f} ({best.title}) to {worst.rank:.1f} "
        f"({worst.title}). Two methods differ if their ranks do by more than "
        f"{info.difference:.1f}."
    )
