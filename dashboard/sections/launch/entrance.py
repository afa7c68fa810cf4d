"""Launch: the buttons by which the form leads to what a reader brings."""

from __future__ import annotations

import streamlit as st

from dashboard import state


def entrance(label: str, name: str, icon: str) -> None:
    """A button that opens a room."""
    st.button(
        label,
        key=f"enter_own:{name}",
        icon=f":material/{icon}:",
        type="tertiary",
        on_click=state.set_param,
        args=("own", name),
    )
