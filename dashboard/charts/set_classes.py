"""How a forget set is spread over the classes: of each class, what goes and what stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, classes

SHOWN = 20  # classes, those of which most goes
LONGEST = 16  # characters of a name beside its bar


@dataclass(frozen=True)
class SetClassesInfo:
    """Samples of each class, or with each attribute, that are to be forgotten and that stay."""

    names: tuple[str, ...]
    forgotten: tuple[int, ...]
    staying: tuple[int, ...]


def set_classes_info(
    names: Sequence[str], everything: np.ndarray, forgotten: np.ndarray
) -> SetClassesInfo:
    """`everything` and `forgotten` (C,): samples of each class in the training set and in the
    forget set. Of more than `SHOWN` classes those of which most goes.
    """
    shown = np.sort(np.argsort(-forgotten, kind="stable")[:SHOWN])
    return SetClassesInfo(
        tuple(names[place] for place in shown),
        tuple(forgotten[shown].tolist()),
        tuple((everything - forgotten)[shown].tolist()),
    )


def draw(info: SetClassesInfo, *, dark: bool) -> go.Figure:
    """A bar a class, what goes first, and its number behind the bar."""
    look = theme.ground(dark)
    figure = axes.figure(dark=dark)
    names = [classes.short(name, LONGEST) for name in info.names]
    places = list(range(len(names)))
    counts = [f" {count:,}" if count else "" for count in info.forgotten]
    strong = theme.family_style("gradient_ascent").color(dark)
    muted = theme.blend(look.muted, look.background, 0.45)
    for name, values, color, text in (
        ("to forget", info.forgotten, strong, None),
        ("stay", info.staying, muted, counts),
    ):
        figure.add_trace(
            go.Bar(
                y=places,
                x=values,
                orientation="h",
                name=name,
                marker={"color": color, "line": {"width": 0}},
                text=text,
                textposition="outside",
                cliponaxis=False,
                customdata=info.names,
                hovertemplate=f"%{{customdata}}: %{{x:,}} {name}<extra></extra>",
            )
        )
    figure.update_yaxes(
        tickvals=places, ticktext=names, ticklabelstandoff=6, autorange="reversed", showgrid=False
    )
    figure.update_xaxes(title="Training samples", rangemode="tozero")
    figure.update_layout(
        barmode="stack",
        bargap=0.25,
        height=90 + 20 * len(names),
        margin={"t": 30, "b": 4, "r": 40},
        legend={"orientation": "h", "traceorder": "normal", **axes.above(1.0)},
    )
    return figure


def alt_text(info: SetClassesInfo) -> str:
    """The figure in words: what goes of each class that loses something."""
    pairs = zip(info.names, info.forgotten, info.staying, strict=True)
    losing = [f"{name} {gone} of {gone + left}" for name, gone, left in pairs if gone]
    return f"Bars of the training samples of each class. To forget: {', '.join(losing) or 'none'}."
