"""Three pictures of the results, each a link to the page that it is of."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import data, frames, state
from dashboard.charts import cost_distance, start_tiles
from dashboard.frames import start as start_frames
from dashboard.frames.start import Mark
from dashboard.widgets import figures, messages, run_filters
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape
from mucore import catalog
from mucore.verdicts import rules_of

AUTHORS = "authors"


@dataclass(frozen=True)
class Found:
    """What a tile can show of one setting of the methods."""

    distances: tuple[Mark, ...]
    accuracies: tuple[Mark, ...]
    costs: cost_distance.CostDistanceInfo


def show() -> None:
    runs = data.unlearning_runs()
    usual = run_filters.usual_runs(runs) if len(runs) else runs
    if not run_filters.methods_of(usual):
        messages.empty("No results yet.", "Launch a comparison", "launch")
        return
    source, dark = data.source(), state.dark()
    # what the authors' settings do elsewhere shows best what may go wrong
    authors = run_filters.usual_runs(runs, AUTHORS)
    first, last = (
        found(each, source.name, source.change, data.chosen(each)) for each in (authors, usual)
    )
    query = {"settings": AUTHORS} if len(authors) != len(usual) else {}
    far, scored, costs = first.distances, first.accuracies, last.costs
    columns = st.columns(3, gap="small")
    if far:
        said, alt = "Distance to it in points", start_tiles.alt_text(far, "Points from Retrain")
        figure = start_tiles.distances(far, dark=dark)
        with columns[0]:
            tile("Retrain is the yardstick", f"{said}{_whose(query)}.", figure, alt, **query)
    if scored:
        idle = scored[1].title if len(scored) > 2 else scored[0].title
        alt = start_tiles.alt_text(scored, "Test accuracy in %")
        figure = start_tiles.accuracies(scored, dark=dark)
        said = f"{idle} did not forget, and scores highest on the test set."
        with columns[1]:
            tile("Accuracy proves nothing", said, figure, alt, **query)
    if costs.dots:
        figure = start_tiles.price(costs, dark=dark)
        count = len(costs.dots)
        with columns[2]:
            alt = cost_distance.alt_text(costs)
            tile("Forgetting has a price", f"Distance against cost, {count} methods.", figure, alt)


def _whose(query: dict[str, str]) -> str:
    return ", authors' settings" if query else ""


def tile(title: str, said: str, figure: go.Figure, alt: str, **query: str) -> None:
    """A frame that leads to Results wherever it is clicked."""
    name = f"tile-{title.split()[0].lower()}"
    with st.container(border=True, height="stretch", gap="xsmall", key=name):
        link("results", title, **query)
        st.caption(escape(said))
        figures.chart(figure, f"{name}-figure", alt=alt)


@st.cache_resource(show_spinner=False, max_entries=8)
def found(_runs: pd.DataFrame, name: str, change: int, chosen: str) -> Found:
    """`name`, `change` and `chosen` say which runs, so that the frame needs no hashing."""
    first = _runs.iloc[0]
    scenario = catalog.scenario(str(first["scenario"]))
    values = data.metric_values(dataset=str(first["dataset"]), scenario=scenario.id)
    table = frames.results_table(
        _runs,
        values[values["key"].isin(_runs["key"])],
        view="value",
        class_wise=scenario.class_wise,
        judged=data.judged(_runs),
    )
    return Found(
        distances=tuple(start_frames.distances(table.rows, run_filters.KNOWN)),
        accuracies=tuple(start_frames.accuracies(table.rows)),
        costs=cost_distance.cost_distance_info(
            table, frames.apart(_runs, values, rules_of(scenario.id).metrics)
        ),
    )
