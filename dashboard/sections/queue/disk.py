"""How much lies on disk."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from dashboard import data
from dashboard.text import units
from dashboard.widgets.markdown import escape
from mucore.store import REMOVAL


def show(use: Mapping[str, int]) -> None:
    """How much lies in the home, and behind a click of what kind it is and what may be removed."""
    with st.popover(
        f"{units.size(sum(use.values()))} on disk", icon=":material/hard_drive:", width="stretch"
    ):
        st.caption(f"All of it is in {escape(str(data.own_store().home))}.")
        for kind, count in sorted(use.items(), key=lambda pair: -pair[1]):
            if count:
                st.markdown(f"**{kind}** {units.size(count)}  \n{REMOVAL[kind]}")
