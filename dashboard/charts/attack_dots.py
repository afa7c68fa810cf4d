"""Five membership attacks side by side: efficacy of every method, one panel an attack, Retrain
dashed and Original dotted in each (the numbers of MUBox, Tables 1 and 3 to 6).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import families, intervals, noise, references, subplots
from dashboard.frames import ResultsTable, Row, verdict_text
from dashboard.papers.tables import Published
from mucore import catalog
from mucore.metrics.membership import ATTACKS

NAMES = 26  # pixels between panels and legend, where the panels' names stand


@dataclass(frozen=True)
class Dot:
    """One method under one attack, in percent."""

    row: str
    title: str
    family: str
    value: float
    half: float | None
    paper: float | None
    mark: str = ""  # behind the paper's number, where its caption explains one
    said: str = ""  # the method's verdict
    competes: bool = True  # in its family's colour; the others are grey


@dataclass(frozen=True)
class Panel:
    """One attack; the references' lines in percent, None where they have no value, and half of the
    band of Retrain against Retrain of other seeds.
    """

    attack: str
    title: str
    dots: tuple[Dot, ...]
    retrain: float | None
    original: float | None
    noise: float | None = None


@dataclass(frozen=True)
class AttackDotsInfo:
    titles: tuple[str, ...]  # of the methods, first on top
    panels: tuple[Panel, ...]
    missing: tuple[str, ...]  # titles of methods without any value
    source: str = ""  # the paper whose numbers stand beside ours


def attack_dots_info(
    table: ResultsTable, paper: Published | None = None, *, competing: Collection[str] | None = None
) -> AttackDotsInfo:
    """`paper` holds printed fractions by (method, metric); `competing` are the row ids in colour,
    None for all.
    """
    rows = [
        row for row in table.methods if any(row.cells[f"mia_{attack}"].value for attack in ATTACKS)
    ]
    panels = tuple(
        Panel(
            attack,
            catalog.metric(f"mia_{attack}").title.removesuffix(" MIA efficacy"),
            tuple(
                dot
                for row in rows
                if (dot := _dot(row, attack, paper, competing is None or row.id in competing))
                is not None
            ),
            _reference(table, "retrain", attack),
            _reference(table, "original", attack),
            None if (half := table.noise.get(f"mia_{attack}")) is None else 100 * half,
        )
        for attack in ATTACKS
    )
    left_out = tuple(row.title for row in table.methods if row not in rows)
    return AttackDotsInfo(
        tuple(row.title for row in rows), panels, left_out, paper.source if paper else ""
    )


def _dot(row: Row, attack: str, paper: Published | None, competes: bool) -> Dot | None:
    value = row.cells[f"mia_{attack}"].value
    if value is None:
        return None
    place = (row.method, f"mia_{attack}")
    printed = None if paper is None else paper.values.get(place)
    return Dot(
        row=row.id,
        title=row.title,
        family=row.family,
        value=100 * value.mean,
        half=None if value.half is None else 100 * value.half,
        paper=None if printed is None else 100 * printed,
        mark="" if paper is None else paper.marks.get(place, ""),
        said=verdict_text(row),
        competes=competes,
    )


def _reference(table: ResultsTable, method: str, attack: str) -> float | None:
    found = [row.cells[f"mia_{attack}"].value for row in table.rows if row.method == method]
    return next((100 * value.mean for value in found if value is not None), None)


def draw(info: AttackDotsInfo, *, dark: bool, selected: str = "") -> go.Figure:
    """Five dot plots over shared rows; `selected` is the row id to ring. Points carry (row,
    attack).
    """
    look = theme.ground(dark)
    # room between panels, so that "100" of one and "0" of the next do not touch
    # above the panels, too: the axes' own names may be forty rows further down
    figure = subplots.figure(
        cols=len(info.panels),
        shared_yaxes=True,
        horizontal_spacing=0.03,
        subplot_titles=[panel.title for panel in info.panels],
        dark=dark,
    )
    lines = []
    for place, panel in enumerate(info.panels, start=1):
        if panel.dots and (span := noise.around(panel.retrain, panel.noise)) is not None:
            ends = subplots.ending(place)
            lines.append(noise.band(look, x=span, xref=f"x{ends}", yref=f"y{ends}"))
        if panel.dots:
            figure.add_trace(_dots(panel, dark, selected), row=1, col=place)
        printed = [dot for dot in panel.dots if dot.paper is not None]
        if printed:
            figure.add_trace(_ghosts(printed, info.source, dark), row=1, col=place)
        for value, title in ((panel.retrain, "Retrain"), (panel.original, "Original")):
            if value is not None and panel.dots:
                axis = subplots.ending(place)
                where = {
                    "x0": value,
                    "x1": value,
                    "y0": 0,
                    "y1": 1,
                    "xref": f"x{axis}",
                    "yref": f"y{axis} domain",
                }
                lines.append(
                    {"type": "line", "line": references.line(title, look, 1.4), "layer": "below"}
                    | where
                )
        figure.update_xaxes(
            title=panel.title,
            range=[-6, 106],
            tickvals=[0, 50, 100],
            zeroline=False,
            showgrid=False,
            row=1,
            col=place,
        )
    for trace in _legend(info, dark):
        figure.add_trace(trace, row=1, col=1)
    figure.update_yaxes(
        range=[len(info.titles) - 0.4, -0.6],  # the first method on top
        type="category",
        categoryorder="array",
        categoryarray=info.titles,
        automargin=True,
        tickfont={"size": 12, "color": look.text},
        ticklabelstandoff=4,
    )
    rows = 24 * len(info.titles)
    legend = {
        "orientation": "h",
        "y": 1 + NAMES / max(rows, NAMES),
        "yanchor": "bottom",
        "x": 0,
        "itemclick": False,
    }
    figure.update_layout(height=200 + rows, legend=legend, margin={"t": 90}, shapes=lines)
    return figure


def _dots(panel: Panel, dark: bool, selected: str) -> go.Scatter:
    styles = [theme.family_style(dot.family) for dot in panel.dots]
    grey = theme.ground(dark).muted
    colors = [
        style.color(dark) if dot.competes else grey
        for style, dot in zip(styles, panel.dots, strict=True)
    ]
    ring = theme.ground(dark).text
    return go.Scatter(
        x=[dot.value for dot in panel.dots],
        y=[dot.title for dot in panel.dots],
        mode="markers",
        customdata=[[dot.row, panel.attack, _said(dot)] for dot in panel.dots],
        marker={
            "symbol": [style.symbol for style in styles],
            "size": [14 if dot.row == selected else 10 for dot in panel.dots],
            "color": colors,
            "opacity": 1,
            "line": {
                "width": [2 if dot.row == selected else 0 for dot in panel.dots],
                "color": [
                    ring if dot.row == selected else color
                    for dot, color in zip(panel.dots, colors, strict=True)
                ],
            },
        },
        error_x=intervals.bars([dot.half for dot in panel.dots], theme.ground(dark).muted),
        hovertemplate=f"<b>%{{y}}</b><br>{panel.title}: %{{x:.1f}} % called "
        "unseen%{customdata[2]}<extra></extra>",
        showlegend=False,
    )


def _said(dot: Dot) -> str:
    half = "" if dot.half is None else f" ± {dot.half:.1f}"
    return f"{half}<br>{dot.said}" if dot.said else half


def _ghosts(dots: list[Dot], source: str, dark: bool) -> go.Scatter:
    look = theme.ground(dark)
    return go.Scatter(
        x=[dot.paper for dot in dots],
        y=[dot.title for dot in dots],
        mode="markers+text",
        text=[dot.mark for dot in dots],
        textposition="middle right",
        textfont={"size": 11, "color": look.text},
        marker={
            "symbol": "line-ns",
            "size": 13,
            "opacity": 1,
            "line": {"width": 2.5, "color": look.muted},
        },
        hovertemplate=f"<b>%{{y}}</b><br>{source}: %{{x:.1f}} %%{{text}}<extra></extra>",
        showlegend=False,
    )


def _legend(info: AttackDotsInfo, dark: bool) -> list[go.Scatter]:
    """Lines of the references, the paper's mark; the families' marks stand
    beside the methods' names already.
    """
    look = theme.ground(dark)
    dots = [dot for panel in info.panels for dot in panel.dots]
    marker = {"size": 10, "color": look.muted}
    made = []
    for title, places in (
        ("Retrain", [panel.retrain for panel in info.panels]),
        ("Original", [panel.original for panel in info.panels]),
    ):
        if any(place is not None for place in places):
            line = references.line(title, look, 1.4)
            made.append(go.Scatter(name=title, mode="lines", line=line))
    for family in families.groups(dot for dot in dots if dot.competes):
        style = theme.family_style(family)
        shown = {"symbol": style.symbol, "size": 10, "color": style.color(dark)}
        made.append(go.Scatter(name=families.title(family), mode="markers", marker=shown))
    if not all(dot.competes for dot in dots):
        made.append(
            go.Scatter(name="grey: not known to have forgotten", mode="markers", marker=marker)
        )
    if any(dot.paper is not None for dot in dots):
        tick = {"symbol": "line-ns", "size": 12, "line": {"width": 2.5, "color": look.muted}}
        made.append(go.Scatter(name=f"printed by {info.source}", mode="markers", marker=tick))
    return [
        trace.update(x=[None], y=[info.titles[0] if info.titles else None], showlegend=True)
        for trace in made
    ]


def alt_text(info: AttackDotsInfo) -> str:
    if not info.titles:
        return "Efficacy of five membership attacks by method; nothing measured yet."
    parts = []
    for panel in info.panels:
        if not panel.dots:
            continue
        low, high = (
            min(panel.dots, key=lambda dot: dot.value),
            max(panel.dots, key=lambda dot: dot.value),
        )
        retrain = "" if panel.retrain is None else f", Retrain {panel.retrain:.1f} %"
        parts.append(
            f"{panel.title} from {low.value:.1f} % ({low.title}) to {high.value:.1f} % "
            f"({high.title}){retrain}"
        )
    return (
        f"Five dot plots of {len(info.titles)} methods, share of the forget set called unseen. "
        f"{'; '.join(parts)}."
    )
