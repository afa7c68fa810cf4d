"""The verdict on a run as the headline of whatever shows that run."""

from __future__ import annotations

import streamlit as st

from dashboard.text import labels, verdicts
from dashboard.widgets import columns
from dashboard.widgets.markdown import escape
from mucore.verdicts import Judged


def verdict_line(judged: Judged) -> None:
    """Icon and word, the reason in a sentence, and the numbers that decided; nothing for Retrain,
    which is not judged.
    """
    verdict = judged.verdict
    if verdict is None:
        return
    with st.container(gap=None):
        st.markdown(f"#### {verdicts.label(verdict)}")
        st.markdown(escape(verdict.sentence))
    checks = verdicts.checks_frame(verdict)
    if checks.empty:
        return
    with st.expander("What the verdict rests on", icon=":material/balance:"):
        st.dataframe(checks, hide_index=True, column_config=columns.aligned(checks))
        distance = (
            ""
            if judged.distance is None
            else f" Distance to Retrain: {labels.number(judged.distance, 'percent')} points."
        )
        st.caption(verdicts.seeds_text(verdict) + distance)
