"""What the runs of a method reached, setting by setting."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from dashboard import data, frames, state
from dashboard.charts import cost_distance
from dashboard.widgets import clicks, columns, figures, header
from mucore.catalog import MethodCard


def show(card: MethodCard, runs: pd.DataFrame) -> None:
    """The figure of Results, with a mark a setting, and its table; both open runs."""
    values = data.metric_values(method=card.id)
    rows = frames.method_settings(runs, values, method=card.id, judged=data.judged(runs))
    info = cost_distance.cost_distance_info(rows)
    # of a mark's setting the scenario and its amount, in full under the cursor
    dots = [
        replace(dot, title=dot.title.partition(",")[0], told=f"{dot.title}<br>{dot.told}")
        for dot in info.dots
    ]
    info = replace(info, dots=tuple(dots))
    figure = None
    if info.dots:
        header.verdict_bar(rows)
        figure = cost_distance.draw(
            info, dark=state.dark(), selected=state.param("run"), most=10, height=440
        )
        clicks.chart(figure, "method_settings", alt=cost_distance.alt_text(info))
        st.caption("A mark is one setting. Hollow: indicated, more seeds may change the verdict.")
    table = frames.settings_frame(rows)
    keys = pd.DataFrame({"key": [row.id for row in rows]})
    clicks.runs_table(keys, table, "method_runs", column_config=columns.aligned(table))
    figures.numbers(table, f"method-{card.id}", figure)
