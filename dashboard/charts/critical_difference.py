"""Average ranks with the critical difference (Demšar, JMLR 2006): methods that a bar joins cannot
be told apart.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes
from mucore.statistics.significance import Ranking

ROW = 24  # pixels of a method
BAR = 12  # pixels from one bar to the next


def draw(
    ranking: Ranking,
    names: Mapping[str, str],
    keys: Mapping[str, str],
    forgot: Mapping[str, int],
    *,
    dark: bool,
    selected: str = "",
) -> go.Figure:
    """A line a method, the best on top, its mark at its average rank; bars at the right, and the
    critical difference above. `keys`: the run that stands for a method, whose name is bold where it
    is `selected`; `forgot`: in how many scenarios, grey where in none.
    """
    look, count = theme.ground(dark), len(ranking.ranks)
    titles = [
        f"<b>{names[name]}</b>" if selected and keys.get(name) == selected else names[name]
        for name in ranking.ranks
    ]
    figure = axes.figure(dark=dark)
    figure.add_trace(
        go.Scatter(
            x=list(ranking.ranks.values()),
            y=titles,
            mode="markers+text",
            marker={
                "symbol": "square",
                "color": [
                    look.muted if forgot.get(name) == 0 else look.primary for name in ranking.ranks
                ],
                "size": 11,
                "opacity": 1,
            },
            unselected={"marker": {"opacity": 1}},
            text=[rank_text(rank) for rank in ranking.ranks.values()],
            textposition="middle right",
            textfont={"size": 12, "color": look.muted},
            customdata=[
                [keys.get(name, ""), rank, _forgot(forgot.get(name), ranking.blocks)]
                for name, rank in ranking.ranks.items()
            ],
            hovertemplate="<b>%{y}</b><br>average rank %{customdata[1]:.2f}%{customdata[2]}"
            "<extra></extra>",
            showlegend=False,
        )
    )
    scale = {"type": "line", "line": {"color": look.primary, "width": 3}}
    end = 1 + ranking.critical_difference
    figure.layout.shapes = [scale | {"x0": 1, "x1": end, "y0": -1, "y1": -1}, *_bars(ranking, look)]
    words = f"critical difference {ranking.critical_difference:.2f}"
    axes.write(figure, words, look.text, x=1, y=-1, xanchor="left", yanchor="bottom", yshift=2)
    figure.update_xaxes(
        title="Average rank, 1 is best",
        range=[0.5, 1.25 * max(end, *ranking.ranks.values())],  # room for the last number
        zeroline=False,
    )
    figure.update_yaxes(type="category", range=[count - 0.5, -2], tickfont={"color": look.text})
    right = 24 + BAR * len(ranking.groups)
    figure.update_layout(height=ROW * (count + 2) + 70, margin={"t": 8, "r": right})
    return figure


def _bars(ranking: Ranking, look: theme.Ground) -> list[dict[str, Any]]:
    """Plotly's shapes, right of the plot, from the first to the last method of each group."""
    place = {name: number for number, name in enumerate(ranking.ranks)}
    upright = {"type": "line", "xref": "paper", "xsizemode": "pixel", "xanchor": 1}
    return [
        upright
        | {
            "x0": BAR * number,
            "x1": BAR * number,
            "y0": place[group[0]] - 0.3,
            "y1": place[group[-1]] + 0.3,
            "line": {"color": look.text, "width": 5},
        }
        for number, group in enumerate(ranking.groups, start=1)
    ]


def _forgot(count: int | None, scenarios: int) -> str:
    return "" if count is None else f"<br>forgot in {count} of {scenarios} scenarios"


def rank_text(rank: float) -> str:
    """An average rank, rounded half up as the grids of tables do it: Python would make 7.2 of
    7.25.
    """
    return f"{math.floor(10 * rank + 0.5) / 10:.1f}"


def alt_text(ranking: Ranking, names: Mapping[str, str]) -> str:
    (best, least), *_, (worst, most) = ranking.ranks.items()
    return (
        f"Average ranks of {len(ranking.ranks)} methods over {ranking.blocks} scenarios, from "
        f"{rank_text(least)} ({names[best]}) to {rank_text(most)} ({names[worst]}). Two "
        f"methods differ if their ranks do by more than {ranking.critical_difference:.1f}."
    )
