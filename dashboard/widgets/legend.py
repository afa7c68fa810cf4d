"""A legend as text below a figure, which wraps where the window is narrow."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st


def show(entries: Sequence[tuple[str, str]]) -> None:
    """Colour and name of each."""
    dot = "display:inline-block;width:0.65rem;height:0.65rem;border-radius:50%;margin-right:0.45rem"
    said = "".join(
        f'<span style="white-space:nowrap"><i style="{dot};background:{color}"></i>'
        f"{escape(name)}</span>"
        for color, name in entries
    )
    st.html(
        f'<div style="display:flex;flex-wrap:wrap;gap:0.2rem 1.3rem;font-size:0.93rem">{said}</div>'
    )
