"""Numbers in heat maps and shaded tables are readable on every cell, in both themes: contrast by
WCAG 2, computed from the figures.
"""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import pytest

from dashboard import theme
from dashboard.charts import agreement, class_gaps, confusion, layer_heatmap, results_table
from dashboard.charts.class_gaps import ClassGapsInfo

READABLE = 4.5
SPREAD = np.linspace(0.0, 1.0, 9).reshape(3, 3)
NAMES = ("a", "b", "c")


def class_gaps_figure(dark: bool) -> go.Figure:
    rows = (("SalUn", (-40.0, -20.0, None)), ("SSD", (0.0, 5.0, 40.0)))
    return class_gaps.draw(ClassGapsInfo(NAMES, rows, (), 40.0), dark=dark)


def confusion_figure(dark: bool) -> go.Figure:
    return confusion.draw(
        confusion.confusion_info([("SalUn", [[90, 10, 0], [0, 50, 50], [100, 0, 0]])], NAMES),
        dark=dark,
    )


def difference_figure(dark: bool) -> go.Figure:
    counts = [[100, 0, 0], [0, 50, 50], [100, 0, 0]]
    return confusion.draw(
        confusion.confusion_info(
            [("SalUn", counts)], NAMES, [[[0, 100, 0], [0, 90, 10], [0, 0, 100]]]
        ),
        dark=dark,
    )


def tau_figure(dark: bool) -> go.Figure:
    return agreement.draw(
        agreement.agreement_info(NAMES, 2 * SPREAD - 1, what="τ", signed=True), dark=dark
    )


def shares_figure(dark: bool) -> go.Figure:
    return agreement.draw(
        agreement.agreement_info(NAMES, SPREAD, what="shares", signed=False), dark=dark
    )


def layers_figure(dark: bool) -> go.Figure:
    info = layer_heatmap.layer_heatmap_info(
        "SSD", layers=NAMES, original=SPREAD, retrain=SPREAD[::-1], references=SPREAD[0]
    )
    return layer_heatmap.draw(info, dark=dark)


def cell_colors(heatmap: go.Heatmap, figure: go.Figure) -> list[str]:
    """The colour of every cell with a number, as plotly mixes it."""
    shared = figure.layout.coloraxis if heatmap.coloraxis else None
    scale = shared.colorscale if shared else heatmap.colorscale
    low, high = (shared.cmin, shared.cmax) if shared else (heatmap.zmin, heatmap.zmax)
    values = np.array([[np.nan if v is None else v for v in row] for row in heatmap.z], dtype=float)
    return [
        color_at(scale, min(max((value - low) / (high - low), 0), 1))
        for value in values[np.isfinite(values)]
    ]


def color_at(scale: tuple, share: float) -> str:
    (below, under), (above, over) = next(
        pair for pair in zip(scale, scale[1:], strict=False) if share <= pair[1][0]
    )
    return theme.blend(over, under, (share - below) / (above - below))


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(
    "made",
    [
        class_gaps_figure,
        confusion_figure,
        difference_figure,
        tau_figure,
        shares_figure,
        layers_figure,
    ],
    ids=lambda made: made.__name__,
)
def test_numbers_are_readable_on_every_cell(made, dark: bool):
    figure = made(dark)
    for heatmap in figure.select_traces({"type": "heatmap"}):
        assert heatmap.texttemplate and heatmap.textfont.color
        colors = cell_colors(heatmap, figure)
        assert len(set(colors)) > 2
        assert min(theme.contrast(heatmap.textfont.color, color) for color in colors) >= READABLE


@pytest.mark.parametrize("dark", [False, True])
def test_intervals_are_readable_on_the_farthest_cell_of_the_table(dark: bool):
    """They are set in the text colour, mixed with the cell's."""
    red, green, blue, opacity = (
        theme.distance_shade(1.0, dark).removeprefix("rgba(").removesuffix(")").split(",")
    )
    hue = f"#{int(red):02X}{int(green):02X}{int(blue):02X}"
    cell = theme.blend(hue, theme.ground(dark).background, float(opacity))
    (rule,) = (
        line for line in results_table.CSS.splitlines() if line.startswith(".half, .status {")
    )
    half = theme.blend(
        theme.ground(dark).text, cell, float(rule.split("opacity:")[1].split(";")[0])
    )
    assert theme.contrast(half, cell) >= READABLE
