"""A closer look at one run: its losses on forgotten persons and on those that nobody has seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.charts import histograms
from dashboard.frames import Row, verdict_text
from dashboard.frames import identity as identity_frames
from dashboard.frames.rows import references
from dashboard.widgets import figures, messages, run_facts
from dashboard.widgets.markdown import escape

AXIS: Final = "Loss, nats"
BINS: Final = 24
CUT: Final = 98.0  # percentile of all losses at which the axis ends


def show(rows: Sequence[Row], runs: pd.DataFrame) -> None:
    """The run in the address; where it names none, that of the method nearest to Retrain among the
    runs whose predictions were kept.
    """
    lines = runs.set_index("key")
    words = {row.id: f" ({verdict_text(row)})" if verdict_text(row) else "" for row in rows}
    titles = {key: row.title + words[row.id] for row in rows for key in row.keys}
    kept = [key for row in rows if not row.reference for key in row.keys if key in data.predicted()]
    key = state.param("run") if state.param("run") in titles else next(iter(kept), "")
    st.subheader("Losses of one run", anchor=False)
    if key not in data.predicted():
        messages.empty(
            "The predictions of this run were not kept, so its losses cannot be shown. Run it "
            "again in another home (--home) to see them.",
            "See the results",
            "results",
        )
        return
    kept_lines = lines[[one in data.predicted() for one in lines.index]]
    named = {titles[key]: key} | references(kept_lines, key)
    outputs = {title: data.outputs(one) for title, one in named.items()}
    found = {
        title: losses
        for title, each in outputs.items()
        if each is not None and (losses := identity_frames.losses(each)) is not None
    }
    st.caption(
        escape(f"{titles[key]}, {run_facts.seeds(lines.loc[key])}. Click a mark for another run.")
    )
    if not found:
        st.markdown("This data set has no images of persons that nobody has seen.")
        return
    every = np.concatenate([values for sets in found.values() for values in sets.values()])
    top = max(float(np.percentile(every, CUT)), 1e-3)
    bins = histograms.bins(found, np.linspace(0.0, top, BINS + 1))
    figure = histograms.draw(bins, axis=AXIS, up="Images, %", dark=state.dark())
    figures.chart(figure, "loss_histograms", alt=histograms.alt_text(bins, AXIS))
    figures.numbers(bins, "identity-losses", figure, of="losses")
