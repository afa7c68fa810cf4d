"""One method over all its settings: FA gap, TA gap and RTE side by side, Retrain as the dashed
line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, intervals, noise, references, subplots
from dashboard.frames import Estimate, Setting
from dashboard.text import verdicts
from dashboard.text.labels import number

LONG = 36  # characters of a label in one line
PANELS = ("FA gap, points", "TA gap, points", "RTE, Retrain: 1")


@dataclass(frozen=True)
class Panel:
    """Means and half widths in the panel's unit, one a setting; None where a setting has no value.
    `noise`: half of the band of Retrain against Retrain there.
    """

    title: str
    means: tuple[float | None, ...]
    halves: tuple[float | None, ...]
    retrain: float
    noise: tuple[float | None, ...] = ()


@dataclass(frozen=True)
class MethodSettingsInfo:
    labels: tuple[str, ...]
    panels: tuple[Panel, Panel, Panel]
    keys: tuple[str, ...]  # of the run that a click opens, one a setting
    # beside each setting, in lines: verdict, distance to Retrain, how runs ended where not well
    outcomes: tuple[tuple[str, ...], ...]
    qualified: tuple[bool, ...]  # whether the method forgot there, in runs that all ended well


def method_settings_info(settings: Sequence[Setting]) -> MethodSettingsInfo:
    """Gaps in points, RTE as it is; the dashed line is at 0, 0 and 1."""
    forget, test = (
        replace(
            _panel(title, [setting.cells[name].gap for setting in settings], 100, 0.0),
            noise=tuple(
                None if (half := setting.noise.get(name)) is None else 100 * half
                for setting in settings
            ),
        )
        for title, name in ((PANELS[0], "fa"), (PANELS[1], "ta"))
    )
    cost = _panel(PANELS[2], [setting.cells["rte"].value for setting in settings], 1, 1.0)
    return MethodSettingsInfo(
        labels=tuple(setting.label for setting in settings),
        panels=(forget, test, cost),
        keys=tuple(setting.key for setting in settings),
        outcomes=tuple(_outcome(setting) for setting in settings),
        qualified=tuple(
            setting.status == "ok" and setting.verdict is not None and setting.verdict.qualified
            for setting in settings
        ),
    )


def _outcome(setting: Setting) -> tuple[str, ...]:
    verdict = "" if setting.verdict is None else verdicts.text(setting.verdict)
    away = (
        ""
        if setting.verdict is None or setting.distance is None
        else f"{number(setting.distance.mean, 'percent')} points"
    )
    status = "" if setting.status == "ok" else setting.status
    return tuple(part for part in (verdict, ", ".join(filter(None, (away, status)))) if part)


def _panel(title: str, estimates: Sequence[Estimate | None], scale: float, retrain: float) -> Panel:
    means = tuple(None if e is None else scale * e.mean for e in estimates)
    halves = tuple(None if e is None or e.half is None else scale * e.half for e in estimates)
    return Panel(title, means, halves, retrain)


def draw(info: MethodSettingsInfo, *, family: str, dark: bool) -> go.Figure:
    """Three dot plots over shared rows."""
    style, look = theme.family_style(family), theme.ground(dark)
    color = style.color(dark)
    figure = subplots.figure(cols=3, shared_yaxes=True, horizontal_spacing=0.04, dark=dark)
    bands = [
        noise.band(look, x=span, y=(line - 0.4, line + 0.4), xref=f"x{end}", yref=f"y{end}")
        for place, panel in enumerate(info.panels, start=1)
        for line, half in enumerate(panel.noise)
        for end in (subplots.ending(place),)
        if (span := noise.around(panel.retrain, half)) is not None
    ]
    retrain = references.line("Retrain", look, 1.2)
    lines = [
        subplots.upright(number, panel.retrain, retrain) for number, panel in enumerate(info.panels)
    ]
    figure.update_layout(shapes=[*bands, *lines])
    for place, panel in enumerate(info.panels, start=1):
        figure.add_trace(
            go.Scatter(
                x=panel.means,
                y=info.labels,
                mode="markers",
                customdata=[[key] for key in info.keys],
                marker={"symbol": style.symbol, "size": 11, "color": color, "opacity": 1},
                unselected={"marker": {"opacity": 1}},
                error_x=intervals.bars(panel.halves, color),
                hovertemplate="%{y}<br>%{x:.3g}<extra></extra>",
                showlegend=False,
            ),
            row=1,
            col=place,
        )
        figure.update_xaxes(
            title=panel.title.replace(", ", ",<br>", 1), zeroline=False, row=1, col=place
        )
    figure.update_xaxes(rangemode="tozero", row=1, col=3)
    axes.write(
        figure,
        "Retrain",
        look.text,
        x=info.panels[0].retrain,
        y=1,
        yref="paper",
        xref="x",
        yshift=12,
    )
    figure.update_yaxes(
        autorange="reversed", type="category", categoryorder="array", categoryarray=info.labels
    )
    figure.update_yaxes(
        tickmode="array",
        tickvals=info.labels,
        ticktext=[in_two_lines(label) for label in info.labels],
    )
    figure.update_layout(height=130 + 42 * len(info.labels), margin={"t": 28})
    if any(info.outcomes):
        _write_outcomes(figure, info, look.text)
    return figure


def _write_outcomes(figure: go.Figure, info: MethodSettingsInfo, color: str) -> None:
    """Verdicts and distances to the right of the panels, bold where the method forgot."""
    place: dict[str, Any] = {
        "xref": "paper",
        "x": 1,
        "xanchor": "left",
        "xshift": 10,
        "align": "left",
    }
    words = [axes.words("Verdict", color, y=1, yref="paper", yshift=12, **place)]
    for label, (first, *rest), bold in zip(
        info.labels, (each or ("",) for each in info.outcomes), info.qualified, strict=True
    ):
        said = "<br>".join([f"<b>{first}</b>" if bold else first, *rest])
        words.append(axes.words(said, color, y=label, yref="y", **place))
    axes.put(figure, words)
    figure.update_layout(margin={"r": 120})


def in_two_lines(label: str) -> str:
    """A long label broken at the dot that leaves the shorter lines, or the panels would get no
    room.
    """
    parts = label.split(" · ")
    if len(label) <= LONG or len(parts) == 1:
        return label
    breaks = [
        (" · ".join(parts[:place]), " · ".join(parts[place:])) for place in range(1, len(parts))
    ]
    return "<br>".join(min(breaks, key=lambda lines: max(map(len, lines))))


def alt_text(info: MethodSettingsInfo) -> str:
    known = [
        (abs(value), label)
        for value, label in zip(info.panels[0].means, info.labels, strict=True)
        if value is not None
    ]
    if not known:
        return "Gaps to Retrain by setting; nothing measured yet."
    near, far = min(known), max(known)
    return (
        f"Dot plot over {len(info.labels)} settings of the gap to Retrain in forget accuracy and "
        f"test accuracy, and of relative time. Smallest forget-accuracy gap: {near[1]}, "
        f"{near[0]:.1f} points; largest: {far[1]}, {far[0]:.1f} points."
    )
