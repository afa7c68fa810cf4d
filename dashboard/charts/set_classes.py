"""How a forget set is spread over the classes: of each class, what goes and what stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, classes

MOST_NAMED = 20  # classes whose bars have names and numbers
LONGEST = 12  # characters of a name under its bar


@dataclass(frozen=True)
class SetClassesInfo:
    """Samples of each class, or with each attribute, that are to be forgotten and that stay; `of`
    is "Class" or "Attribute".
    """

    names: tuple[str, ...]
    forgotten: tuple[int, ...]
    staying: tuple[int, ...]
    of: str = "Class"

    @property
    def shares(self) -> tuple[float, ...]:
        """Percent of each class that goes."""
        pairs = zip(self.forgotten, self.staying, strict=True)
        return tuple(100 * gone / (gone + left) if gone + left else 0.0 for gone, left in pairs)


def set_classes_info(
    names: Sequence[str], everything: np.ndarray, forgotten: np.ndarray, *, of: str = "Class"
) -> SetClassesInfo:
    """`everything` and `forgotten` (C,): samples of each class in the training set and in the
    forget set.
    """
    return SetClassesInfo(
        tuple(names),
        tuple(int(each) for each in forgotten),
        tuple(int(each) for each in everything - forgotten),
        of,
    )


def draw(info: SetClassesInfo, *, dark: bool) -> go.Figure:
    """A bar a class, what goes first and its number behind the bar; many classes stand upright and
    have no names.
    """
    look = theme.ground(dark)
    figure = axes.figure(dark=dark)
    named = len(info.names) <= MOST_NAMED
    places = list(range(len(info.names)))
    totals = [gone + left for gone, left in zip(info.forgotten, info.staying, strict=True)]
    parts = (
        ("to forget", info.forgotten, theme.family_style("gradient_ascent").color(dark)),
        ("stay", info.staying, theme.blend(look.muted, look.background, 0.45)),
    )
    for name, counts, color in parts:
        value = "x" if named else "y"
        figure.add_trace(
            go.Bar(
                **(
                    {"y": places, "x": counts, "orientation": "h"}
                    if named
                    else {"x": places, "y": counts}
                ),
                name=name,
                marker={"color": color, "line": {"width": 0}},
                customdata=[
                    [label, total] for label, total in zip(info.names, totals, strict=True)
                ],
                hovertemplate="%{customdata[0]}: %{"
                + value
                + "} of %{customdata[1]} "
                + name
                + "<extra></extra>",
            )
        )
    if named:
        figure.add_trace(
            go.Scatter(
                y=places,
                x=totals,
                mode="text",
                text=[f" {count:,}" if count else "" for count in info.forgotten],
                textposition="middle right",
                textfont={"size": 12, "color": look.text},
                hoverinfo="skip",
                showlegend=False,
                cliponaxis=False,
            )
        )
        figure.update_yaxes(
            tickvals=places,
            ticktext=[classes.short(name, LONGEST) for name in info.names],
            autorange="reversed",
            showgrid=False,
        )
        figure.update_xaxes(
            title="Training samples", rangemode="tozero", range=[0, 1.12 * max(totals, default=1)]
        )
    else:
        figure.update_xaxes(title=f"{info.of}, by number", showgrid=False)
        figure.update_yaxes(title="Training samples", rangemode="tozero")
    legend = {"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0, "traceorder": "normal"}
    height = 90 + 20 * len(info.names) if named else 260
    figure.update_layout(
        barmode="stack", bargap=0.25, height=height, margin={"t": 30, "b": 4}, legend=legend
    )
    return figure


def table(info: SetClassesInfo) -> pd.DataFrame:
    return pd.DataFrame(
        {
            info.of: info.names,
            "To forget": info.forgotten,
            "Stay": info.staying,
            "Forgotten, %": [round(each, 2) for each in info.shares],
        }
    )


def alt_text(info: SetClassesInfo) -> str:
    """The figure in words: which classes lose most."""
    order = sorted(range(len(info.names)), key=lambda number: -info.forgotten[number])
    losing = [number for number in order[:3] if info.forgotten[number]]
    most = [
        f"{info.names[number]} {info.forgotten[number]} ({info.shares[number]:.0f} %)"
        for number in losing
    ]
    what = "attributes" if info.of == "Attribute" else "classes"
    whole = f"Bars of the training samples of {len(info.names)} {what}, split by what goes."
    return (
        f"{whole} Most to forget: {', '.join(most)}."
        if most
        else f"{whole} Nothing is to be forgotten yet."
    )
