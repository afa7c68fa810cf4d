"""What would decide a verdict that is only an indication: the runs on further training seeds, at
one click.
"""

from __future__ import annotations

import streamlit as st

from dashboard import access, data, queue_data
from dashboard.text import labels, units
from dashboard.widgets.links import link
from mucore.errors import MucoreError
from mucore.runner.estimate import about
from mucore.runner.plan import Plan, launch
from mucore.store.rows import ACTIVE
from mucore.verdicts import Judged


def offer(judged: Judged) -> None:
    """The button beside an indication, or the link to where its runs wait. Nothing where no number
    of seeds is known to decide, and for who may not start runs.
    """
    verdict, store = judged.verdict, data.own_store()
    if verdict is None or not verdict.needed or not access.presents() or store.artifacts.read_only:
        return
    try:
        plan = queue_data.plan_seeds(judged.keys, verdict.needed)
    except MucoreError as failure:  # its data or its method are no longer what they were
        st.caption(f":material/block: {failure}")
        return
    queued = queue_data.jobs(states=ACTIVE, keys=[spec.key for spec in plan.to_run])
    if queued:
        st.caption(f"{units.count(len(queued), 'run')} of the missing seeds are in the queue.")
        there = {"comparison": str(queued[0].comparison)}
        link("queue", "Watch the queue", icon=":material/list_alt:", **there)
    elif plan.to_run and st.button(
        f"Run the missing seeds ({said(plan)})",
        key="missing_seeds",
        icon=":material/play_arrow:",
        help="The method, Original and Retrain on further training seeds, into your own results; "
        "at the present spread the word can then be shown.",
    ):
        start(plan, judged.method)


def said(plan: Plan) -> str:
    """How many seeds and runs are missing, and how long they take: "3 seeds, 12 runs, 4 min"."""
    seeds = len({spec.training_seed for spec in plan.to_run})
    parts = [units.count(seeds, "seed"), units.count(len(plan.to_run), "run"), about(plan.time)]
    return ", ".join(parts)


def start(plan: Plan, method: str) -> None:
    name = f"{labels.method_names(method)[0]} · {len(plan.grid.training_seeds)} seeds"
    launch(plan, data.own_store(), name=name)
    queue_data.start_workers()
    st.rerun()
