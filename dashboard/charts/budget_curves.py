"""Distance to Retrain, or any metric, against the size of the forget set: a line a method, named at
its end (MUBox, Figures 3 and 4).

x: samples to forget, on a log axis; y: points of distance on a log axis, or the metric in its own
unit. Both as exponents where the axis is logarithmic.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import plotly.graph_objects as go

from dashboard import frames, theme
from dashboard.charts.parts import axes, end_labels, families, noise
from dashboard.charts.scatter import Axis
from dashboard.frames import View
from dashboard.frames.budget import Curves, Line, Step, unit
from dashboard.text import units as words
from dashboard.text.labels import Unit, number
from mucore import catalog

FLOOR: Final = 0.1  # points: the least that a log axis of distances shows
COLOURED: Final = 8  # methods in colour and with a name
DASHES: Final = ("solid", "dash", "dashdot", "longdash")  # of a family's coloured lines, by turns
REFERENCES: Final = {"retrain": "dash", "original": "dot"}
SCALES: Final[Mapping[Unit, float]] = {"percent": 100.0, "MB": 1e-6}
HEIGHT: Final = 470
TOP, BOTTOM = 34, 46  # margins


@dataclass(frozen=True)
class Mark:
    """One method at one size: `y` and what its thin bar spans, in the panel's unit; `key` is the
    run that a click opens.
    """

    x: int
    y: float
    span: tuple[float, float] | None
    key: str
    told: str


@dataclass(frozen=True)
class Series:
    """One line of a panel, by size."""

    line: str
    method: str
    title: str
    family: str
    marks: tuple[Mark, ...]

    @property
    def reference(self) -> bool:
        return self.family == "reference"


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


@dataclass(frozen=True, kw_only=True)
class BudgetCurvesInfo:
    """One scenario; `sizes` and their share in words. `log` is for distances. `ghosts` are places
    (series, x, y, source); `noise` (size, low, high) of Retrains of other seeds.
    """

    title: str
    sizes: Mapping[int, str]
    unit: Unit
    log: bool
    series: tuple[Series, ...]
    ghosts: tuple[tuple[Series, int, float, str], ...] = ()
    noise: tuple[tuple[int, float, float], ...] = ()

    @property
    def heights(self) -> list[float]:
        ends = [end for each in self.series for mark in each.marks for end in mark.span or ()]
        marks = [mark.y for each in self.series for mark in each.marks]
        return [*marks, *(ends if self.log else ()), *(y for _, _, y, _ in self.ghosts)]


def budget_curves_info(found: Curves, title: str) -> BudgetCurvesInfo:
    """Distances to Retrain in points; Retrain itself has none to draw."""

    def mark(line: Line, step: Step) -> Mark | None:
        if step.distance is None or line.method == "retrain":
            return None
        away = number(step.distance.mean, "percent")
        span = step.spread and (100 * step.spread[0], 100 * step.spread[1])
        return _mark(found, line, step, 100 * step.distance.mean, span, f"{away} points away")

    return BudgetCurvesInfo(
        title=title, sizes=found.sizes, unit="percent", log=True, series=_series(found, mark)
    )


def values(
    found: Curves, metric: str, title: str, *, view: View = "value", ghosts: Sequence[Ghost] = ()
) -> BudgetCurvesInfo:
    """Values of a metric, or its gaps to Retrain where it has some, with 95 % intervals over seeds;
    of the `ghosts` those whose method has a line here.
    """
    scale, short = SCALES.get(unit(metric), 1.0), catalog.metric(metric).short
    cells = [step.cells[metric] for line in found.methods for step in line.steps]
    gap = view == "gap" and any(cell.gap is not None for cell in cells)

    def mark(line: Line, step: Step) -> Mark | None:
        cell = step.cells[metric]
        place = cell.gap if gap and line.method != "retrain" else cell.value
        if place is None:
            return None
        mean = 0.0 if gap and line.method == "retrain" else scale * place.mean
        half = None if place.half is None else scale * place.half
        said = number(mean / scale, unit(metric), signed=gap)
        span = None if half is None else (mean - half, mean + half)
        return _mark(found, line, step, mean, span, f"{short}{' gap' * gap} {said}")

    series = _series(found, mark)
    lines = {each.method: each for each in reversed(series)}
    printed = [
        (lines[one.method], one.x, scale * content[metric], one.source)
        for one in ghosts
        if one.method in lines and not (gap and one.method == "retrain")
        if metric in (content := one.gaps if gap else one.values)
    ]
    return BudgetCurvesInfo(
        title=title,
        sizes=found.sizes,
        unit=unit(metric),
        log=False,
        series=series,
        ghosts=tuple(printed),
        noise=_noise(found, metric, scale, gap=gap),
    )


def _series(found: Curves, mark: Any) -> tuple[Series, ...]:
    made = []
    for line in found.lines:
        marks = tuple(each for step in line.steps if (each := mark(line, step)) is not None)
        if marks:
            made.append(Series(line.id, line.method, line.title, line.family, marks))
    return tuple(made)


def _mark(
    found: Curves, line: Line, step: Step, y: float, span: tuple[float, float] | None, said: str
) -> Mark:
    share = f", {found.sizes[step.count]}" if found.sizes[step.count] else ""
    seeds = words.count(step.seeds, "seed") + ("" if step.status == "ok" else f", {step.status}")
    lines = [f"<b>{line.title}</b>", words.count(step.count, "sample") + share, said, step.said]
    return Mark(step.count, y, span, step.keys[0], "<br>".join([*filter(None, lines), seeds]))


def _noise(
    found: Curves, metric: str, scale: float, *, gap: bool
) -> tuple[tuple[int, float, float], ...]:
    """Of the metrics that are a property of the network: a cost varies with the machine."""
    if catalog.metric(metric).group == "cost":
        return ()
    made = []
    for size in found.sizes:
        steps = [step for line in found.lines if (step := line.step(size)) is not None]
        rows = [step.row for step in steps if step.row.method == "retrain"]
        half = frames.noise(rows, metric)
        value = next((row.cells[metric].value for row in rows), None)
        if half is not None and value is not None:
            place = 0.0 if gap else value.mean
            made.append((size, scale * (place - half), scale * (place + half)))
    # nothing to see where all Retrains agree
    return tuple(made) if any(low < high for _, low, high in made) else ()


def coloured(panel: BudgetCurvesInfo) -> list[str]:
    """The titles of the methods in colour, of a panel of distances: those whose distance differs
    most from that of the original, which nobody touched.
    """
    lines = {each.method: each for each in reversed(panel.series) if each.reference}
    base = {mark.x: mark.y for mark in (lines["original"].marks if "original" in lines else ())}

    def apart(each: Series) -> float:
        ratios = [max(m.y, FLOOR) / max(base.get(m.x, 1.0), FLOOR) for m in each.marks]
        return sum(abs(math.log(ratio)) for ratio in ratios) / len(ratios)

    methods = [each for each in panel.series if not each.reference]
    chosen = sorted(methods, key=apart, reverse=True)[:COLOURED]
    return [each.title for each in methods if each in chosen]


def up(panels: Sequence[BudgetCurvesInfo]) -> Axis:
    """The axis that panels of one measure share."""
    heights = [height for panel in panels for height in panel.heights]
    if all(panel.log for panel in panels):
        low = max(FLOOR, min([FLOOR * 10, *heights]))
        return Axis(title="", low=low / 1.25, high=1.35 * max([low * 10, *heights]), log=True)
    alike = not heights or min(heights) == max(heights)
    low, high = axes.padded(heights, 0.08, 0.5 if alike else 0.0)
    return Axis(title="", low=low, high=high)


def draw(
    info: BudgetCurvesInfo,
    axis: Axis,
    vivid: Collection[str],
    *,
    dark: bool,
    turns: Mapping[str, str] | None = None,
    selected: str = "",
    height: int = HEIGHT,
) -> go.Figure:
    """One panel on the shared `axis`; `vivid` are the titles in colour, `turns` their dashes
    (`dashes`), `selected` is the id of a line in colour whatever it is.
    """
    look = theme.ground(dark)
    figure = axes.figure(dark=dark)
    if info.noise:
        spans = [(math.log10(x), low, high) for x, low, high in info.noise]
        figure.add_trace(noise.ribbon(look, spans, named=False))
    turns = turns or dashes([info])
    lines = {title: turns.get(title, "solid") for title in vivid}
    named: list[tuple[float, str, str]] = []
    shown = sorted(info.series, key=lambda each: (each.title in vivid, each.reference))
    figure.add_traces([_trace(each, axis, lines, dark, selected) for each in shown])
    for each in shown:
        if each.title in lines or each.line == selected or each.reference:
            color = look.text if each.reference else theme.family_style(each.family).color(dark)
            title = f"<b>{each.title}</b>" if each.reference else each.title
            named.append((axis.place(each.marks[-1].y), title, color))
    _bars(figure, [each for each in shown if each.title in lines], axis, info, dark)
    for source in dict.fromkeys(source for _, _, _, source in info.ghosts):
        figure.add_trace(_ghosts(info, source, axis, dark))
    places = [math.log10(x) for x in info.sizes]
    room = 0.05 * max(places[-1] - places[0], 0.3)
    titles = [title.removeprefix("<b>").removesuffix("</b>") for _, title, _ in named]
    figure.update_layout(
        height=height,
        showlegend=False,
        margin={"l": 8, "r": end_labels.margin(titles), "t": TOP, "b": BOTTOM},
    )
    figure.update_xaxes(
        range=[places[0] - room, places[-1] + room],
        zeroline=False,
        showline=False,
        tickvals=places,
        ticktext=[tick(*pair) for pair in info.sizes.items()],
    )
    figure.update_yaxes(**axis.layout())
    paper: dict[str, Any] = {"xref": "paper", "yref": "paper", "x": 0, "xanchor": "left"}
    head = axes.words(
        f"<b>{info.title}</b>", look.text, size=15, y=1, yanchor="bottom", yshift=8, **paper
    )
    foot = axes.words(across(info), look.muted, size=13, y=0, yanchor="top", yshift=-24, **paper)
    axes.put(figure, [head, foot])
    end_labels.write(figure, places[-1], named, axis.span, height - TOP - BOTTOM, look)
    return figure


def tick(count: int, share: str) -> str:
    """The share that was asked for, or the number of samples."""
    return share.partition(" of ")[0] or number(count, "count")


def across(panel: BudgetCurvesInfo) -> str:
    """What the x axis says: "Share of the class (log): 20 to 200 images"."""
    low, high = (number(count, "count") for count in (min(panel.sizes), max(panel.sizes)))
    whole = next(iter(panel.sizes.values())).partition(" of ")[2]
    return f"{f'Share of {whole}' if whole else 'Samples'} to forget (log): {low} to {high}"


def dashes(panels: Sequence[BudgetCurvesInfo]) -> dict[str, str]:
    """How the line of each method in colour of some panel is dashed, by its title: the second of a
    family is not as the first.
    """
    vivid = {title for panel in panels for title in coloured(panel)}
    turns: dict[str, int] = {}
    made = {}
    for each in {each.title: each for panel in panels for each in panel.series}.values():
        if each.title in vivid:
            turn = turns[each.family] = turns.get(each.family, -1) + 1
            always = families.hollow(each.family)
            made[each.title] = families.dash(each.family) if always else DASHES[turn % len(DASHES)]
    return made


def _trace(
    each: Series, axis: Axis, lines: Mapping[str, str], dark: bool, selected: str
) -> dict[str, Any]:
    look, style = theme.ground(dark), theme.family_style(each.family)
    chosen = each.line == selected
    vivid = each.title in lines or chosen
    color = look.text if each.reference else style.color(dark) if vivid else look.muted
    dash = REFERENCES.get(each.method) if each.reference else lines.get(each.title, "solid")
    return dict(
        type="scatter",
        x=[math.log10(mark.x) for mark in each.marks],
        y=[axis.place(mark.y) for mark in each.marks],
        name=each.title,
        mode="lines" if each.reference else "lines+markers",
        opacity=1.0 if vivid or each.reference else 0.45,
        line={"color": color, "width": 3 if chosen else 2 if vivid else 1.5, "dash": dash},
        marker={
            "symbol": style.symbol,
            "size": 11 if chosen else 9 if vivid else 4,
            "color": color,
            "line": {"width": 1 if vivid else 0, "color": look.background},
        },
        customdata=[[mark.key, each.line] for mark in each.marks],
        text=[mark.told for mark in each.marks],
        hovertemplate="%{text}<extra></extra>",
    )


def _bars(
    figure: go.Figure, shown: Sequence[Series], axis: Axis, panel: BudgetCurvesInfo, dark: bool
) -> None:
    """A thin upright bar for what several seeds span, those of one size side by side."""
    places = [math.log10(x) for x in panel.sizes]
    step = 0.009 * max(places[-1] - places[0], 0.3)
    figure.layout.shapes = [
        {
            "type": "line",
            "x0": (x := math.log10(mark.x) + step * (number - (len(shown) - 1) / 2)),
            "x1": x,
            "y0": axis.place(mark.span[0]),
            "y1": axis.place(mark.span[1]),
            "line": {"width": 1.6, "color": theme.family_style(each.family).color(dark)},
            "opacity": 0.5,
            "layer": "below",
            "name": "seeds",
        }
        for number, each in enumerate(shown)
        for mark in each.marks
        if mark.span is not None
    ]


def _ghosts(panel: BudgetCurvesInfo, source: str, axis: Axis, dark: bool) -> dict[str, Any]:
    """Open marks in the colour of the method's line; they belong to no run, so a click opens
    nothing.
    """
    mine = [(each, x, y) for each, x, y, name in panel.ghosts if name == source]
    styles = [theme.family_style(each.family) for each, _, _ in mine]
    scale = SCALES.get(panel.unit, 1.0)
    return dict(
        type="scatter",
        x=[math.log10(x) for _, x, _ in mine],
        y=[axis.place(y) for _, _, y in mine],
        name=source,
        mode="markers",
        marker={
            "symbol": [f"{style.symbol.removesuffix('-open')}-open" for style in styles],
            "size": 12,
            "line": {"width": 1.6},
            "color": [style.color(dark) for style in styles],
        },
        customdata=[["", ""] for _ in mine],
        text=[
            f"<b>{each.title}</b> in {source}<br>{number(y / scale, panel.unit)}"
            for each, _, y in mine
        ],
        hovertemplate="%{text}<extra></extra>",
    )


def alt_text(info: BudgetCurvesInfo) -> str:
    """The info in a sentence or two, for a reader who cannot see it."""
    ends = {each.title: each.marks[-1].y for each in info.series if not each.reference}
    scale = SCALES.get(info.unit, 1.0)
    said = f"{info.title}: {words.count(len(ends), 'line')} over {len(info.sizes)} budgets."
    if not ends:
        return said
    low, high = min(ends, key=ends.__getitem__), max(ends, key=ends.__getitem__)
    lowest, highest = (number(ends[name] / scale, info.unit) for name in (low, high))
    return f"{said} At the largest {low} is lowest, {lowest}, and {high} highest, {highest}."
