"""Three pictures of the results, each a link to the page that it is of."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import data, frames, state
from dashboard.charts import cost_distance, start_tiles
from dashboard.charts.cost_distance import CostDistanceInfo, cost_distance_info
from dashboard.frames import start as start_frames
from dashboard.frames.rows import metric_rows
from dashboard.widgets import figures, messages, run_filters
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape
from mucore.verdicts import rules_of

AUTHORS = "authors"
LESSON = "forget-one-class"  # its second step is what the first two pictures show


def show() -> None:
    runs = data.unlearning_runs()
    usual = run_filters.usual_runs(runs) if len(runs) else runs
    if not run_filters.methods_of(usual):
        messages.empty("No results yet.", "Launch a comparison", "launch")
        return
    source, dark = data.source(), state.dark()
    # what the authors' settings do elsewhere shows best what may go wrong
    authors = run_filters.usual_runs(runs, AUTHORS)
    far, scored = marks(authors, source.name, source.change, data.chosen(authors))
    costs = prices(usual, source.name, source.change, data.chosen(usual))
    columns = st.columns(3, gap="small")
    if far:
        away = [100 * (row.away or 0.0) for row in far]
        axis = "Distance to Retrain, points"
        figure = start_tiles.values(far, away, 0.0, axis, dark=dark)
        said = "It never saw the data: the nearer a method ends, the better it forgot."
        with columns[0]:
            alt = start_tiles.alt_text(far, away, axis)
            tile("Retrain is the yardstick", said, figure, alt, "lessons", lesson=LESSON)
    if scored:
        shares = [100 * value.mean for row in scored if (value := row.cells["ta"].value)]
        axis = "Test accuracy, %"
        figure = start_tiles.values(scored, shares, shares[-1], axis, dark=dark)
        said = f"{scored[-2].title} still knows what it should forget, and the test asks for it."
        with columns[1]:
            alt = start_tiles.alt_text(scored, shares, axis)
            title = "Accuracy proves nothing"
            tile(title, said, figure, alt, "lessons", lesson=LESSON, step="2")
    if costs.dots:
        figure = start_tiles.price(costs, dark=dark)
        said = f"{len(costs.dots)} methods. Best is bottom left: near Retrain at little cost."
        with columns[2]:
            tile("Forgetting has a price", said, figure, cost_distance.alt_text(costs))


def tile(
    title: str, said: str, figure: go.Figure, alt: str, page: str = "results", **query: str
) -> None:
    """A frame that leads to a page wherever it is clicked."""
    name = f"tile-{title.split()[0].lower()}"
    with st.container(border=True, height="stretch", gap="xsmall", key=name):
        link(page, title, **query)
        st.caption(escape(said))
        figures.chart(figure, f"{name}-figure", alt=alt)


# In both, `name`, `change` and `chosen` say which runs, so that the frame needs no hashing.
@st.cache_data(show_spinner=False, max_entries=8)
def marks(
    _runs: pd.DataFrame, name: str, change: int, chosen: str
) -> tuple[list[frames.Row], list[frames.Row]]:
    """Distances and test accuracies of one setting of the methods."""
    rows = metric_rows(_runs, values_of(_runs), ["ta"], judged=data.judged(_runs))
    return start_frames.distances(rows, run_filters.KNOWN), start_frames.accuracies(rows)


@st.cache_data(show_spinner=False, max_entries=8)
def prices(_runs: pd.DataFrame, name: str, change: int, chosen: str) -> CostDistanceInfo:
    scenario = str(_runs.iloc[0]["scenario"])
    values = values_of(_runs)
    rows = metric_rows(_runs, values, ["rte", "rte_work"], judged=data.judged(_runs))
    return cost_distance_info(rows, frames.apart(_runs, values, rules_of(scenario).metrics))


def values_of(runs: pd.DataFrame) -> pd.DataFrame:
    first = runs.iloc[0]
    every = data.metric_values(dataset=str(first["dataset"]), scenario=str(first["scenario"]))
    return every[every["key"].isin(runs["key"])]
