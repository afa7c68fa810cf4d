"""Launch: search settings for exactly what is chosen, where the tuned ones are of another task."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard import data, state
from dashboard.frames import searches
from dashboard.pages import BY_ID
from dashboard.text import labels, units
from dashboard.widgets import fields
from dashboard.widgets.markdown import escape
from mucore.errors import MucoreError
from mucore.runner.estimate import about
from mucore.runner.plan import parse_grid
from mucore.tuning import jobs
from mucore.tuning.plan import FOLDER, TRIALS, plan, studies_of, wish_of
from mucore.tuning.report import record
from mucore.tuning.study import PATIENCE

MOST = 500  # settings of a method


def offer(content: dict[str, Any]) -> None:
    """The search for a grid's scenarios and methods: what it comes to, its button, and what earlier
    ones found.
    """
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
        trials = fields.whole_number(
            "Settings of a method, at most",
            "trials",
            default=TRIALS,
            low=1,
            high=MOST,
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
            wish, left_out = wish_of(grid, trials=trials)
            planned = plan(wish, store, root)
        except MucoreError as failure:
            st.caption(f":material/block: {escape(labels.with_titles(str(failure), *known))}")
            return
        for reason in left_out:
            st.caption(f":material/block: {escape(labels.with_titles(reason, *known))}")
        if planned.trials or planned.aside:
            one = planned.done == 1
            had = (
                f" {units.count(planned.done, 'trial')} {'is' if one else 'are'} there already."
                if planned.done
                else ""
            )
            st.caption(
                f"{units.count(planned.references, 'training')} of originals and Retrains and at "
                f"most {units.count(planned.trials, 'trial')}: "
                f"{about(planned.time(jobs.processes(store)))}.{had} It continues when you leave "
                "this page, and never looks at test data."
            )
            if st.button("Search", key="start_search", icon=":material/manage_search:"):
                jobs.start(store, grid, wish)
                st.switch_page(BY_ID["queue"].file)
        else:
            st.caption("All of this has been searched, and “Tuned” uses what was found.")
        records = [record(task, study, wish.trials, root) for task, study in studies_of(wish, root)]
        if records:
            st.dataframe(searches.table(records), hide_index=True, key="searched")
            st.caption(searches.MEANING)
            for sentence in searches.cautions(records):
                st.caption(f":material/warning: {escape(sentence)}")
