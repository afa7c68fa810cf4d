"""Agreement of logits against agreement of representations, with lines of equal H-LR; AGL or AGR
alone where the other was not measured (the numbers of Are We Truly Forgetting?, Tables 3 and 15).

Both lie in 0..1 and 1 is Retrain. H-LR is their harmonic mean: AGR = h · AGL / (2 · AGL − h) on the
line of h.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, families, intervals, name_labels, references, scatter
from dashboard.charts.parts.scatter import Spot
from dashboard.frames import Row, verdict_text
from dashboard.frames.representation import Paper, mean, similarity
from dashboard.text.labels import MISSING
from mucore.metrics.representation import h_lr

LEVELS = (0.2, 0.4, 0.6, 0.8, 0.9)
Kind = Literal["both", "agl", "agr", "none"]
_PAD = 0.04


@dataclass(frozen=True)
class Mark:
    """One method: agreement of logits and of representations; None where it was not measured. H-LR
    where both were.
    """

    row: str
    key: str
    title: str
    family: str
    agl: float | None
    agr: float | None
    agl_half: float | None
    agr_half: float | None
    said: str = ""  # its verdict

    @property
    def h_lr(self) -> float | None:
        return None if self.agl is None or self.agr is None else h_lr(agl=self.agl, agr=self.agr)


@dataclass(frozen=True)
class AglAgrInfo:
    """`kind` says what was measured. Marks hold the methods that have it, best first; `ghosts` are
    the paper's, `computed` where it does not print them (`frames.representation.Paper`).
    """

    kind: Kind
    marks: tuple[Mark, ...]
    original: tuple[float | None, float | None]
    missing: tuple[tuple[str, str], ...]  # title and reason
    ghosts: tuple[tuple[str, str, float, float], ...]  # title, family, AGL, AGR
    computed: bool = False

    @property
    def ghost_name(self) -> str:
        return "The paper, computed from its tables" if self.computed else "The paper"

    @property
    def note(self) -> str:
        """What is to be said about the intervals, if not all of them are drawn; bars of one
        agreement alone have room for theirs.
        """
        halves = [half for mark in self.marks for half in (mark.agl_half, mark.agr_half)]
        return intervals.note(len(self.marks), halves) if self.kind == "both" else ""


def agl_agr_info(rows: Sequence[Row], paper: Sequence[Paper] = ()) -> AglAgrInfo:
    """The agreements of `frames.representation.similarity_rows`: both, or the one that any method
    has.
    """
    methods = [row for row in rows if not row.reference]
    has = {name: any(mean(row, name) is not None for row in methods) for name in ("agl", "agr")}
    kind: Kind = (
        "both" if all(has.values()) else "agl" if has["agl"] else "agr" if has["agr"] else "none"
    )
    needed = {"both": ("agl", "agr"), "agl": ("agl",), "agr": ("agr",), "none": ("agl",)}[kind]
    marks, missing = [], []
    for row in methods:
        absent = [row.cells[name].reason for name in needed if mean(row, name) is None]
        if absent:
            missing.append((row.title, absent[0]))
            continue
        halves = [
            value.half if (value := row.cells[name].value) else None for name in ("agl", "agr")
        ]
        marks.append(
            Mark(
                row.id,
                row.keys[0],
                row.title,
                row.family,
                mean(row, "agl"),
                mean(row, "agr"),
                *halves,
                verdict_text(row),
            )
        )
    marks.sort(
        key=lambda mark: (
            -((mark.h_lr if kind == "both" else mark.agl if kind == "agl" else mark.agr) or 0.0)
        )
    )
    before = next((row for row in rows if row.method == "original"), None)
    return AglAgrInfo(
        kind=kind,
        marks=tuple(marks),
        original=(None, None) if before is None else (mean(before, "agl"), mean(before, "agr")),
        missing=tuple(missing),
        ghosts=tuple(
            (one.title, one.family, one.agl, one.agr)
            for one in paper
            if one.agl is not None
            and one.agr is not None
            and one.method not in ("original", "retrain")
        ),
        computed=any(one.computed for one in paper),
    )


def contour(level: float) -> tuple[np.ndarray, np.ndarray]:
    """AGL and AGR (n,) along the line of one H-LR, from AGR = 1 to AGL = 1."""
    start = level / (2 - level)  # where the other agreement is 1
    agl = np.linspace(start, 1.0, 60)
    return agl, level * agl / (2 * agl - level)


def draw(info: AglAgrInfo, *, dark: bool, selected: str = "") -> go.Figure:
    """The scatter with contours, or bars of the one agreement that was measured."""
    return _scatter(info, dark, selected) if info.kind == "both" else _bars(info, dark, selected)


def alt_text(info: AglAgrInfo) -> str:
    if not info.marks:
        return (
            "Agreement with Retrain of logits and representations; no method has been measured yet."
        )
    best = info.marks[0]
    if info.kind == "both":
        return (
            f"Scatter of {len(info.marks)} methods: agreement of logits on x, of representations "
            f"on y, with lines of equal harmonic mean. Highest: {best.title}, H-LR "
            f"{similarity(best.h_lr)}."
        )
    name, value = ("logits", best.agl) if info.kind == "agl" else ("representations", best.agr)
    return (
        f"Bars of {len(info.marks)} methods: agreement of {name} with Retrain. Highest: "
        f"{best.title}, {similarity(value)}."
    )


def _scatter(info: AglAgrInfo, dark: bool, selected: str) -> go.Figure:
    look = theme.ground(dark)
    span = (-_PAD, 1 + _PAD)
    figure = axes.figure(dark=dark)
    for level in LEVELS:
        x, y = contour(level)
        figure.add_trace(
            go.Scatter(
                x=x,
                y=y,
                mode="lines",
                line={"color": look.muted, "width": 1},
                opacity=0.6,
                hoverinfo="skip",
                showlegend=False,
                name=f"H-LR {level:g}",
            )
        )
        axes.write(
            figure, f"H-LR {level:g}", look.muted, size=11, x=span[1], y=y[-1], xanchor="left"
        )
    spots = [
        Spot(
            mark.family,
            mark.key,
            mark.agl,
            mark.agr,
            mark.agl_half,
            mark.agr_half,
            (
                mark.title,
                mark.h_lr,
                _said(mark.agl, mark.agl_half),
                _said(mark.agr, mark.agr_half),
                scatter.verdict_line(mark.said),
            ),
        )
        for mark in info.marks
    ]
    numbers = "AGL %{customdata[3]}<br>AGR %{customdata[4]}<br>H-LR %{customdata[2]:.3f}"
    hover = f"<b>%{{customdata[1]}}</b><br>{numbers}%{{customdata[5]}}<extra></extra>"
    scatter.add(figure, spots, hover=hover, dark=dark, selected=selected)
    both = [(1.0, 1.0, "Retrain")]
    if info.original[0] is not None and info.original[1] is not None:
        both.append((info.original[0], info.original[1], "Original"))
    told = "AGL %{x:.3f}<br>AGR %{y:.3f}"
    for x, y, title in both:
        figure.add_trace(scatter.reference(title, x, y, look, told=told))
    if info.ghosts:
        figure.add_trace(
            go.Scatter(
                x=[x for _, _, x, _ in info.ghosts],
                y=[y for _, _, _, y in info.ghosts],
                name=info.ghost_name,
                mode="markers",
                customdata=[[title] for title, _, _, _ in info.ghosts],
                marker={
                    "symbol": [
                        f"{theme.family_style(family).symbol}-open"
                        for _, family, _, _ in info.ghosts
                    ],
                    "size": 10,
                    "color": look.muted,
                    "line": {"width": 1.5},
                },
                hovertemplate="<b>%{customdata[0]} in the paper</b><br>AGL %{x:.2f}<br>AGR "
                "%{y:.2f}<extra></extra>",
            )
        )
    chosen, others = scatter.chosen(info.marks, selected)
    known = [
        [(m.agl, m.agr, m.title) for m in each if m.agl is not None and m.agr is not None]
        for each in (chosen, others)
    ]
    names = [*known[0], *both, *known[1]]
    names += [(x, y, f"{title}, paper") for title, _, x, y in info.ghosts]
    must = {"Retrain", "Original", *(mark.title for mark in chosen)}
    name_labels.write(
        figure,
        name_labels.place(names, span, span, [(x, y) for x, y, _ in names], most=16, must=must),
        look,
    )
    scatter.square(
        figure,
        span,
        across="AGL, agreement of accuracies with Retrain: 1 is ideal",
        up="AGR, agreement of representations: 1 is ideal",
    )
    figure.update_layout(height=580, legend=scatter.legend(), margin={"t": 12, "r": 64})
    return figure


def _bars(info: AglAgrInfo, dark: bool, selected: str) -> go.Figure:
    look = theme.ground(dark)
    logits = info.kind != "agr"
    values = [mark.agl if logits else mark.agr for mark in info.marks]
    halves = [mark.agl_half if logits else mark.agr_half for mark in info.marks]
    name = "AGL" if logits else "AGR"
    bars = [
        families.bar(mark.family, look, dark, [bool(selected) and mark.key == selected])
        for mark in info.marks
    ]
    figure = axes.figure(dark=dark)
    figure.add_trace(
        go.Bar(
            x=values,
            y=[mark.title for mark in info.marks],
            orientation="h",
            name=name,
            customdata=[
                [mark.key, _said(value, half), scatter.verdict_line(mark.said)]
                for mark, value, half in zip(info.marks, values, halves, strict=True)
            ],
            marker={
                "color": [each["color"] for each in bars],
                "line": {
                    part: [each["line"][part][0] for each in bars] for part in ("width", "color")
                },
            },
            error_x=intervals.bars(halves, look.text),
            hovertemplate=f"<b>%{{y}}</b><br>{name} "
            "%{customdata[1]}%{customdata[2]}<extra></extra>",
            showlegend=False,
        )
    )
    before = info.original[0] if logits else info.original[1]
    for x, title in ((1.0, "Retrain"), (before, "Original")):
        if x is not None:
            figure.add_vline(x=x, line=references.line(title, look, 1.5))
            axes.write(figure, title, look.muted, x=x, y=1, yref="paper", yanchor="bottom")
    ghosts = {title: (agl if logits else agr) for title, _, agl, agr in info.ghosts}
    shared = [mark.title for mark in info.marks if mark.title in ghosts]
    if shared:
        figure.add_trace(
            go.Scatter(
                x=[ghosts[title] for title in shared],
                y=shared,
                name=info.ghost_name,
                mode="markers",
                marker={
                    "symbol": "line-ns-open",
                    "size": 13,
                    "color": look.text,
                    "line": {"width": 2.5},
                },
                hovertemplate=f"<b>%{{y}} in the paper</b><br>{name} %{{x:.2f}}<extra></extra>",
            )
        )
    what = "accuracies with Retrain" if logits else "representations with Retrain's"
    figure.update_xaxes(
        title=f"{name}, agreement of {what}: 1 is ideal", range=(0, 1.03), zeroline=False
    )
    figure.update_yaxes(
        autorange="reversed",
        showgrid=False,
        tickfont={"color": look.text, "size": 12},
        ticklabelstandoff=4,
    )
    height = max(280, 110 + 25 * len(info.marks))
    figure.update_layout(
        height=height, margin={"t": 30, "r": 24}, bargap=0.35, legend=axes.below(-70 / height)
    )
    return figure


def _said(mean: float | None, half: float | None) -> str:
    return MISSING if mean is None else intervals.said(mean, half, digits=3)
