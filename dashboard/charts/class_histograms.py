"""How many images of each class every split has: training, validation and test; retain and forget
set (competition, Figure 2).

x: classes; y: share of the split's images in percent, so that splits of different size can be
compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from dashboard import theme
from dashboard.charts.parts import axes, classes, subplots
from dashboard.text import units

PANELS = (("train", "validation", "test"), ("retain", "forget"))
TITLES = {
    "train": "Training",
    "validation": "Validation",
    "test": "Test",
    "retain": "Retain set",
    "forget": "Forget set",
}
# patterns, so that bars survive grey print
SHAPES = {"train": "", "validation": "x", "test": "/", "retain": "", "forget": "/"}


@dataclass(frozen=True)
class Bars:
    """One split: images of each class, and all images; of attributes an image counts for each that
    it has.
    """

    split: str
    counts: tuple[int, ...]
    images: int

    @property
    def shares(self) -> tuple[float, ...]:
        """Percent, one a class."""
        return tuple(100 * count / self.images if self.images else 0.0 for count in self.counts)


@dataclass(frozen=True)
class ClassHistogramsInfo:
    """`panels`: splits of the data set, and what the request divides training into; `of` is "Class"
    or "Attribute".
    """

    names: tuple[str, ...]
    panels: tuple[tuple[Bars, ...], ...]
    of: str


def class_histograms_info(
    confusion: Mapping[str, ArrayLike], names: Sequence[str] = ()
) -> ClassHistogramsInfo | None:
    """Counts from a run's confusion counts by split, (C, C) with rows true or (A, 2, 2); None
    without retain or forget set.

    Training is the retain and the forget set together. `names` may be empty: then numbers.
    """
    found = {name: np.asarray(counts) for name, counts in confusion.items() if name in TITLES}
    if not {"retain", "forget"} <= found.keys():
        return None
    found["train"] = found["retain"] + found["forget"]
    attributes = found["train"].ndim == 3
    bars = {}
    for name, counts in found.items():
        per_class = counts[:, 1].sum(axis=-1) if attributes else counts.sum(axis=-1)
        bars[name] = Bars(
            name,
            tuple(int(count) for count in per_class),
            int(counts[0].sum() if attributes else counts.sum()),
        )
    panels = tuple(tuple(bars[name] for name in panel if name in bars) for panel in PANELS)
    labels = classes.names(names, len(found["train"]))
    return ClassHistogramsInfo(labels, panels, "Attribute" if attributes else "Class")


def draw(info: ClassHistogramsInfo, *, dark: bool) -> go.Figure:
    """Two panels of bars, each on a scale of its own: a forget set is often of one class."""
    look = theme.ground(dark)
    colors = {
        "train": look.muted,
        "validation": look.primary,
        "test": look.text,
        "retain": look.muted,
    }
    colors["forget"] = theme.family_style("gradient_ascent").color(dark)
    titles = ["Splits", "Forget and retain set"]
    figure = subplots.figure(cols=2, horizontal_spacing=0.08, subplot_titles=titles, dark=dark)
    for column, panel in enumerate(info.panels, start=1):
        for bars in panel:
            figure.add_trace(
                go.Bar(
                    x=info.names,
                    y=bars.shares,
                    name=f"{TITLES[bars.split]}, {units.count(bars.images, 'image')}",
                    marker={
                        "color": colors[bars.split],
                        "line": {"width": 0},
                        "pattern": {
                            "shape": SHAPES[bars.split],
                            "fgcolor": look.background,
                            "fillmode": "overlay",
                            "solidity": 0.3,
                            "size": 6,
                        },
                    },
                    customdata=bars.counts,
                    hovertemplate=f"{TITLES[bars.split]}, %{{x}}: %{{y:.1f}} %, %{{customdata}} "
                    "images<extra></extra>",
                ),
                row=1,
                col=column,
            )
    figure.update_xaxes(title=info.of, type="category")
    figure.update_yaxes(title="Share of the images, %", rangemode="tozero")
    legend = axes.below(-0.3)
    figure.update_layout(height=360, barmode="group", bargap=0.2, margin={"t": 30}, legend=legend)
    return figure


def table(info: ClassHistogramsInfo) -> pd.DataFrame:
    """Images of each class, one column a split."""
    counts = {TITLES[bars.split]: bars.counts for panel in info.panels for bars in panel}
    return pd.DataFrame({info.of: info.names} | counts)


def alt_text(info: ClassHistogramsInfo) -> str:
    """The figure in words: the commonest and the rarest class of each split."""
    said = []
    for bars in (bars for panel in info.panels for bars in panel):
        high, low = int(np.argmax(bars.counts)), int(np.argmin(bars.counts))
        said.append(
            f"{TITLES[bars.split]}, {units.count(bars.images, 'image')}: most {info.names[high]} "
            f"({bars.shares[high]:.1f} %), fewest {info.names[low]} ({bars.shares[low]:.1f} %)."
        )
    return " ".join(["Bars of each class's share of the images, one colour a split.", *said])
