"""What a paper found, and what appears here."""

from __future__ import annotations

import streamlit as st

from dashboard import papers
from dashboard.papers import Paper, Standing
from dashboard.text import labels
from dashboard.widgets.markdown import escape
from mucore import shipped

FIDELITY = shipped.ROOT / "docs" / "fidelity.md"


def show(paper: Paper) -> None:
    if not paper.findings:
        return
    st.subheader("What the paper found, and what appears here", anchor=False)
    standings = papers.fidelity(FIDELITY.read_text(encoding="utf-8")) if FIDELITY.is_file() else {}
    for name, sentence in paper.findings.items():
        with st.container(gap=None):
            st.markdown(f"**{name}** {escape(sentence)}")
            st.caption(escape(standing_text(standings.get(name))))
    st.caption(
        "Our side is from docs/fidelity.md in the program's folder, which says on which data, "
        "model and seeds it rests."
    )


def standing_text(found: Standing | None) -> str:
    if found is None:
        return "Here: docs/fidelity.md does not speak of it yet."
    return labels.with_titles(f"Here: {found.here}." + (f" Why: {found.why}." if found.why else ""))
