"""Bars of what is left of an attack, one panel a metric and one bar a method (MUBox, Figures 5 to
7).

x: percent; the poisoned original's dotted and Retrain's dashed line through each panel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from dashboard import frames, theme
from dashboard.charts.parts import axes, families, intervals, noise, references, subplots
from dashboard.frames import verdict_text
from dashboard.frames.budget import Curves
from dashboard.text import units
from dashboard.text.labels import number

TITLES: Mapping[tuple[str, str], str] = {
    ("label_flip", "ta"): "Test accuracy (TA)",
    ("label_flip", "fa"): "Attack success (FA)",
    ("label_flip", "fa_true"): "FA on true labels",
    ("label_flip", "ta_flipped"): "TA of flipped classes",
    ("backdoor", "ta"): "Clean accuracy (TA)",
    ("backdoor", "asr"): "Attack success (ASR)",
    ("backdoor", "asr_others"): "ASR, target class left out",
}
# between them stands the column of numbers, on the scale of the bars
VALUES_END, VALUES_START = -3, -24
BAR = 22  # pixels of height for each method


@dataclass(frozen=True)
class Bar:
    """One method in one panel, percent; `half` of the 95 % t-interval. Without a value, `reason`
    says why. `verdict` may be "".
    """

    line: str
    title: str
    family: str
    key: str
    value: float | None
    half: float | None
    seeds: int
    status: str
    reason: str
    verdict: str


@dataclass(frozen=True)
class Panel:
    """One metric: bars in the order of lines, the references' lines in percent, and half of the
    band of Retrain against Retrain of other seeds in points.
    """

    metric: str
    title: str
    bars: tuple[Bar, ...]
    original: float | None
    retrain: float | None
    noise: float | None = None


@dataclass(frozen=True)
class PoisonBarsInfo:
    """One poison size: the samples that were poisoned, their share in words, and the panels."""

    count: int
    share: str
    panels: tuple[Panel, ...]


def poison_bars_info(
    found: Curves, *, scenario: str, count: int, metrics: Sequence[str]
) -> PoisonBarsInfo:
    """The bars of the runs with `count` poisoned samples."""
    panels = []
    for metric in metrics:
        bars = []
        for line in found.methods:
            step = line.step(count)
            if step is None:
                continue
            cell = step.cells[metric]
            mean = None if cell.value is None else 100 * cell.value.mean
            half = None if cell.value is None or cell.value.half is None else 100 * cell.value.half
            verdict = verdict_text(step.row)
            bars.append(
                Bar(
                    line.id,
                    line.title,
                    line.family,
                    step.keys[0],
                    mean,
                    half,
                    step.seeds,
                    step.status,
                    cell.reason,
                    verdict,
                )
            )
        steps = [step for line in found.lines if (step := line.step(count)) is not None]
        half = frames.noise([step.row for step in steps], metric)
        lines = {
            method: _reference(found, method, count, metric) for method in ("original", "retrain")
        }
        panels.append(
            Panel(
                metric,
                TITLES[scenario, metric],
                tuple(bars),
                lines["original"],
                lines["retrain"],
                None if half is None else 100 * half,
            )
        )
    return PoisonBarsInfo(count, found.sizes[count], tuple(panels))


def _reference(found: Curves, method: str, count: int, metric: str) -> float | None:
    line = found.reference(method)
    step = line.step(count) if line else None
    value = step.cells[metric].value if step else None
    return None if value is None else 100 * value.mean


def draw(info: PoisonBarsInfo, *, dark: bool, selected: str = "", legend: bool = True) -> go.Figure:
    """The panels side by side, methods named on the left; `selected` is the line id to frame.

    A page with several figures gives the first of them the `legend`."""
    look = theme.ground(dark)
    figure = subplots.figure(
        cols=len(info.panels), shared_yaxes=True, horizontal_spacing=0.05, dark=dark
    )
    names = [bar.title for bar in info.panels[0].bars] if info.panels else []
    for column, panel in enumerate(info.panels, start=1):
        for family, bars in families.groups(panel.bars, unknown=True).items():
            trace = _family_trace(family, bars, panel, dark=dark, selected=selected)
            trace.showlegend = column == 1
            figure.add_trace(trace, row=1, col=column)
        figure.add_trace(_value_column(panel, dark), row=1, col=column)
        axis = subplots.ending(column)
        if (span := noise.around(panel.retrain, panel.noise)) is not None:
            figure.add_shape(noise.band(look, x=span, xref=f"x{axis}", yref=f"y{axis}"))
        for place, title in ((panel.retrain, "Retrain"), (panel.original, "Original")):
            if place is None:
                continue
            name, height = references.WRITTEN[title]
            figure.add_shape(
                type="line",
                x0=place,
                x1=place,
                y0=0,
                y1=1,
                xref=f"x{axis}",
                yref=f"y{axis} domain",
                line=references.line(title, look, 1.6),
            )
            axes.write(
                figure,
                f"{name} {number(place / 100, 'percent')}",
                look.text,
                x=place,
                y=1,
                xref=f"x{axis}",
                yref=f"y{axis} domain",
                yanchor="bottom",
                yshift=height,
                xanchor="left" if place < 25 else "right" if place > 75 else "center",
            )
        axes.write(
            figure,
            "%",
            look.muted,
            x=VALUES_END,
            y=1,
            xref=f"x{axis}",
            yref=f"y{axis} domain",
            yanchor="bottom",
            yshift=1,
            xanchor="right",
        )
        axes.write(
            figure,
            f"<b>{panel.title}, %</b>",
            look.text,
            size=14,
            x=0,
            y=1,
            xref=f"x{axis}",
            yref=f"y{axis} domain",
            yanchor="bottom",
            yshift=36,
            xanchor="left",
        )
        figure.update_xaxes(
            range=[VALUES_START, 102],
            tickvals=[0, 25, 50, 75, 100],
            zeroline=False,
            row=1,
            col=column,
        )
    figure.update_yaxes(
        type="category",
        categoryorder="array",
        categoryarray=names[::-1],
        showgrid=False,
        ticklabelstandoff=4,
        range=[-0.6, len(names) - 0.4],
    )
    labels = [_label(bar, look.muted) for bar in info.panels[0].bars] if info.panels else []
    figure.update_yaxes(
        tickfont={"size": 12, "color": look.text}, tickvals=names, ticktext=labels, row=1, col=1
    )
    height = BAR * len(names)
    below = axes.below(-36 / max(height, 1)) | {"font": {"size": 12}}
    room = 172 if legend else 106  # of the titles above and below, and of the legend
    figure.update_layout(
        height=height + room,
        showlegend=legend,
        legend=below,
        margin={"t": 66},
        barmode="overlay",
        bargap=0.25,
    )
    return figure


def _label(bar: Bar, muted: str) -> str:
    """The method's name, and its verdict."""
    return (
        f'{bar.title}  <span style="color:{muted};font-size:11px">{bar.verdict}</span>'
        if bar.verdict
        else bar.title
    )


def _family_trace(
    family: str, bars: Sequence[Bar], panel: Panel, *, dark: bool, selected: str
) -> go.Bar:
    look = theme.ground(dark)
    return go.Bar(
        orientation="h",
        x=[bar.value or 0.0 for bar in bars],
        y=[bar.title for bar in bars],
        name=families.title(family),
        legendgroup=family,
        customdata=[[bar.key, bar.line] for bar in bars],
        marker=families.bar(family, look, dark, [bar.line == selected for bar in bars]),
        error_x=intervals.bars([bar.half for bar in bars], look.muted)
        | {
            # an accuracy ends at 0 and 100, whatever a t-interval says
            "symmetric": False,
            "array": [min(bar.half or 0.0, 100 - (bar.value or 0.0)) for bar in bars],
            "arrayminus": [min(bar.half or 0.0, bar.value or 0.0) for bar in bars],
        },
        hovertext=[_hover(bar, panel) for bar in bars],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _value_column(panel: Panel, dark: bool) -> go.Scatter:
    """The numbers between names and bars: beside short bars, too, and where no line crosses
    them.
    """
    return go.Scatter(
        x=[VALUES_END] * len(panel.bars),
        y=[bar.title for bar in panel.bars],
        mode="text",
        text=[
            number(None if bar.value is None else bar.value / 100, "percent") for bar in panel.bars
        ],
        textposition="middle left",
        textfont={"size": 11, "color": theme.ground(dark).muted},
        hoverinfo="skip",
        showlegend=False,
    )


def _hover(bar: Bar, panel: Panel) -> str:
    if bar.value is None:
        return f"<b>{bar.title}</b><br>{panel.title}: {bar.reason}"
    half = "" if bar.half is None else f" ± {number(bar.half / 100, 'percent')}"
    lines = [f"<b>{bar.title}</b>", f"{panel.title}: {number(bar.value / 100, 'percent')}{half} %"]
    if panel.retrain is not None:
        lines.append(
            f"{number((bar.value - panel.retrain) / 100, 'percent', signed=True)} points to Retrain"
        )
    if bar.verdict:
        lines.append(f"verdict: {bar.verdict}")
    lines.append(
        units.count(bar.seeds, "training seed") + ("" if bar.status == "ok" else f", {bar.status}")
    )
    return "<br>".join(lines)


def alt_text(info: PoisonBarsInfo) -> str:
    """The figure in a few sentences, for a reader who cannot see it."""
    count = len(info.panels[0].bars) if info.panels else 0
    parts = [
        f"Bars of {units.count(count, 'method')}, {units.count(info.count, 'sample')} poisoned."
    ]
    for panel in info.panels:
        known = [(bar.value, bar.title) for bar in panel.bars if bar.value is not None]
        if known:
            low, high = min(known), max(known)
            lines = [
                f"{name} {number(place / 100, 'percent')} %"
                for name, place in (("Retrain", panel.retrain), ("Original", panel.original))
                if place is not None
            ]
            parts.append(
                f"{panel.title}: lowest {low[1]} with {number(low[0] / 100, 'percent')} %, "
                f"highest {high[1]} with {number(high[0] / 100, 'percent')} %"
                + (f"; {', '.join(lines)}." if lines else ".")
            )
    return " ".join(parts)
