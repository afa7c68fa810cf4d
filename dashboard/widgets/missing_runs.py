"""What a selected run lacks, at one click: further training seeds where its verdict is only an
indication, and every other method in its setting.
"""

from __future__ import annotations

from collections.abc import Callable

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
    """The buttons below a verdict, or the links to where their runs wait; nothing for who may not
    start runs. Seeds are offered where a number of them is known to decide, the other methods
    beside a run of the reader's own.
    """
    if not access.presents() or data.own_store().artifacts.read_only:
        return
    verdict, name = judged.verdict, labels.method_names(judged.method)[0]
    if verdict is not None and (needed := verdict.needed):
        button(
            lambda: queue_data.plan_seeds(judged.keys, needed),
            "Run the missing seeds",
            "missing_seeds",
            "The method, Original and Retrain on further training seeds, into your own results; "
            "at the present spread the word can then be shown.",
            f"{name} · further seeds",
        )
    if not data.source().demo:
        button(
            lambda: queue_data.plan_rivals(judged.keys),
            "Run all other methods",
            "rivals",
            "Every method of the program on this data, model, forget set and these seeds, tuned "
            "where a search found settings.",
            f"{name} · against all",
        )


def button(make: Callable[[], Plan], label: str, key: str, told: str, name: str) -> None:
    """A button that queues what is missing of a plan, or the link to where that waits."""
    try:
        plan = make()
    except MucoreError as failure:  # its data or its method are no longer what they were
        st.caption(f":material/block: {failure}")
        return
    queued = queue_data.jobs(states=ACTIVE, keys=[spec.key for spec in plan.to_run])
    if queued:
        there = {"comparison": str(queued[0].comparison)}
        text = f"{units.count(len(queued), 'run')} in the queue"
        link("queue", text, icon=":material/list_alt:", **there)
    elif plan.to_run and st.button(
        f"{label} ({said(plan)})", key=key, icon=":material/play_arrow:", help=told
    ):
        launch(plan, data.own_store(), name=name)
        queue_data.start_workers()
        st.rerun()


def said(plan: Plan) -> str:
    """What is missing, and how long it takes: "3 seeds, 12 runs, 4 min"."""
    seeds = len({spec.training_seed for spec in plan.to_run})
    parts = [units.count(seeds, "seed"), units.count(len(plan.to_run), "run"), about(plan.time)]
    return ", ".join(parts)
