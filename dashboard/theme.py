"""Colours, marks and the plotly template: one place for how things look. No Streamlit here.

Hues are Okabe and Ito's, one a method family, each in a darker form for white and a lighter one for
the dark ground so that marks keep a contrast of 3:1 and text 4.5:1 (tests/dashboard/test_theme.py
computes both). A mark's shape is a verdict everywhere, so a figure survives grey print. The same
ground, text and primary colours stand in .streamlit/config.toml; a test keeps them equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

import plotly.graph_objects as go


@dataclass(frozen=True)
class FamilyStyle:
    """The hexadecimal colours of one family's methods."""

    color_light: str
    color_dark: str

    def color(self, dark: bool) -> str:
        return self.color_dark if dark else self.color_light


@dataclass(frozen=True)
class Ground:
    """The neutral colours of one theme, hexadecimal."""

    background: str
    panel: str
    text: str
    muted: str
    grid: str
    primary: str
    border: str
    selected: str  # the ground of what is chosen


LIGHT: Final = Ground(
    background="#FFFFFF",
    panel="#F3F6F8",
    text="#11161B",
    muted="#56606A",
    grid="#E8ECEF",
    primary="#0B6E99",
    border="#D5DCE2",
    selected="#DAE2E9",
)
DARK: Final = Ground(
    background="#14181D",
    panel="#1D2329",
    text="#E4E9ED",
    muted="#B3BDC6",
    grid="#262E35",
    primary="#4FB3DC",
    border="#363F48",
    selected="#2B353E",
)

# Of every figure, on a page or in a file: its bar uploads nothing to anybody's cloud.
PLOTLY: Final = {"displaylogo": False, "showSendToCloud": False, "plotlyServerURL": ""}

# Keys are catalog.FAMILIES.
STYLES: Final[dict[str, FamilyStyle]] = {
    "reference": FamilyStyle(LIGHT.text, DARK.text),
    "exact": FamilyStyle("#7F7F7F", "#A0A0A0"),
    "gradient_ascent": FamilyStyle("#D55E00", "#F08A3C"),
    "influence": FamilyStyle("#0072B2", "#4DA6E0"),
    "teacher": FamilyStyle("#008F68", "#1FB58A"),
    "relabelling": FamilyStyle("#BF5F95", "#DD94BC"),
    "sparsity": FamilyStyle("#B07A00", "#E69F00"),
    "features": FamilyStyle("#3A93C8", "#7CC7F0"),
    "competition": FamilyStyle("#7A5195", "#B48CD0"),
    "baseline": FamilyStyle("#6B7300", "#B9C23C"),
    "own": FamilyStyle("#8A3324", "#D98B7B"),
}
_OTHER: Final = FamilyStyle(LIGHT.muted, DARK.muted)


@dataclass(frozen=True)
class Fate(FamilyStyle):
    """How a verdict is drawn: its colour, never in one figure with those of families, and a plotly
    marker symbol.
    """

    symbol: str

    def mark(self, shown: bool) -> tuple[str, bool]:
        """The symbol, and whether it is hollow, as it is where the verdict is not `shown`."""
        return self.symbol.removesuffix("-open"), not shown or self.symbol.endswith("-open")


# Keys are `dashboard.text.verdicts.FATES`.
FATES: Final[dict[str, Fate]] = {
    "forgot": Fate("#00805D", "#2BBF94", "circle"),
    "outputs only": Fate("#0072B2", "#4DA6E0", "diamond"),
    "too little": Fate("#A87400", "#E6B23C", "triangle-up"),
    "too much": Fate("#7A5195", "#B48CD0", "triangle-down"),
    "did nothing": Fate("#6B7580", "#98A3AD", "circle-open"),
    "damaged": Fate("#B3261E", "#F2776E", "x"),
    "nothing to forget": Fate("#56606A", "#B3BDC6", "square-open"),
    "cannot tell": Fate("#56606A", "#B3BDC6", "hexagon-open"),
}

# Where a network predicts a class in the plane, paler on a page; the hues of the points themselves
# are of families that keep their contrast.
FIELDS: Final = ("#E69F00", "#0072B2", "#009E73", "#CC79A7")
_POINTS: Final = ("sparsity", "influence", "teacher", "relabelling")

# that of the pages
FONT: Final = "Source Sans, Source Sans Pro, Segoe UI, Helvetica, Arial, sans-serif"
SHADE_LIMIT: Final = 0.45  # opacity of the farthest cell


def ground(dark: bool) -> Ground:
    return DARK if dark else LIGHT


def family_style(family: str) -> FamilyStyle:
    """The style of a key of `catalog.FAMILIES`; a family without one is drawn in neutral grey."""
    return STYLES.get(family, _OTHER)


def points(dark: bool) -> list[str]:
    """The colours of points in the plane, by class."""
    return [STYLES[family].color(dark) for family in _POINTS]


def distance_shade(share: float, dark: bool) -> str:
    """CSS colour behind a table cell: `share` 0 (equal to Retrain: nothing) to 1 (farthest: 45 % of
    the hue). Clipped; NaN is 0.
    """
    opacity = SHADE_LIMIT * min(max(share, 0.0), 1.0) if share == share else 0.0
    red, green, blue = _rgb(STYLES["gradient_ascent"].color(dark))
    return f"rgba({red}, {green}, {blue}, {opacity:.3f})"


# how much of a hue the farthest cell of a heat map takes, so that text stays readable on it
_CELL: Final = 0.55


def diverging(dark: bool) -> list[tuple[float, str]]:
    """A plotly colour scale from orange (low) over the ground to blue (high), for cells where the
    middle means "alike".
    """
    return [
        (0.0, _cell("gradient_ascent", dark)),
        (0.5, ground(dark).background),
        (1.0, _cell("influence", dark)),
    ]


def sequential(dark: bool) -> list[tuple[float, str]]:
    """A plotly colour scale from the ground (none) to blue (all), for cells."""
    return [(0.0, ground(dark).background), (1.0, _cell("influence", dark))]


def _cell(family: str, dark: bool) -> str:
    return blend(STYLES[family].color(dark), ground(dark).background, _CELL)


@cache
def template(dark: bool) -> go.layout.Template:
    """The plotly template of every chart: transparent ground, thin grid, no frame, legend below the
    plot.
    """
    look = ground(dark)
    axis = {
        "gridcolor": look.grid,
        "linecolor": look.grid,
        "zerolinecolor": look.muted,
        "zerolinewidth": 1,
        "tickfont": {"color": look.muted},
        "title": {"font": {"color": look.muted, "size": 13}, "standoff": 8},
        "automargin": True,
    }
    layout = go.Layout(
        font={"family": FONT, "size": 13, "color": look.text},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        colorway=[style.color(dark) for family, style in STYLES.items() if family != "reference"],
        xaxis=axis,
        yaxis=axis,
        margin={"l": 8, "r": 8, "t": 28, "b": 8},
        legend={
            "orientation": "h",
            "yanchor": "bottom",
            "y": 1.02,
            "x": 0,
            "font": {"color": look.text},
        },
        hoverlabel={
            "bgcolor": look.panel,
            "bordercolor": look.muted,
            "font": {"family": FONT, "color": look.text},
        },
        hovermode="closest",
        modebar={"bgcolor": "rgba(0,0,0,0)", "color": look.muted, "activecolor": look.text},
    )
    return go.layout.Template(layout=layout)


def luminance(color: str) -> float:
    """WCAG 2 relative luminance of a hexadecimal colour, in 0..1."""
    channels = [value / 255 for value in _rgb(color)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """WCAG 2 contrast ratio of two hexadecimal colours, 1 (equal) to 21 (black on white)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def blend(color: str, background: str, opacity: float) -> str:
    """The opaque colour that `color` at `opacity` gives on `background`, hexadecimal."""
    mixed = [
        round(opacity * top + (1 - opacity) * under)
        for top, under in zip(_rgb(color), _rgb(background), strict=True)
    ]
    return "#" + "".join(f"{value:02X}" for value in mixed)


def _rgb(color: str) -> tuple[int, int, int]:
    digits = color.removeprefix("#")
    return int(digits[0:2], 16), int(digits[2:4], 16), int(digits[4:6], 16)
