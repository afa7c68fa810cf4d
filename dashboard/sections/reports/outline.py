"""The parts of the report, and its title page."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from dashboard import report as evidence
from dashboard import state
from dashboard.widgets.markdown import escape


def pick_parts(outline: Mapping[str, str]) -> list[str]:
    """The parts of the report with what each will hold; those that would be empty cannot be chosen.
    Parameter: parts.
    """
    st.subheader("Outline", anchor=False)
    possible = [name for name in evidence.PARTS if outline.get(name)]
    named = state.choices("parts", possible, possible)
    chosen = []
    st.caption("What was asked, and what to read with care, is always in it.")
    for name, label in evidence.PARTS.items():
        if name not in possible:
            st.checkbox(
                f"{label} :gray[· nothing in this selection]",
                value=False,
                disabled=True,
                key=f"none:{name}",
            )
        elif state.tick(f"{label} :gray[· {escape(outline[name])}]", "parts", name, name in named):
            chosen.append(name)
    state.set_ticked("parts", chosen, possible)
    return chosen


def heading() -> tuple[str, str, str]:
    """Title (in the address), author and remark as typed, each of limited length."""
    st.subheader("Title page", anchor=False)
    name = state.text(
        "Title", "title", default=evidence.DEFAULT_TITLE, max_chars=evidence.MAX_TITLE
    )
    author = (
        st.text_input(
            "Author",
            max_chars=evidence.MAX_AUTHOR,
            key="report_author",
            placeholder="Your name, your group",
        )
        or ""
    )
    remark = (
        st.text_area(
            "Remark",
            max_chars=evidence.MAX_REMARK,
            key="report_remark",
            height=80,
            placeholder="Why the runs were made, what was decided",
        )
        or ""
    )
    return name, author, remark
