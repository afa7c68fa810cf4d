"""Average ranks with the critical difference (Demšar, JMLR 2006): methods under one bar cannot be
told apart.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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
    """Methods best first; `bars` are the ranks of each group that the test cannot tell apart, in
    rising order. `difference` is Nemenyi's, None where every two methods have a test of their own.
    """

    methods: tuple[Ranked, ...]
    bars: tuple[tuple[float, ...], ...]
    difference: float | None
    blocks: int
    p: float

    @property
    def whole(self) -> bool:
        """Whether every bar joins all methods from its first to its last."""
        ranks = [method.rank for method in self.methods]
        return all(
            len(bar) == sum(bar[0] <= rank <= bar[-1] for rank in ranks) for bar in self.bars
        )


def critical_difference_info(
    ranking: Ranking,
    names: Mapping[str, tuple[str, str]],
    keys: Mapping[str, str] | None = None,
    forgot: Mapping[str, int] | None = None,
    *,
    in_pairs: bool = False,
) -> CriticalDifferenceInfo:
    """`names`: (title, family) of each method of the ranking; `keys`: the run that stands for it;
    `forgot`: in how many scenarios; `in_pairs`: its groups are those of `alike_in_pairs`.
    """
    methods = tuple(
        Ranked(*names[name], rank, (keys or {}).get(name, ""), (forgot or {}).get(name))
        for name, rank in ranking.ranks.items()
    )
    bars = tuple(tuple(ranking.ranks[name] for name in group) for group in ranking.groups)
    difference = None if in_pairs else ranking.critical_difference
    return CriticalDifferenceInfo(methods, bars, difference, ranking.blocks, ranking.p)


def draw(info: CriticalDifferenceInfo, *, dark: bool, selected: str = "") -> go.Figure:
    """The rank axis on top with the critical difference above it, bars below it, names in two
    columns at the sides.

    One unit of y is one line of `ROW` pixels. A method can be selected at its mark and, unseen, at
    its name; the name of `selected`, a key, is bold.
    """
    look = theme.ground(dark)
    figure = axes.figure(dark=dark)
    count = len(info.methods)
    last = max(float(count), 1 + (info.difference or 0.0))
    room = 0.02 * (last - 1)
    # added all at once in the end: plotly checks every trace and annotation that is there again for
    # each one that is added
    traces: list[go.Scatter] = []
    annotations: list[dict] = []

    def stroke(
        x: Sequence[float | None], y: Sequence[float | None], color: str, width: float
    ) -> None:
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

    def joined(x: list[float], y: list[float]) -> None:
        traces.append(
            go.Scatter(
                x=x,
                y=y,
                mode="markers",
                marker={"color": look.text, "size": 8},
                hoverinfo="skip",
                showlegend=False,
            )
        )

    def write(text: str, **place: Any) -> None:
        annotations.append({"text": text, "showarrow": False, **place})

    # the axis and its ticks, one line with gaps: a trace of its own takes plotly a millisecond
    across: list[float | None] = [1, count]
    up: list[float | None] = [0, 0]
    every = 1 if count <= PLAIN else 5
    for rank in range(1, count + 1):
        across += [None, rank, rank]
        up += [None, 0, 0.22]
        if rank % every == 0 or rank == 1:
            write(
                str(rank), x=rank, y=0.3, yanchor="bottom", font={"size": 12, "color": look.muted}
            )
    stroke(across, up, look.text, 1.2)
    if info.difference is not None:
        stroke([1, 1 + info.difference], [1.75, 1.75], look.primary, 3)
        for end in (1, 1 + info.difference):
            stroke([end, end], [1.6, 1.9], look.primary, 2)
        said = f"critical difference {info.difference:.2f}"
        small = {"size": 12, "color": look.text}
        write(said, x=1, y=1.95, xanchor="left", yanchor="bottom", font=small)
    thick = 5 if info.whole else 2
    for level, ranks in enumerate(info.bars):
        height = -0.45 * (level + 1)
        stroke([ranks[0] - room / 2, ranks[-1] + room / 2], [height] * 2, look.text, thick)
        if not info.whole:
            joined(list(ranks), [height] * len(ranks))
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
        rank = rank_text(method.rank)
        said = f"{method.title}  {rank}" if on_left else f"{rank}  {method.title}"
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


def rank_text(rank: float) -> str:
    """An average rank, rounded half up as the grids of tables do it: Python would make 7.2 of
    7.25.
    """
    return f"{math.floor(10 * rank + 0.5) / 10:.1f}"


def alt_text(info: CriticalDifferenceInfo) -> str:
    best, worst = info.methods[0], info.methods[-1]
    return (
        f"Critical difference diagram of {len(info.methods)} methods over {info.blocks} "
        f"scenarios, average ranks from {rank_text(best.rank)} ({best.title}) to "
        f"{rank_text(worst.rank)} ({worst.title}). "
        + (
            "Bars join methods no two of which a test of the pair tells apart."
            if info.difference is None
            else f"Two methods differ if their ranks do by more than {info.difference:.1f}."
        )
    )
