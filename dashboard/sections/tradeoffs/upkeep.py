"""What methods take over many requests: who prepares something once, and when that pays."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data, frames, state
from dashboard.charts import amortised_cost
from dashboard.frames import tradeoffs as tradeoffs_frames
from dashboard.frames.budget import launch_query
from dashboard.widgets import clicks, columns, figures, header, messages, run_drawer
from dashboard.widgets.markdown import escape, metric_help


def show(
    source: data.Source,
    runs: pd.DataFrame,
    answer: st.delta_generator.DeltaGenerator,
    line: st.delta_generator.DeltaGenerator,
) -> None:
    """One setting's methods."""
    found, unknown = costs(runs, source.name, source.change, data.chosen(runs))
    if found.empty:
        messages.empty(
            "No method forgot and has all its costs measured here.",
            "Launch a comparison",
            "launch",
            **launch_query(runs, ()),
        )
        return
    with answer:
        header.answer(tradeoffs_frames.upkeep_sentence(found))
    figure = amortised_cost.draw(found, dark=state.dark(), selected=state.param("run"))
    clicks.chart(figure, "amortised_cost", alt=amortised_cost.alt_text(found))
    frame = tradeoffs_frames.upkeep_frame(found)
    help_of = {
        "Kept, MB": metric_help("persistent_bytes"),
        "One-off cost (Retrains)": metric_help("prepared_seconds"),
        "Cost per request (Retrains)": (
            f"{metric_help('rte')}\n\nWith: {metric_help('prepared_for_request_seconds')}"
        ),
    }
    settings = {name: st.column_config.Column(help=text) for name, text in help_of.items()}
    st.dataframe(frame, hide_index=True, column_config=columns.aligned(frame, settings))
    if unknown:
        st.caption(escape(f"Not all costs measured: {', '.join(unknown)}."))
    run_drawer.run_drawer(runs)
    figures.numbers(frame, "requests", figure)


@st.cache_data(show_spinner=False, max_entries=16)
def costs(
    _runs: pd.DataFrame, name: str, change: int, chosen: str
) -> tuple[pd.DataFrame, list[str]]:
    """`frames.tradeoffs.upkeep` of the runs; `name`, `change` and `chosen` say which."""
    first = _runs.iloc[0]
    values = data.metric_values(dataset=str(first["dataset"]), scenario=str(first["scenario"]))
    rows = frames.metric_rows(_runs, values, tradeoffs_frames.COSTS, judged=data.judged(_runs))
    return tradeoffs_frames.upkeep(rows)
