"""Metrics against the size of the forget set, one panel a metric and one line a method (MUBox,
Figures 3 and 4).

x: samples to forget; y: percent (percentage points in the gap view), or the metric's own unit.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from dashboard import frames, theme
from dashboard.charts.parts import axes, families, intervals, noise, subplots
from dashboard.frames import Estimate, View
from dashboard.frames.budget import Curves, Line, gaps, unit
from dashboard.text import units as words
from dashboard.text.labels import Unit, number
from mucore import catalog

# A mark this many points from Retrain's at the same size is out of the crowded corner.
NEAR_POINTS = 10.0
COLOURED = 6  # methods in colour and with a name; Retrain and Original make eight
SCALES: Mapping[Unit, float] = {"percent": 100.0, "MB": 1e-6}
LONGEST = 20  # characters of a metric's title that fit on an axis
# Of a family's marker, so that its coloured methods can be told apart: open or not, and the size in
# pixels.
VARIANTS: tuple[tuple[str, float], ...] = (("", 10), ("-open", 10), ("", 6), ("-open", 6))
HOLLOW = (10.0, 6.0, 12.0, 8.0)  # the sizes of one that is always open
BROKEN = "x"  # marks a model that was damaged
GREY = 5.0  # size in pixels of a mark that is not coloured
REFERENCES = {"retrain": ("Retrain", "dash"), "original": ("Original", "dot")}


@dataclass(frozen=True)
class Mark:
    """One method at one size: `y` and half width of the 95 % t-interval in the panel's unit; `key`
    is the run that a click opens.
    """

    x: int
    y: float
    half: float | None
    seeds: int
    key: str
    status: str
    said: str = ""  # its verdict
    damaged: bool = False


@dataclass(frozen=True, kw_only=True)
class Ghost:
    """What a paper prints for a method at one size; `values` and `gaps` by metric, as results hold
    them. `source`: "MUBox, Table 1".
    """

    method: str
    x: int
    values: Mapping[str, float]
    gaps: Mapping[str, float]
    source: str


@dataclass(frozen=True)
class GhostMark:
    """A ghost in a panel, in the panel's unit; `line` is the line of its method."""

    line: str
    method: str
    title: str
    family: str
    symbol: str
    x: int
    y: float
    source: str


@dataclass(frozen=True)
class Series:
    """One line of a panel, by size; `symbol` and `pixels` are the marker's."""

    line: str
    method: str
    title: str
    family: str
    symbol: str
    pixels: float
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Panel:
    """One metric. `view` is "value" where the metric has no gap to Retrain; `missing` are titles
    without a mark.

    `y` holds every mark, `near` the marks close to Retrain's, `outside` the titles of which `near`
    leaves out a mark.
    """

    metric: str
    unit: Unit
    view: View
    series: tuple[Series, ...]
    y: tuple[float, float]
    near: tuple[float, float]
    outside: tuple[str, ...]
    missing: tuple[str, ...]
    ghosts: tuple[GhostMark, ...] = ()
    noise: tuple[tuple[int, float, float], ...] = ()  # (size, low, high) of Retrains of other seeds


@dataclass(frozen=True)
class BudgetCurvesInfo:
    """The panels; `sizes` and their share in words, `log` where they span over a decade, `coloured`
    the line ids with colour and name.
    """

    panels: tuple[Panel, ...]
    sizes: Mapping[int, str]
    log: bool
    coloured: frozenset[str]


def budget_curves_info(
    found: Curves, *, view: View, ghosts: Sequence[Ghost] = ()
) -> BudgetCurvesInfo:
    """The marks of all lines. In colour: the methods whose TA or FA moves most against Retrain;
    with one size, those nearest to Retrain.

    Of the `ghosts`, those whose method has a line here.
    """
    if len(found.sizes) == 1:
        order = sorted(found.methods, key=lambda line: line.order)
    else:
        order = sorted(found.methods, key=_span, reverse=True)
    coloured = frozenset(line.id for line in order[:COLOURED])
    markers = _markers(found.methods, coloured)
    panels = tuple(_panel(found, metric, view, markers, ghosts) for metric in found.metrics)
    low, high = (min(found.sizes), max(found.sizes)) if found.sizes else (1, 1)
    return BudgetCurvesInfo(panels, found.sizes, high > 10 * low, coloured)


def _span(line: Line) -> tuple[bool, float]:
    """Several sizes before one, and how far the gap in TA or FA moves over them, whichever moves
    more.
    """
    places = [gaps(line, metric).values() for metric in ("ta", "fa")]
    return len(line.steps) > 1, max(
        (max(each) - min(each) for each in places if each), default=-1.0
    )


def _markers(lines: Sequence[Line], coloured: frozenset[str]) -> dict[str, tuple[str, float]]:
    met: Counter[str] = Counter()
    made = {}
    for line in lines:
        symbol = theme.family_style(line.family).symbol
        made[line.id] = symbol, GREY
        if line.id in coloured:
            suffix, pixels = VARIANTS[met[line.family] % len(VARIANTS)]
            if families.hollow(line.family):
                suffix, pixels = "-open", HOLLOW[met[line.family] % len(HOLLOW)]
            made[line.id] = symbol.removesuffix("-open") + suffix, pixels
            met[line.family] += 1
    return made


def _panel(
    found: Curves,
    metric: str,
    view: View,
    markers: Mapping[str, tuple[str, float]],
    ghosts: Sequence[Ghost],
) -> Panel:
    shown: View = view if any(gaps(line, metric) for line in found.methods) else "value"
    scale = SCALES.get(unit(metric), 1.0)
    series, missing = [], []
    for line in found.lines:
        marks = []
        for step in line.steps:
            cell = step.cells[metric]
            place = cell.value
            if shown == "gap":
                place = (
                    cell.gap
                    if line.method != "retrain"
                    else Estimate(0.0, None, step.seeds)
                    if cell.value
                    else None
                )
            if place is not None:
                half = None if place.half is None else scale * place.half
                damaged = step.verdict is not None and step.verdict.word == "damaged"
                marks.append(
                    Mark(
                        step.count,
                        scale * place.mean,
                        half,
                        place.seeds,
                        step.keys[0],
                        step.status,
                        step.said,
                        damaged,
                    )
                )
        if marks:
            # the references' lines have no markers
            symbol, pixels = markers.get(line.id, ("circle", GREY))
            series.append(
                Series(line.id, line.method, line.title, line.family, symbol, pixels, tuple(marks))
            )
        else:
            missing.append(line.title)
    printed = _ghost_marks(series, metric, shown, ghosts)
    heights = [mark.y for each in series for mark in each.marks] + [mark.y for mark in printed]
    base = {mark.x: mark.y for each in series if each.method == "retrain" for mark in each.marks}
    reach = NEAR_POINTS if unit(metric) == "percent" else math.inf
    close = [
        mark.y
        for each in series
        for mark in each.marks
        if mark.x in base and abs(mark.y - base[mark.x]) <= reach
    ]
    near = _range(close or heights)
    outside = tuple(
        each.title
        for each in series
        if any(not near[0] <= mark.y <= near[1] for mark in each.marks)
    )
    return Panel(
        metric,
        unit(metric),
        shown,
        tuple(series),
        _range(heights),
        near,
        outside,
        tuple(missing),
        printed,
        _noise(found, metric, shown),
    )


def _noise(found: Curves, metric: str, view: View) -> tuple[tuple[int, float, float], ...]:
    """Of the metrics that are a property of the network: a cost varies with the machine."""
    if catalog.metric(metric).group == "cost":
        return ()
    scale, made = SCALES.get(unit(metric), 1.0), []
    for size in found.sizes:
        steps = [step for line in found.lines if (step := line.step(size)) is not None]
        rows = [step.row for step in steps if step.row.method == "retrain"]
        half = frames.noise(rows, metric)
        value = next((row.cells[metric].value for row in rows), None)
        if half is not None and value is not None:
            place = 0.0 if view == "gap" else value.mean
            made.append((size, scale * (place - half), scale * (place + half)))
    # nothing to see where all Retrains agree
    return tuple(made) if any(low < high for _, low, high in made) else ()


def _ghost_marks(
    series: Sequence[Series], metric: str, view: View, ghosts: Sequence[Ghost]
) -> tuple[GhostMark, ...]:
    """Retrain has no gap to itself; of several lines of a method, the first lends its symbol."""
    scale = SCALES.get(unit(metric), 1.0)
    lines = {each.method: each for each in reversed(series)}
    made = []
    for ghost in ghosts:
        line = lines.get(ghost.method)
        value = (ghost.gaps if view == "gap" else ghost.values).get(metric)
        if line is None or value is None or (view == "gap" and ghost.method == "retrain"):
            continue
        symbol = {"retrain": "star", "original": "hexagram"}.get(
            ghost.method, theme.family_style(line.family).symbol
        )
        open_symbol = f"{symbol.removesuffix('-open')}-open"
        made.append(
            GhostMark(
                line.line,
                ghost.method,
                line.title,
                line.family,
                open_symbol,
                ghost.x,
                scale * value,
                ghost.source,
            )
        )
    return tuple(made)


def _range(values: Sequence[float]) -> tuple[float, float]:
    """The range of marks, which may all be alike in any unit."""
    if not values:
        return 0.0, 1.0
    alike = min(values) == max(values)
    return axes.padded(values, 0.08, (0.05 * abs(values[0]) or 0.5) if alike else 0.0)


def draw(
    info: BudgetCurvesInfo, *, dark: bool, zoom: bool = False, selected: str = ""
) -> go.Figure:
    """The panels side by side; `zoom` shows what is near Retrain, `selected` is the line id to draw
    in colour whatever it is.
    """
    look = theme.ground(dark)
    figure = subplots.figure(cols=len(info.panels), horizontal_spacing=0.09, dark=dark)
    coloured = info.coloured | {selected}
    shown: set[str] = set()
    traces: list[dict[str, Any]] = []  # all at once: one by one, plotly checks each of them twice
    columns: list[int] = []
    for column, panel in enumerate(info.panels, start=1):
        if panel.noise:
            traces.append(noise.ribbon(look, panel.noise, named="noise" not in shown))
            shown.add("noise")
        # grey below colour, references on top
        for each in sorted(
            panel.series, key=lambda one: (one.family == "reference", one.line in coloured)
        ):
            vivid = each.line in coloured or each.family == "reference"
            trace = _trace(
                each, panel, info, dark=dark, vivid=vivid, selected=each.line == selected
            )
            traces.append(trace | {"showlegend": vivid and each.line not in shown})
            shown.add(each.line)
        for source in dict.fromkeys(mark.source for mark in panel.ghosts):
            trace = _ghost_trace(source, panel, coloured, dark=dark)
            traces.append(trace | {"showlegend": source not in shown})
            shown.add(source)
        columns += [column] * (len(traces) - len(columns))
        figure.update_yaxes(
            title=axis_title(panel),
            range=panel.near if zoom else panel.y,
            zeroline=False,
            row=1,
            col=column,
        )
    figure.add_traces(traces, rows=[1] * len(traces), cols=columns)
    places = [*info.sizes, *(mark.x for panel in info.panels for mark in panel.ghosts)]
    low, high = (min(places), max(places)) if places else (1, 1)
    ticks = {
        "tickmode": "array",
        "tickvals": list(info.sizes),
        "ticktext": [tick(*pair) for pair in info.sizes.items()],
    }
    kind = (
        {"type": "log"}
        if info.log
        else {"range": [low - 0.06 * (high - low or high), high + 0.06 * (high - low or high)]}
    )
    figure.update_xaxes(
        title="Samples to forget" + (" (log axis)" if info.log else ""), **ticks, **kind
    )
    legend = axes.below(-0.26) | {"font": {"size": 12}}
    figure.update_layout(height=470, legend=legend, margin={"t": 12})
    return figure


def tick(count: int, share: str) -> str:
    """The number of samples and, in a second line, the share that was asked for: "24", "20 %"."""
    return number(count, "count") + (f"<br>{share.partition(' of ')[0]}" if share else "")


def axis_title(panel: Panel) -> str:
    card = catalog.metric(panel.metric)
    if panel.view == "gap":
        return f"{card.short} gap to Retrain" + (
            ", points: 0 is ideal" if panel.unit == "percent" else ": 0 is ideal"
        )
    name = (
        card.short
        if len(card.title) > LONGEST
        else f"{card.title} ({card.short})"
        if card.short.isupper()
        else card.title
    )
    units = {"percent": ", %", "MB": ", MB", "seconds": ", s"}.get(panel.unit, "")
    goal = {
        "retrain": ": nearest to Retrain is best",
        "high": ": higher is better",
        "low": ": lower is better",
        "none": "",
    }[card.ideal]
    return name + units + goal


def _trace(
    each: Series, panel: Panel, info: BudgetCurvesInfo, *, dark: bool, vivid: bool, selected: bool
) -> dict[str, Any]:
    look, style = theme.ground(dark), theme.family_style(each.family)
    name, dash = REFERENCES.get(each.method, (each.title, style.dash))
    color = look.text if each.family == "reference" else style.color(dark) if vivid else look.muted
    xs, ys = [mark.x for mark in each.marks], [mark.y for mark in each.marks]
    reference = each.family == "reference"
    alone = len(info.sizes) == 1
    if reference and alone:  # one size gives no line, so the reference's is drawn across the panel
        xs, ys = [0.95 * xs[0], xs[0], 1.05 * xs[0]], ys * 3
    elif alone:
        xs = [xs[0] * (1 + _sideways(each, panel))]
    marks = each.marks * 3 if reference and alone else each.marks
    halves = [mark.half for mark in each.marks]
    return dict(
        type="scatter",
        x=xs,
        y=ys,
        name=name,
        legendgroup=each.line,
        mode="lines" if reference else "lines+markers",
        opacity=1.0 if vivid else 0.6,
        line={
            "color": color,
            "width": 3 if selected else 2 if vivid else 1,
            "dash": dash if reference else families.dash(each.family),
        },
        marker={"symbol": _symbols(each), "size": 12 if selected else each.pixels, "color": color},
        error_y=intervals.bars(halves, color)
        | {"visible": vivid and not reference and any(halves)},
        customdata=[[mark.key, each.line] for mark in marks],
        text=[_hover(mark, each, panel, info) for mark in marks],
        hovertemplate="%{text}<extra></extra>",
    )


def _symbols(each: Series) -> str | list[str]:
    """The line's marker, and a cross where the model broke, open where the marker is: of two
    methods of one colour the crosses differ, too.
    """
    if not any(mark.damaged for mark in each.marks):
        return each.symbol
    broken = f"{BROKEN}-open" if each.symbol.endswith("-open") else BROKEN
    return [broken if mark.damaged else each.symbol for mark in each.marks]


def _ghost_trace(
    source: str, panel: Panel, coloured: Collection[str], *, dark: bool
) -> dict[str, Any]:
    """Open marks in the colour of the method's line; they belong to no run, so a click opens
    nothing.
    """
    look, scale = theme.ground(dark), SCALES.get(panel.unit, 1.0)
    marks = [mark for mark in panel.ghosts if mark.source == source]
    vivid = [mark.line in coloured or mark.family == "reference" for mark in marks]
    colors = [
        theme.family_style(mark.family).color(dark) if one else look.muted
        for mark, one in zip(marks, vivid, strict=True)
    ]
    gap = panel.view == "gap"
    what = catalog.metric(panel.metric).short + (" gap" if gap else "")
    units = (" points" if gap else " %") if panel.unit == "percent" else ""
    return dict(
        type="scatter",
        x=[mark.x for mark in marks],
        y=[mark.y for mark in marks],
        name=source,
        legendgroup=source,
        mode="markers",
        marker={
            "symbol": [mark.symbol for mark in marks],
            "size": [13 if one else 8 for one in vivid],
            "color": colors,
            "line": {"width": 1.6, "color": colors},
        },
        customdata=[["", ""] for _ in marks],
        text=[
            (
                f"<b>{mark.title}</b> in {source}<br>{what} "
                f"{number(mark.y / scale, panel.unit, signed=gap)}{units}, as printed"
            )
            for mark in marks
        ],
        hovertemplate="%{text}<extra></extra>",
    )


def _sideways(each: Series, panel: Panel) -> float:
    """Where a mark stands beside its size, -0.04 to 0.04 of it, so that with one size none hides
    another.
    """
    methods = [one.line for one in panel.series if one.family != "reference"]
    return 0.08 * (methods.index(each.line) / (len(methods) - 1) - 0.5) if len(methods) > 1 else 0.0


def _hover(mark: Mark, each: Series, panel: Panel, info: BudgetCurvesInfo) -> str:
    share = f", {info.sizes[mark.x]}" if info.sizes[mark.x] else ""
    scale = SCALES.get(panel.unit, 1.0)
    gap = panel.view == "gap"
    value = number(mark.y / scale, panel.unit, signed=gap)
    half = "" if mark.half is None else f" ± {number(mark.half / scale, panel.unit)}"
    units = (
        (" points" if gap else " %")
        if panel.unit == "percent"
        else {"MB": " MB", "seconds": " s"}.get(panel.unit, "")
    )
    what = catalog.metric(panel.metric).short + (" gap" if gap else "")
    lines = [
        f"<b>{each.title}</b>",
        f"{words.count(mark.x, 'sample')}{share}",
        f"{what} {value}{half}{units}",
    ]
    lines += [mark.said] if mark.said else []
    lines.append(
        words.count(mark.seeds, "training seed")
        + ("" if mark.status == "ok" else f", {mark.status}")
    )
    return "<br>".join(lines)


def alt_text(info: BudgetCurvesInfo) -> str:
    """The figure in a few sentences, for a reader who cannot see it."""
    if not info.sizes or not any(panel.series for panel in info.panels):
        return "Metrics against the number of samples to forget; there is no value yet."
    low, high = min(info.sizes), max(info.sizes)
    span = (
        words.count(low, "sample")
        if low == high
        else f"{number(low, 'count')} to {words.count(high, 'sample')}"
    )
    parts = [
        (
            "Metrics against the number of samples to forget, "
            f"{words.count(len(info.sizes), 'budget')}, {span}."
        )
    ]
    for panel in info.panels:
        methods = [
            each for each in panel.series if each.family != "reference" and len(each.marks) > 1
        ]
        if methods:
            widest = max(
                methods,
                key=lambda each: (
                    max(mark.y for mark in each.marks) - min(mark.y for mark in each.marks)
                ),
            )
            scale = SCALES.get(panel.unit, 1.0)
            ends = [
                number(widest.marks[at].y / scale, panel.unit, signed=panel.view == "gap")
                for at in (0, -1)
            ]
            parts.append(
                f"{axis_title(panel)}: {widest.title} moves most, from {ends[0]} to {ends[1]}."
            )
        if panel.ghosts:
            sources = ", ".join(dict.fromkeys(mark.source for mark in panel.ghosts))
            parts.append(
                f"Open marks: {words.count(len(panel.ghosts), 'printed number')} ({sources})."
            )
    return " ".join(parts)
