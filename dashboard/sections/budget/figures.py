"""The figures: distances on top, any other metric below, and what papers print of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import state
from dashboard.charts import budget_curves
from dashboard.charts.budget_curves import BudgetCurvesInfo, Ghost
from dashboard.frames import budget as budget_frames
from dashboard.papers import tables
from dashboard.sections.budget import panels
from dashboard.text import labels, units
from dashboard.widgets import clicks, run_filters
from dashboard.widgets.markdown import escape, metric_help
from mucore import catalog

Found = Mapping[str, budget_frames.Curves]
Panels = Mapping[str, BudgetCurvesInfo]
SAID = "Distance to Retrain, points (log). Lower is better."


def distances(found: Found, titles: Mapping[str, str]) -> list[go.Figure]:
    """The panels of distances, and which methods are grey in them."""
    made = {
        name: budget_curves.budget_curves_info(each, titles[name]) for name, each in found.items()
    }
    made = {name: panel for name, panel in made.items() if panel.series}
    if not made:
        st.markdown("No method has a distance to Retrain yet.")
        return []
    st.caption(SAID)
    drawn = draw(made, made, found, "budget_curves")
    vivid = {title for panel in made.values() for title in budget_curves.coloured(panel)}
    every = [each for panel in made.values() for each in panel.series]
    grey = dict.fromkeys(s.title for s in every if not s.reference and s.title not in vivid)
    notes = ["Thin bars: range over seeds."] * any(mark.span for s in every for mark in s.marks)
    notes += [f"Grey: {units.shortened([*grey], 8)}."] * bool(grey)
    st.caption(escape(" ".join(notes)))
    return drawn


def draw(made: Panels, colours: Panels, found: Found, key: str) -> list[go.Figure]:
    """Panels side by side on one scale, below each other in a narrow window; the panels of
    distances, `colours`, say what is in colour.
    """
    axis, run = budget_curves.up([*made.values()]), state.param("run")
    turns = budget_curves.dashes([*colours.values()])
    drawn = []
    with st.container(key=f"panels_{key}"):
        for start in range(0, len(made), 2):
            row = [*made.items()][start : start + 2]
            for column, (name, panel) in zip(
                st.columns(min(len(made), 2), gap="medium"), row, strict=False
            ):
                vivid = budget_curves.coloured(colours[name])
                line = found[name].line_of(run)
                figure = budget_curves.draw(
                    panel, axis, vivid, dark=state.dark(), turns=turns, selected=line
                )
                drawn.append(figure)
                with column:
                    alt = budget_curves.alt_text(panel)
                    clicks.chart(figure, f"{key}_{labels.short_id(name)}", alt=alt)
    return drawn


def metric(
    found: Found, runs: Mapping[str, pd.DataFrame], titles: Mapping[str, str]
) -> list[go.Figure]:
    """The metric that the reader chose; `found` has it alone."""
    name = next(iter(found.values())).metrics[0]
    view = run_filters.values_or_gaps()
    on = state.choice("paper", ["0", "1"]) == "1"
    ghosts = {panel: printed(each) if on else [] for panel, each in runs.items()}
    made = {
        panel: budget_curves.values(each, name, titles[panel], view=view, ghosts=ghosts[panel])
        for panel, each in found.items()
    }
    made = {panel: each for panel, each in made.items() if each.series}
    colours = {panel: budget_curves.budget_curves_info(each, "") for panel, each in found.items()}
    return draw(made, colours, found, "budget_metric")


def pick_metric(there: Sequence[str], runs: Mapping[str, pd.DataFrame]) -> str:
    """Which metric, as value or gap, and whether the papers' numbers stand beside it."""
    names = {name: catalog.metric(name).title for name in there}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        asked = state.choice("metric", there, "ta" if "ta" in there else None)
        chosen = state.select(
            "Metric",
            "metric",
            there,
            default="ta" if "ta" in there else None,
            format_func=names.__getitem__,
            help=metric_help(asked),
            width=300,
        )
        run_filters.pick_values_or_gaps()
        if any(printed(each) for each in runs.values()):
            help = " ".join(
                dict.fromkeys(note for each in runs.values() for note in captions(each))
            )
            state.toggle("Numbers of the papers", "paper", help=escape(help))
    return chosen


def captions(runs: pd.DataFrame) -> list[str]:
    return [content.caption for _, content in points(runs)]


def points(runs: pd.DataFrame) -> list[tuple[tables.Printed, tables.Published]]:
    line = runs.iloc[0]
    asked = {"dataset": str(line["dataset"]), "model": str(line["model"])}
    return tables.points(str(line["scenario"]), **asked)


def printed(runs: pd.DataFrame) -> list[Ghost]:
    """What papers print at a share of the class or the training set; nothing where these runs name
    numbers of samples.
    """
    whole = budget_frames.whole(runs)
    made = []
    for one, table in points(runs) if whole else ():
        for method in dict.fromkeys(method for method, _ in table.values):
            values, gaps = (
                {metric: value for (name, metric), value in content.items() if name == method}
                for content in (table.values, table.gaps)
            )
            place = round((one.amount or 0.0) * (whole or 0.0))
            source = f"{tables.NAMES[one.source]}, {one.table}"
            made.append(Ghost(method=method, x=place, values=values, gaps=gaps, source=source))
    return made


def table(found: Found, runs: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The numbers behind the figures, printed ones too where they are drawn."""
    frames = []
    for name, each in found.items():
        titled = budget_frames.numbers(each)
        titled.insert(0, "Forget", panels.short(name))
        frames.append(titled)
    return pd.concat(frames, ignore_index=True)
