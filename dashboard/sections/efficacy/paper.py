"""What the paper found and printed, beside these results."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import state
from dashboard.frames import efficacy_paper
from dashboard.widgets import columns
from dashboard.widgets.markdown import escape


def show_findings(frame: pd.DataFrame, attack: str) -> None:
    st.subheader("What the paper found, and what these results show", anchor=False)
    icons = {True: ":material/check:", False: ":material/close:", None: ":material/remove:"}
    said = {True: "As in the paper", False: "Not borne out here", None: "Not settled here"}
    for finding in efficacy_paper.findings(frame, attack=attack):
        text = f"The paper: *{escape(finding.paper)}* Here: {escape(finding.sentence)}"
        head = finding.partly or said[finding.holds]
        st.markdown(f"{icons[finding.holds]} **{head}.** {text}")


def show_printed(frame: pd.DataFrame) -> None:
    if state.choice("paper", ["0", "1"]) != "1":
        return
    st.caption(
        "Becker & Liebig, Tables 1 and 2, in percent: the paper prints accuracies, and efficacies "
        "only as figures. Mean ± standard deviation over seeds, the paper's over 20. A line of one "
        "share stands beside the runs of that share here, a line of any share beside all of them; "
        "– where there are none. Another data set and model: compare the pattern, not the digits."
    )
    printed = efficacy_paper.paper_frame(frame)
    st.dataframe(printed, hide_index=True, column_config=columns.aligned(printed))
