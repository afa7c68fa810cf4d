"""Which runs stand behind a page: seeds, devices, dates, keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pandas as pd
import streamlit as st

from dashboard.text import labels, units
from dashboard.widgets import course, presenting
from dashboard.widgets.markdown import escape
from mucore import catalog, titles
from mucore.statistics.tables import machines

FACTS: Final = {
    "training_seed": "Training seeds",
    "unlearning_seed": "Unlearning seeds",
    "evaluation_seed": "Evaluation seeds",
    "device": "Device",
    "precision": "Precision",
    "forget_hash": "Forget sets",
}


def provenance(summaries: pd.DataFrame) -> None:
    """An expander that says which runs stand behind a page. A room is not shown it."""
    if presenting.on():
        return
    course.table("runs", "Runs behind this page", runs_frame(summaries))
    count = units.count(len(summaries), "run")
    if len(mixed := sorted(machines(summaries).unique())) > 1:
        st.caption(escape(f"Means mix runs on {' and on '.join(mixed)}."))
    with st.expander(f"Provenance: {count}", icon=":material/fingerprint:"):
        facts = {title: _distinct(summaries, column) for column, title in FACTS.items()}
        st.markdown("\n".join(f"- **{name}**: {escape(text)}" for name, text in facts.items()))
        st.dataframe(runs_frame(summaries), hide_index=True, height=240)


def _distinct(frame: pd.DataFrame, column: str) -> str:
    values = [units.plain(value) for value in sorted(frame[column].dropna().unique().tolist())]
    return units.shortened(values, 12) or "–"


def runs_frame(summaries: pd.DataFrame) -> pd.DataFrame:
    """Runs as a table for reading, the newest first."""
    newest = summaries.sort_values("finished", ascending=False)
    return pd.DataFrame(
        {
            "Finished": local_time(newest["finished"]),
            "Method": _said(newest["method"], lambda name: labels.method_names(name)[0]),
            "Scenario": _said(newest["scenario"], lambda name: catalog.scenario(name).title),
            "Data set": _said(newest["dataset"], titles.dataset),
            "Model": _said(newest["model"], titles.model),
            "Settings": _said(newest["method_preset"], labels.preset_title),
            "Training seed": newest["training_seed"],
            "Unlearning seed": newest["unlearning_seed"],
            "Evaluation seed": newest["evaluation_seed"],
            "Status": newest["status"],
            "Device": newest["device"],
            "Seconds": newest["seconds"].astype(float).round(1),
            "Key": newest["key"],
        }
    )


def _said(names: pd.Series, title: Callable[[str], str]) -> list[str]:
    """Each name as people read it; a training has no scenario. Thousands of rows hold a handful."""
    told = {
        name: title(name) if isinstance(name, str) else "training"
        for name in names.unique().tolist()
    }
    return [told[name] for name in names.tolist()]


def local_time(moments: pd.Series) -> pd.Series:
    """Stored UTC times in the reader's time zone, without zone."""
    return (
        pd.to_datetime(moments, utc=True)
        .dt.tz_convert(st.context.timezone or "UTC")
        .dt.tz_localize(None)
    )
