"""How often each class is in every split (competition, Figure 2)."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.charts import class_histograms
from dashboard.frames.quality import Found
from dashboard.widgets import figures
from mucore import catalog


def show(runs: pd.DataFrame, found: Found) -> None:
    """Behind a head that opens it, from the counts that a retrained model's run keeps; nothing
    where they were not kept.
    """
    result = data.result(found.retrained[0])
    names = catalog.dataset(str(runs.iloc[0]["dataset"])).class_names
    info = class_histograms.class_histograms_info(result.confusion if result else {}, names)
    if info is None:
        return
    with st.expander("How often each class is in the data", icon=":material/bar_chart:"):
        figure = class_histograms.draw(info, dark=state.dark())
        figures.chart(figure, "class_histograms", alt=class_histograms.alt_text(info))
        name = f"classes-{runs.iloc[0]['scenario']}"
        figures.numbers(class_histograms.table(info), name, figure, of="classes")
