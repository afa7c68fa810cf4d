"""How often each class is in every split."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.charts import class_histograms
from dashboard.frames.quality import Found
from dashboard.widgets import figures
from mucore import catalog


def show(runs: pd.DataFrame, found: Found) -> None:
    """How often each class is in every split (competition, Figure 2), from the counts that a
    retrained model's run keeps.
    """
    st.subheader("How often each class is in the data", anchor=False)
    result = data.result(found.retrained[0])
    names = catalog.dataset(str(runs.iloc[0]["dataset"])).class_names
    info = class_histograms.class_histograms_info(result.confusion if result else {}, names)
    if info is None:
        st.markdown("The counts of these runs were not kept. Every new run keeps them.")
        return
    st.caption(
        "As in the competition's Figure 2. Where the forget set has other classes than the retain "
        "set, forgetting affects some classes more than others."
    )
    figure = class_histograms.draw(info, dark=state.dark())
    figures.chart(figure, "class_histograms", alt=class_histograms.alt_text(info))
    figures.numbers(
        class_histograms.table(info), f"classes-{runs.iloc[0]['scenario']}", figure, of="classes"
    )
