"""Launch: search settings for exactly what is chosen, where the tuned ones are of another task."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard import data, state
from dashboard.pages import BY_ID
from dashboard.text import labels, units
from dashboard.widgets import fields
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape
from mucore.errors import MucoreError
from mucore.runner.estimate import about, available
from mucore.runner.grid import parse_grid
from mucore.tuning import jobs
from mucore.tuning.plan import FOLDER, TRIALS, plan, wish_of
from mucore.tuning.study import PATIENCE

MOST = 500  # settings of a method


def offer(content: dict[str, Any]) -> None:
    """The search for a grid's scenarios and methods: what it comes to, and its button."""
    if not content["scenarios"] or not content["methods"] or fields.problems():
        return
    if not state.toggle(
        "Search settings for these methods and this task",
        "search",
        help=(
            "Tries settings of each method under each scenario, by one rule for all, and keeps "
            "those that use up least of the verdict's margin on validation data. From then on "
            "“Tuned” uses them."
        ),
    ):
        return
    known = [each["id"] for each in content["methods"]]
    with st.container(border=True):
        trials = state.number(
            "Settings of a method, at most",
            "trials",
            default=TRIALS,
            min_value=1,
            max_value=MOST,
            help=(
                "The authors' is the first. Each is judged on three seeds, and a search ends when "
                f"{PATIENCE} in a row are no better than the best."
            ),
        )
        if fields.problems():
            return
        store = data.own_store()
        root = store.home / FOLDER
        try:
            grid = parse_grid(
                {**content, "methods": [{"id": each["id"]} for each in content["methods"]]}
            )
            wish, left_out = wish_of(grid, trials=int(trials))
            planned = plan(wish, store, root)
        except MucoreError as failure:
            st.caption(f":material/block: {escape(labels.with_titles(str(failure), *known))}")
            return
        for reason in left_out:
            st.caption(f":material/block: {escape(labels.with_titles(reason, *known))}")
        if not planned.trials:
            st.caption("All of this has been searched, and “Tuned” uses what was found.")
            link("method", "How settings were found", method=known[0])
            return
        parts = [
            units.count(planned.references, "training"),
            f"at most {units.count(planned.trials, 'trial')}",
            about(planned.time(jobs.processes(available(store)[0] == "cpu"))),
        ]
        if planned.done:
            parts.append(f"{planned.done} already done")
        st.caption(" · ".join(parts))
        if st.button("Search", key="start_search", icon=":material/manage_search:"):
            jobs.start(store, grid, wish)
            st.switch_page(BY_ID["queue"].file)
