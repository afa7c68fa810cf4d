"""A lesson's numbers in percent: a row a model, a panel a metric, or of one metric a panel a forget
set. Marks have the colour of their verdict once the step tells verdicts.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, replace

import plotly.graph_objects as go

from dashboard.charts import dots
from dashboard.charts.dots import Line, Mark, Panel
from dashboard.lessons.records import Figure
from dashboard.lessons.results import KNN, Entry, LessonResults
from dashboard.text import verdicts
from mucore import catalog
from mucore.metrics.sanity import GUESS
from mucore.runs import REFERENCES

# What a panel says on top, where the card's title is too long for it.
HEADS = {
    "asr_others": "Attack success rate",
    "mia_confidence": "Attack: called unseen",
    "mia_confidence_auc": "Attack: AUC",
    "linear_probe": "Probe on forgotten class",
    KNN: "Neighbours on forgotten class",
}
LETTERS = 90  # of titles side by side over all panels; below each other each has its line
ROW, REST = 44, 90  # pixels from row to row, and of the rest of the figure
LINE = 16  # of a title's further line
AXIS = "%"


@dataclass(frozen=True)
class LessonDotsInfo:
    lines: tuple[Line, ...]
    panels: tuple[Panel, ...]


def lesson_dots_info(
    results: LessonResults, figure: Figure, *, judged: bool = False
) -> LessonDotsInfo:
    """The references and the figure's methods, in the results' order."""
    places = [(metric, scenario) for scenario in figure.scenarios for metric in figure.metrics]
    titles = {one.method: one.title for one in results.entries if one.scenario in figure.scenarios}
    several, first = len(figure.scenarios) > 1, figure.scenarios[0]
    lines = []
    for method in (name for name in titles if name in (*REFERENCES, *figure.methods)):
        entries = {scenario: results.entry(method, scenario) for scenario in figure.scenarios}
        marks = tuple(_mark(entries[scenario], metric) for metric, scenario in places)
        entry = None if several or not judged else entries[first]
        verdict = entry.verdict if entry is not None else None
        fate = "" if method in REFERENCES else verdicts.fate(verdict) if verdict else "cannot tell"
        shown = verdict is None or not verdict.provisional
        lines.append(Line(key="", title=titles[method], marks=marks, fate=fate, shown=shown))
    panels = [
        Panel(
            name=metric,
            title=catalog.scenario(scenario).title if several else head(metric),
            span=(0, 100),
            base=percent(results.value("retrain", metric, scenario)),
            half_band=percent(results.noise(metric, scenario)),
            ticks=(0, 50, 100),
        )
        for metric, scenario in places
    ]
    return LessonDotsInfo(tuple(lines), tuple(panels))


def _mark(entry: Entry | None, metric: str) -> Mark | None:
    if entry is None:
        return None
    if metric in entry.values:
        return Mark(percent(entry.values[metric]))
    return Mark(None) if entry.reasons.get(metric) == GUESS else None


def percent(value: float | None) -> float | None:
    return None if value is None else 100 * value


def head(metric: str) -> str:
    """What a lesson calls a metric: in words that its steps explain."""
    return HEADS.get(metric) or catalog.metric(metric).title


def draw(info: LessonDotsInfo, *, dark: bool, stacked: bool = False) -> go.Figure:
    letters = LETTERS if stacked else LETTERS // len(info.panels)
    heads = [textwrap.wrap(panel.title, letters) for panel in info.panels]
    panels = [
        replace(panel, title="<br>".join(lines))
        for panel, lines in zip(info.panels, heads, strict=True)
    ]
    least = ROW * len(info.lines) + REST
    figure = dots.draw(info.lines, panels, axis=AXIS, dark=dark, stacked=stacked, least=least)
    more = LINE * (max(map(len, heads)) - 1)
    return figure.update_layout(margin_t=figure.layout.margin.t + more)


def alt_text(info: LessonDotsInfo) -> str:
    return dots.alt_text(info.lines, info.panels, AXIS)
