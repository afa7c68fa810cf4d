"""What the runs of a method reached, setting by setting."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data, frames, state
from dashboard.charts import method_settings
from dashboard.charts.parts import noise
from dashboard.widgets import clicks, figures, run_drawer
from dashboard.widgets.provenance import provenance, runs_frame
from mucore.catalog import MethodCard


def show(card: MethodCard, runs: pd.DataFrame, every: pd.DataFrame) -> None:
    """What the runs of the method reached; `every` run is where their Retrains are."""
    values = data.metric_values(method=card.id)
    settings = frames.method_settings(
        runs, values, method=card.id, judged=data.judged(runs), noises=noises(every)
    )
    info = method_settings.method_settings_info(settings)
    grey = f" {noise.SAID}" if any(setting.noise for setting in settings) else ""
    st.caption(
        "Each line is one experiment, the dashed line is Retrain, and marks to the left of it in "
        f"the last panel are cheaper.{grey} Click a mark for its run."
    )
    figure = method_settings.draw(info, family=card.family, dark=state.dark())
    clicks.chart(figure, "method_settings", alt=method_settings.alt_text(info))
    figures.numbers(frames.settings_frame(settings), f"method-{card.id}", figure)
    with st.expander(f"All runs ({len(runs)})", icon=":material/list:"):
        newest = runs.sort_values("finished", ascending=False)
        clicks.runs_table(
            newest, runs_frame(newest).drop(columns="Method"), "method_runs", height=260
        )
    run_drawer.run_drawer(every)
    provenance(runs)


def noises(every: pd.DataFrame) -> frames.Noises:
    """Of the Retrains of every setting, once for all methods."""
    source = data.source()
    return _noises(every, source.name, source.change, data.chosen(every))


@st.cache_data(show_spinner=False, max_entries=4)
def _noises(_every: pd.DataFrame, name: str, change: int, chosen: str) -> frames.Noises:
    retrains = _every[(_every["method"] == "retrain") & _every["scenario"].notna()]
    return frames.noises_of(retrains, data.metric_values(method="retrain"))
