"""Efficacy against membership inference, a panel a method, one mark a run, log against logit
(Becker & Liebig, Figures 4 and 8).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import log_axis, strips, subplots
from dashboard.frames.efficacy import UNTRAINED, Line, correlation, lines, panel_lines
from dashboard.text.labels import MINUS

TICK = 0.09  # of an axis' height that the number of a tick takes
SIZES = (7.0, 13.0)  # pixels of a mark, of the smallest and of the largest forget set
# Ticks of the logit axis, the second or third set where a short axis has fewer than three of the
# ones before.
TICKS = (
    (0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999),
    tuple(round(0.1 * place, 1) for place in range(1, 10)),
    tuple(round(0.05 * place, 2) for place in range(1, 20)),
    tuple(round(0.01 * place, 2) for place in range(1, 100)),
)


@dataclass(frozen=True)
class Mark:
    """One run: exponent of its efficacy, the share (0..1) that stands against it, and where that
    stands: its logit.
    """

    key: str
    label: str  # forget set and seed
    x: float
    share: float
    y: float
    size: float
    said: str = ""  # the verdict of its line as a line of a tooltip


@dataclass(frozen=True)
class Panel:
    """One method; rank correlation of its efficacies and shares, None for too few runs."""

    line: Line
    marks: tuple[Mark, ...]
    rho: float | None


@dataclass(frozen=True)
class EfficacyMembershipInfo:
    panels: tuple[Panel, ...]
    left_out: tuple[str, ...]  # titles of methods beyond the last panel
    missing: int  # runs that lack one of the two numbers
    end: float  # where a share of 0 stands, and 1 less it a share of 1

    @property
    def marks(self) -> tuple[Mark, ...]:
        return tuple(mark for panel in self.panels for mark in panel.marks)


def efficacy_membership_info(
    frame: pd.DataFrame, column: str, *, sets: Sequence[str], labels: Mapping[str, str]
) -> EfficacyMembershipInfo:
    """From `frames.efficacy.run_frame`: efficacy against `column`, which is 0..1; `labels` names
    the forget sets `sets`, smallest first.

    0 and 1 have no logit. They stand at the axis' ends, beyond every share that samples of the
    largest forget set can make up.
    """
    runs = frame[frame["method"] != UNTRAINED]
    known = runs[runs["efficacy"].notna() & runs[column].notna()]
    found = lines(known)
    shown = panel_lines(found, known, strips.PANELS)
    step = (SIZES[1] - SIZES[0]) / max(len(sets) - 1, 1)
    sizes = {name: SIZES[0] + place * step for place, name in enumerate(sets)}
    end = 0.5 / (float(known["forget_count"].max()) + 1) if len(known) else 0.25
    made = []
    for line in shown:
        mine = known[known["row"] == line.id]
        shares = mine[column].to_numpy(float)
        fields = (mine[name] for name in ("key", "set", "training_seed", "efficacy", "said"))
        marks = tuple(
            Mark(
                str(key),
                f"{labels.get(name, name)}, seed {seed}",
                float(x),
                float(share),
                float(y),
                sizes.get(name, SIZES[0]),
                f"<br>{said}" if said else "",
            )
            for key, name, seed, x, said, share, y in zip(
                *fields, shares, logit(np.clip(shares, end, 1 - end)), strict=True
            )
        )
        measured = correlation(mine["efficacy"], mine[column])
        made.append(Panel(line, marks, None if measured is None else measured[0]))
    return EfficacyMembershipInfo(
        tuple(made),
        tuple(line.title for line in found if line not in shown),
        len(runs) - len(known),
        end,
    )


def logit(share: np.ndarray | float) -> np.ndarray:
    return np.log(np.asarray(share) / (1 - np.asarray(share)))


def draw(
    info: EfficacyMembershipInfo,
    *,
    height: str,
    dark: bool,
    selected: str = "",
    most: int = subplots.COLUMNS,
) -> go.Figure:
    """The panels, `most` in a row; `height` says what the y axis is, `selected` is the run to
    ring.
    """
    titles = [_title(panel) for panel in info.panels]
    figure, places = subplots.grid(titles, dark=dark, most=most)
    for place, panel in zip(places, info.panels, strict=True):
        style = theme.family_style(panel.line.family)
        figure.add_trace(
            go.Scatter(
                x=np.array([mark.x for mark in panel.marks]),
                y=np.array([mark.y for mark in panel.marks]),
                name=panel.line.title,
                mode="markers",
                showlegend=False,
                # an array: plotly checks lists item by item, which thousands of runs would feel
                customdata=np.array(
                    [(mark.key, mark.label, 100 * mark.share, mark.said) for mark in panel.marks],
                    dtype=object,
                ),
                marker={
                    "symbol": style.symbol,
                    "size": np.array([mark.size for mark in panel.marks]),
                    "color": style.color(dark),
                    "opacity": 0.75,
                },
                hovertemplate=(
                    f"<b>{panel.line.title}</b>, %{{customdata[1]}}<br>efficacy 10<sup>%{{x:.2f}}"
                    "</sup><br>%{customdata[2]:.1f} %%{customdata[3]}<extra></extra>"
                ),
            ),
            **place,
        )
        for mark in panel.marks:
            if mark.key == selected:
                figure.add_trace(log_axis.ring(mark.x, mark.y, dark), **place)
    if info.panels:
        across = log_axis.axis(*log_axis.span([mark.x for mark in info.marks]), most=4)
        subplots.dress(
            figure,
            places,
            across=across,
            up=_up([mark.y for mark in info.marks], info.end),
            title=strips.AXIS,
            dark=dark,
        )
    figure.update_yaxes(title={"text": f"{height}, % (logit scale)", "font": {"size": 12}}, col=1)
    figure.update_layout(
        height=subplots.height(places, 210), margin={"t": 40, "b": 52}, showlegend=False
    )
    return figure


def _title(panel: Panel) -> str:
    if panel.rho is None:
        return panel.line.title
    return f"{panel.line.title}: ρ {panel.rho:+.2f}".replace("-", MINUS)


def _up(places: Sequence[float], end: float) -> dict:
    low, high = log_axis.span(places)
    for ticks in TICKS:
        named = {
            float(logit(share)): f"{100 * share:g}"
            for share in ticks
            if 2 * end < share < 1 - 2 * end
        }
        ends = {float(logit(end)): "0", float(logit(1 - end)): "100"}
        apart = TICK * (high - low)
        named = {
            place: text
            for place, text in named.items()
            if all(abs(place - other) > apart for other in ends)
        } | ends
        inside = sorted(place for place in named if low <= place <= high)
        if len(inside) > 2:
            break
    return {
        "range": [low, high],
        "tickvals": inside,
        "ticktext": [named[place] for place in inside],
        "zeroline": False,
    }


def alt_text(info: EfficacyMembershipInfo) -> str:
    if not info.panels:
        return "Scatter of efficacy against membership inference; no run has both."
    parts = [
        f"{panel.line.title}, {len(panel.marks)} runs"
        + ("" if panel.rho is None else f", rank correlation {panel.rho:+.2f}")
        for panel in info.panels
    ]
    x, shares = [mark.x for mark in info.marks], [100 * mark.share for mark in info.marks]
    return (
        f"Scatter of {len(info.marks)} runs, one panel a method: efficacy on a log scale from "
        f"10^{min(x):.1f} to 10^{max(x):.1f}, share of the forget set on a logit scale from "
        f"{min(shares):.1f} % to {max(shares):.1f} %. {'; '.join(parts)}."
    )
