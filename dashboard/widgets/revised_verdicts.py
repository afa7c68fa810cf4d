"""Once for each home: what a new revision of the rule made of results that were there before."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import access, data
from dashboard.widgets.links import link
from mucore.files import write
from mucore.verdicts import VERDICT_REVISION, VERDICT_SINCE

FOLDER = "notices"


def notice(source: data.Source, runs: pd.DataFrame) -> None:
    """How many of the lines that forgot are shown to have, until the reader has seen it. Nothing on
    the demo, on results that no other revision judged, and for guests.
    """
    store = source.store
    mark = store.home / FOLDER / f"verdicts-{VERDICT_REVISION}"
    old = runs["finished"] < VERDICT_SINCE
    if source.demo or not access.presents() or store.artifacts.read_only or mark.exists():
        return
    lines = {line.keys: line.verdict for line in data.judged(runs).values()} if old.any() else {}
    forgot = [said for said in lines.values() if said is not None and said.word == "forgot"]
    if not forgot:
        return
    shown = sum(said.shown for said in forgot)
    with st.container(border=True, key="revised_verdicts"):
        st.markdown(
            f":material/info: Verdicts now say what was shown: of {len(forgot)} “forgot” here, "
            f"{shown} are shown and {len(forgot) - shown} are indicated."
        )
        with st.container(horizontal=True, gap="medium"):
            link("glossary", "What the verdicts mean", icon=":material/menu_book:", kind="verdict")
            if st.button("Got it", key="seen_verdicts", icon=":material/check:"):
                mark.parent.mkdir(parents=True, exist_ok=True)
                write(mark, b"")
                st.rerun()
