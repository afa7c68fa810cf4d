"""The view for a class room, with large type."""

from __future__ import annotations

import streamlit as st

from dashboard import assets, state

# Type for a class room; the colours stay those of the theme.
LARGE = assets.style("large_type.css")


def switch() -> None:
    before = state.param("teacher") == "1"
    help_text = (
        "Large type and figures for a projector; outcomes stay hidden until you press Reveal."
    )
    if state.toggle("Teacher view", "teacher", help=help_text) != before:
        st.rerun()  # what stands above was drawn for the other view


def address(lesson: str, step: int = 1) -> dict[str, str | list[str]]:
    values: dict[str, str | list[str]] = {"lesson": lesson, "step": str(step)}
    return values | ({"teacher": "1"} if state.param("teacher") == "1" else {})
